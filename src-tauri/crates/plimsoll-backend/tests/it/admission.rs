use std::time::{Duration, Instant};

use plimsoll_ipc::{DropMessages, ErrorCode, PromptCheck, Remedy, Settings};

use crate::support::World;

/// A conversation that nearly fills a context of 512 tokens, and a draft that no longer fits.
async fn full() -> (World, &'static str) {
    let world = World::ready(|settings| {
        settings.context_tokens = 512;
        settings.output_tokens = 128;
    })
    .await;
    let filler = "The sea was calm and the ship lay low in the water. ".repeat(12);
    for number in 1..=2 {
        world.ask(&format!("Story {number}. {filler}"), 16).await;
    }
    (world, "Please tell me what a load line is and why a ship has one, in a few sentences.")
}

fn refused(check: &PromptCheck) -> &Remedy {
    assert!(!check.allowed);
    let refusal = check.refusal.as_ref().unwrap();
    assert_eq!(refusal.code, ErrorCode::ContextExceeded);
    let excess = u64::from(check.prompt_tokens + check.output_tokens - check.context_tokens);
    assert_eq!(refusal.numbers["excess"], excess, "{refusal:?}");
    assert_eq!(refusal.numbers["prompt"], u64::from(check.prompt_tokens));
    check.remedies.first().unwrap()
}

