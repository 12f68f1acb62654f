use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_ipc::{AppEvent, DraftSave, ErrorCode, GenerationKind, MessageState, Role};
use tempfile::TempDir;

use crate::support::{SMOLLM2, World, text_of};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_streams_into_the_conversation() {
    let world = World::ready(|_| ()).await;
    let accepted = world.ask("What is the capital of France?", 32).await;
    let events = world.end_of(accepted.generation).await;
    let text = text_of(&events);
    assert!(text.contains("Paris"), "{text:?}");
    let GenerationKind::Started { prompt_tokens, cached_tokens } = events[0].kind else { panic!("{:?}", events[0]) };
    assert_eq!(cached_tokens, 0);
    assert!(prompt_tokens > 20, "the template's own words count");
    let Some(GenerationKind::Done { reason, stats }) = events.last().map(|event| &event.kind) else { panic!() };
    assert_eq!(*reason, MessageState::Done, "the model ends its turn");
    assert_eq!(stats.prompt_tokens, prompt_tokens);
    assert!(stats.output_tokens > 0 && stats.tokens_per_second > 0.0 && stats.first_token_ms > 0.0, "{stats:?}");
    assert!(stats.prefill_tokens_per_second > 0.0);

    let view = world.view().await;
    assert_eq!(view.generation, None);
    assert_eq!(view.title, "What is the capital of France?");
    let roles: Vec<Role> = view.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
    assert_eq!(view.messages[1].text, text);
    assert_eq!(view.messages[1].stats, Some(*stats));
    let snapshot = world.backend.generation_snapshot(accepted.generation).await.unwrap();
    assert_eq!((snapshot.text, snapshot.state), (text, MessageState::Done));
    assert_eq!(snapshot.seq, events.last().unwrap().seq);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_turn_computes_only_what_is_new() {
    let world = World::ready(|_| ()).await;
    let first = world.ask("What is the capital of France?", 24).await;
    let first = world.view().await.messages.iter().find(|m| m.id == first.answer_message).unwrap().stats.unwrap();
    let check = world.check("And of Italy?").await;
    assert!(check.cached_tokens >= first.prompt_tokens, "{check:?} after {first:?}");
    let second = world.ask("And of Italy?", 24).await;
    let events = world.end_of(second.generation).await;
    let GenerationKind::Started { prompt_tokens, cached_tokens } = events[0].kind else { panic!() };
    assert_eq!((prompt_tokens, cached_tokens), (check.prompt_tokens, check.cached_tokens), "the check told the truth");
    assert!(prompt_tokens - cached_tokens < 24, "the question and the template around it: {prompt_tokens}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_keeps_the_text() {
    let world = World::ready(|_| ()).await;
    let accepted = world.send("Write a long story about the sea.", |_| ()).await.unwrap();
    let busy = world.send("Another one.", |_| ()).await.unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy, "one answer at a time");
    assert_eq!(world.check("Another one.").await.refusal.unwrap().code, ErrorCode::Busy);
    world.wait_for(accepted.generation, |kind| matches!(kind, GenerationKind::Delta { .. })).await;
    world.backend.generation_stop(accepted.generation).await.unwrap();
    let events = world.end_of(accepted.generation).await;
    let Some(GenerationKind::Done { reason, .. }) = events.last().map(|event| &event.kind) else { panic!() };
    assert_eq!(*reason, MessageState::Stopped);
    let message = world.view().await.messages.pop().unwrap();
    assert_eq!((message.state, message.text), (MessageState::Stopped, text_of(&events)));
    assert!(!text_of(&events).is_empty());
    // Who hears of the end can send again at once.
    world.ask("Hello.", 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_limit_is_enforced_and_the_answer_can_be_continued() {
    let world = World::ready(|_| ()).await;
    let cut = world.ask("Count from one to twenty.", 6).await;
    let message = world.view().await.messages.pop().unwrap();
    assert_eq!(message.state, MessageState::Length);
    assert_eq!(message.stats.unwrap().output_tokens, 6);
    let more = world
        .send("", |request| {
            request.completion = true;
            request.output_tokens = Some(6);
        })
        .await
        .unwrap();
    world.end_of(more.generation).await;
    assert_eq!(more.user_message, cut.user_message);
    let continued = world.view().await.messages.pop().unwrap();
    assert!(continued.text.starts_with(&message.text) && continued.text.len() > message.text.len(), "{continued:?}");
    assert_eq!((continued.sibling, continued.siblings), (2, 2), "the shorter answer is kept beside it");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_and_regenerations_are_siblings() {
    let world = World::ready(|_| ()).await;
    let first = world.ask("Say hello.", 4).await;
    let again = world.send("", |request| {
        request.regenerate = Some(first.user_message);
        request.output_tokens = Some(4);
    });
    let again = again.await.unwrap();
    world.end_of(again.generation).await;
    assert_eq!(again.user_message, first.user_message);
    let answer = world.view().await.messages.pop().unwrap();
    assert_eq!((answer.id, answer.sibling, answer.siblings), (again.answer_message, 2, 2));
    let edit = world.send("Say goodbye.", |request| {
        request.edit = Some(first.user_message);
        request.output_tokens = Some(4);
    });
    let edit = edit.await.unwrap();
    world.end_of(edit.generation).await;
    let view = world.view().await;
    assert_eq!(view.messages.len(), 2);
    assert_eq!((view.messages[0].text.as_str(), view.messages[0].siblings), ("Say goodbye.", 2));
    let select = plimsoll_ipc::SelectSibling { conversation: view.id, message: view.messages[0].id, sibling: 1 };
    let view = world.backend.conversation_select_sibling(select).await.unwrap();
    assert_eq!(view.messages[0].text, "Say hello.");
    assert_eq!(view.messages[1].id, again.answer_message, "the branch that was last shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_panics_does_not_stop_the_answer() {
    let calls = AtomicUsize::new(0);
    let world = World::with_sink(TempDir::new().unwrap(), move |_, event| {
        if matches!(event, AppEvent::Generation(event) if matches!(event.kind, GenerationKind::Delta { .. })) {
            assert!(calls.fetch_add(1, Ordering::SeqCst) != 0, "the host's first delta goes wrong");
        }
    });
    world.load(SMOLLM2, |_| ()).await;
    let accepted = world.send("What is the capital of France?", |request| request.output_tokens = Some(16));
    let accepted = accepted.await.unwrap();
    let deadline = std::time::Instant::now() + Duration::from_mins(1);
    let snapshot = loop {
        let snapshot = world.backend.generation_snapshot(accepted.generation).await.unwrap();
        if snapshot.state != MessageState::Streaming {
            break snapshot;
        }
        assert!(std::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(snapshot.text.contains("Paris"), "the page asks for the whole after a gap: {snapshot:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_delta_reaches_the_host_soon_after_the_engine() {
    let world = World::ready(|_| ()).await;
    let accepted = world.ask("Say hello.", 4).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
    let events = world.end_of(accepted.generation).await;
    let first = events.iter().find_map(|event| match event.kind {
        GenerationKind::Delta { engine_ms, .. } => Some(engine_ms),
        _ => None,
    });
    let age = now - first.unwrap();
    assert!((0.0..60_000.0).contains(&age), "Unix milliseconds of the engine's first token: {age} ms ago");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_draft_survives_everything() {
    let world = World::ready(|_| ()).await;
    let conversation = world.view().await.id;
    let save = |conversation, text: &str| DraftSave { conversation, text: text.to_owned() };
    world.backend.draft_save(save(conversation, "half a thought")).await.unwrap();
    let refused = world.send("half a thought", |request| request.output_tokens = Some(1_000_000)).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::OutputLimitExceeded);
    assert_eq!(world.view().await.draft, "half a thought", "a refused Send takes nothing");
    let new = world.backend.conversation_new().await.unwrap();
    assert_eq!((new.draft.as_str(), new.messages.len()), ("half a thought", 0));
    assert!(new.id > conversation);
    let old = world.backend.draft_save(save(conversation, "late")).await.unwrap_err();
    assert_eq!(old.code, ErrorCode::NotFound, "the old conversation is gone");

    let World { home, backend, .. } = world;
    drop(backend);
    let world = World::in_folder(home);
    assert_eq!(world.view().await.draft, "half a thought", "the next start has it");
    world.load_again().await;
    world.ask("half a thought", 2).await;
    assert_eq!(world.view().await.draft, "", "what was sent has left the draft");
}

impl World {
    async fn load_again(&self) {
        self.backend.model_load_chosen().await.unwrap();
    }
}