fn find<T>(check: &PromptCheck, pick: impl Fn(&Remedy) -> Option<T>) -> T {
    check.remedies.iter().find_map(pick).unwrap_or_else(|| panic!("not offered: {:?}", check.remedies))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shorter_answer_makes_send_pass() {
    let (world, draft) = full().await;
    let check = world.check(draft).await;
    refused(&check);
    assert_eq!(world.backend.memory_gauge().await.unwrap().state, "blocked");
    let sent = world.send(draft, |_| ()).await.unwrap_err();
    assert_eq!(Some(&sent), check.refusal.as_ref(), "Send refuses as the check said");
    assert_eq!(world.view().await.messages.len(), 4, "and changes nothing");
    let (output, gain) = find(&check, |remedy| match remedy {
        Remedy::ShortenAnswer { output_tokens, gain_tokens } => Some((*output_tokens, *gain_tokens)),
        _ => None,
    });
    assert_eq!(gain, check.output_tokens - output);
    assert!(world.check_with(draft, Some(output)).await.allowed);
    assert!(!world.check_with(draft, Some(output + 1)).await.allowed, "it is the longest that fits");
    let accepted = world.send(draft, |request| request.output_tokens = Some(output)).await.unwrap();
    world.end_of(accepted.generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_oldest_turns_makes_send_pass() {
    let (world, draft) = full().await;
    let check = world.check(draft).await;
    let (messages, names, gain) = find(&check, |remedy| match remedy {
        Remedy::DropOldestTurns { messages, names, gain_tokens } => {
            Some((messages.clone(), names.clone(), *gain_tokens))
        }
        _ => None,
    });
    assert!(names[0].starts_with("Story 1."), "{names:?}");
    let conversation = world.view().await.id;
    let view = world.backend.conversation_drop_messages(DropMessages { conversation, messages, dropped: true });
    let view = view.await.unwrap();
    assert!(view.messages[0].dropped && view.messages.len() == 4, "dropped turns stay in the transcript");
    let after = world.check(draft).await;
    assert!(after.allowed, "{after:?}");
    assert_eq!(after.prompt_tokens, check.prompt_tokens - gain, "the gain is exact");
    let accepted = world.send(draft, |_| ()).await.unwrap();
    world.end_of(accepted.generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_larger_context_makes_send_pass() {
    let (world, draft) = full().await;
    let check = world.check(draft).await;
    let (context, cost) = find(&check, |remedy| match remedy {
        Remedy::EnlargeContext { context_tokens, cost_bytes } => Some((*context_tokens, *cost_bytes)),
        _ => None,
    });
    let before = world.backend.settings_get().await.unwrap();
    let preview = world.backend.settings_preview(Settings { context_tokens: context, ..before.clone() }).await.unwrap();
    assert_eq!(preview.delta_bytes, i64::try_from(cost).unwrap(), "remedy and panel name one price");
    assert!(preview.needs_reload);
    world.backend.settings_apply(Settings { context_tokens: context, ..before }).await.unwrap();
    assert!(world.check(draft).await.allowed);
    let accepted = world.send(draft, |_| ()).await.unwrap();
    world.end_of(accepted.generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_conversation_makes_send_pass() {
    let (world, draft) = full().await;
    let check = world.check(draft).await;
    let gain = find(&check, |remedy| match remedy {
        Remedy::NewConversation { gain_tokens } => Some(*gain_tokens),
        _ => None,
    });
    world.backend.conversation_new().await.unwrap();
    let after = world.check(draft).await;
    assert!(after.allowed);
    assert_eq!(after.prompt_tokens, check.prompt_tokens - gain);
    let accepted = world.send(draft, |_| ()).await.unwrap();
    world.end_of(accepted.generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shorter_draft_makes_send_pass() {
    let world = World::ready(|settings| {
        settings.context_tokens = 512;
        settings.output_tokens = 128;
    })
    .await;
    let draft = "⚓ Plimsoll marked the ship's side. ".repeat(100);
    let check = world.check(&draft).await;
    let (keep, excess) = find(&check, |remedy| match remedy {
        Remedy::ShortenDraft { keep_utf16, excess_tokens } => Some((*keep_utf16, *excess_tokens)),
        _ => None,
    });
    assert_eq!(excess, check.prompt_tokens + check.output_tokens - check.context_tokens);
    let units: Vec<u16> = draft.encode_utf16().take(usize::try_from(keep).unwrap()).collect();
    let kept = String::from_utf16(&units).expect("the cut is between characters");
    assert!(world.check(&kept).await.allowed);
    let accepted = world.send(&kept, |request| request.output_tokens = Some(4)).await.unwrap();
    world.end_of(accepted.generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_above_the_limit_is_refused_and_the_limit_passes() {
    let world = World::ready(|settings| settings.output_tokens = 64).await;
    let check = world.check_with("Hello.", Some(65)).await;
    let refusal = check.refusal.as_ref().unwrap();
    assert_eq!(refusal.code, ErrorCode::OutputLimitExceeded);
    assert_eq!((refusal.numbers["wanted"], refusal.numbers["limit"]), (65, 64));
    assert_eq!(check.remedies, [Remedy::ShortenAnswer { output_tokens: 64, gain_tokens: 1 }]);
    assert!(world.check_with("Hello.", Some(64)).await.allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_send_and_no_model_are_said() {
    let world = World::new();
    assert_eq!(world.check("Hello.").await.refusal.unwrap().code, ErrorCode::NoModel);
    assert_eq!(world.send("Hello.", |_| ()).await.unwrap_err().code, ErrorCode::NoModel);
    let world = World::ready(|_| ()).await;
    assert_eq!(world.check(" \n").await.refusal.unwrap().code, ErrorCode::EmptyPrompt);
    assert_eq!(world.send(" \n", |_| ()).await.unwrap_err().code, ErrorCode::EmptyPrompt);
    let gauge = world.backend.memory_gauge().await.unwrap();
    assert_eq!((gauge.state.as_str(), gauge.kv_reserved_tokens), ("ok", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_megabyte_in_the_composer_is_counted_soon() {
    let world = World::ready(|_| ()).await;
    let word = "Samuel Plimsoll fought for the load line, which saved sailors' lives. ";
    let draft = word.repeat((1 << 20) / word.len());
    let begin = Instant::now();
    let check = world.check(&draft).await;
    let first = begin.elapsed();
    assert!(check.prompt_tokens > 100_000, "{}", check.prompt_tokens);
    assert_eq!(check.refusal.as_ref().unwrap().code, ErrorCode::ContextExceeded);
    // A free machine takes half a second; the bound leaves room for a busy one.
    assert!(first < Duration::from_secs(5), "{first:?}");
}
