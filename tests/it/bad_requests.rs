//! Requests that cannot be met: refused in numbers, nothing lost, the next request works.

use std::time::{Duration, Instant};

use plimsoll_ipc::{AppEvent, DraftSave, ErrorCode, MessageState, ModelStatus, Settings};
use plimsoll_plan::Bytes;
use plimsoll_tests::tiny::{Tiny, Value};

use crate::desk::{CONTEXT, Desk, OUTPUT, assert_error, number};

#[test]
fn a_model_larger_than_the_budget() {
    let desk = Desk::ready();
    // A few MiB above the headroom: less than the model's slab.
    desk.put(
        "large",
        &Tiny { embedding: 512, head_dim: 64, heads: 8, feed_forward: 2048, layers: 8, ..Tiny::llama() }.file(),
    );
    desk.probe.set_available(Some(Bytes((512 << 20) + (4 << 20))));
    let error = desk.load("large").expect_err("it does not fit");
    assert_error(&error, ErrorCode::PlanDoesNotFit, "");
    assert!(number(&error, "needed") > number(&error, "budget"), "{error:?}");
    assert_eq!(number(&error, "largestContext"), 0, "no context makes it fit");
    assert!(desk.is_ready("good"), "the loaded model stays");
    desk.still_answers();
    desk.probe.set_available(Some(Bytes(6 << 30)));
    desk.load("large").expect("with memory free it loads");
    desk.still_answers();
}

#[test]
fn a_context_above_the_trained_one() {
    let desk = Desk::ready();
    let settings = desk.run(desk.backend.settings_get()).unwrap();
    let wanted = Settings { context_tokens: 4096, ..settings.clone() };
    let error = desk.run(desk.backend.settings_apply(wanted)).expect_err("trained for 1024");
    assert_error(&error, ErrorCode::ContextAboveTrained, "");
    assert_eq!((number(&error, "wanted"), number(&error, "trained")), (4096, 1024));
    assert_eq!(desk.run(desk.backend.settings_get()).unwrap(), settings, "nothing was applied");
    assert!(desk.is_ready("good"));
    desk.still_answers();
}

#[test]
fn settings_out_of_range() {
    let desk = Desk::ready();
    let settings = desk.run(desk.backend.settings_get()).unwrap();
    let cases: [(&str, Settings); 5] = [
        ("contextTokens", Settings { context_tokens: 0, ..settings.clone() }),
        ("outputTokens", Settings { output_tokens: 0, ..settings.clone() }),
        ("memoryFraction", Settings { memory_fraction: 1.5, ..settings.clone() }),
        ("temperature", Settings { temperature: f64::NAN, ..settings.clone() }),
        ("theme", Settings { theme: "plaid".to_owned(), ..settings.clone() }),
    ];
    for (name, wrong) in cases {
        let error = desk.run(desk.backend.settings_apply(wrong)).expect_err(name);
        assert_error(&error, ErrorCode::BadSetting, name);
        assert_eq!(desk.run(desk.backend.settings_get()).unwrap(), settings, "{name}: nothing was applied");
    }
    desk.still_answers();
}

#[test]
fn an_empty_prompt() {
    let desk = Desk::ready();
    for text in ["", " ", "\n\t "] {
        assert_error(&desk.refusal(text), ErrorCode::EmptyPrompt, "");
        let check = desk.check(text);
        assert!(!check.allowed, "{text:?}");
        assert_eq!(check.refusal.expect("a reason").code, ErrorCode::EmptyPrompt);
    }
    desk.still_answers();
}

#[test]
fn a_base_model_says_so_and_completes() {
    let desk = Desk::new();
    desk.put("base", &Tiny::gemma3().file());
    desk.load("base").unwrap();
    assert!(!desk.entry("base").chat, "the list says that it does not chat");
    assert_error(&desk.refusal("Hello"), ErrorCode::NoTemplate, "tiny gemma3");
    assert_eq!(desk.check("Hello").refusal.expect("a reason").code, ErrorCode::NoTemplate);
    let generation = desk.send("Once upon a time", Some(8), true).expect("plain completion");
    let snapshot = desk.wait(generation);
    assert!(matches!(snapshot.state, MessageState::Done | MessageState::Length), "{snapshot:?}");
    // BOS and the text as it stands: no template's words around it.
    assert!(snapshot.stats.prompt_tokens <= 1 + 16, "{snapshot:?}");
}

#[test]
fn a_template_that_does_not_compile_or_end() {
    let desk = Desk::ready();
    let file = Tiny::llama().file();
    for (what, template) in [
        ("syntax", "{% for message in messages %}{{ message["),
        ("raises", "{{ raise_exception('no') }}"),
        ("endless", "{% for i in range(10000) %}{% for j in range(10000) %}{{ i * j }}{% endfor %}{% endfor %}"),
        ("huge", "{% for i in range(10000) %}{{ 'x' * 100000 }}{% endfor %}"),
    ] {
        desk.put("odd", &file.clone().with("tokenizer.chat_template", Value::Text(template.to_owned())));
        desk.load("odd").unwrap_or_else(|error| panic!("{what}: it can still continue text: {error:?}"));
        let start = Instant::now();
        assert_error(&desk.refusal("Hello"), ErrorCode::BadTemplate, "");
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: {:?}", start.elapsed());
        let generation = desk.send("Hello", Some(4), true).expect("plain completion");
        desk.wait(generation);
        desk.load("good").unwrap();
        desk.still_answers();
    }
}

#[test]
fn a_megabyte_in_the_composer() {
    let desk = Desk::ready();
    let draft = "All work and no play makes Jack a dull boy. ".repeat(24_000);
    assert!(draft.len() > 1 << 20);
    let conversation = desk.run(desk.backend.conversation_get()).unwrap().id;
    desk.run(desk.backend.draft_save(DraftSave { conversation, text: draft.clone() })).unwrap();

    let start = Instant::now();
    let check = desk.check(&draft);
    assert!(start.elapsed() < Duration::from_secs(10), "counted in {:?}", start.elapsed());
    assert!(!check.allowed);
    let error = check.refusal.expect("a reason");
    assert_error(&error, ErrorCode::ContextExceeded, "");
    assert_eq!(number(&error, "context"), u64::from(CONTEXT));
    assert_eq!(number(&error, "prompt"), u64::from(check.prompt_tokens));
    let excess = u64::from(check.prompt_tokens) + u64::from(check.output_tokens) - u64::from(CONTEXT);
    assert_eq!(number(&error, "excess"), excess);
    assert!(!check.remedies.is_empty(), "there is a way out");

    assert_error(&desk.refusal(&draft), ErrorCode::ContextExceeded, "");
    assert_eq!(desk.run(desk.backend.conversation_get()).unwrap().draft, draft, "the draft is not lost");
    desk.still_answers();
}

#[test]
fn more_output_than_the_limit() {
    let desk = Desk::ready();
    let error = desk.send("Hello", Some(OUTPUT + 1), false).expect_err("one token too many");
    assert_error(&error, ErrorCode::OutputLimitExceeded, "");
    assert_eq!((number(&error, "wanted"), number(&error, "limit")), (u64::from(OUTPUT) + 1, u64::from(OUTPUT)));
    desk.still_answers();
}

#[test]
fn nothing_is_loaded() {
    let desk = Desk::new();
    assert_error(&desk.refusal("Hello"), ErrorCode::NoModel, "");
    assert_eq!(desk.check("Hello").refusal.expect("a reason").code, ErrorCode::NoModel);
    assert_error(&desk.load("nobody").expect_err("no such model"), ErrorCode::NotFound, "nobody");
    assert_error(&desk.run(desk.backend.generation_stop(99)).expect_err("no such answer"), ErrorCode::NotFound, "99");
}

#[test]
fn one_answer_at_a_time_and_stop_keeps_the_text() {
    let desk = Desk::slow();
    let running = desk.send("Tell me everything", Some(OUTPUT), false).unwrap();
    assert_error(&desk.refusal("And this?"), ErrorCode::Busy, "");
    desk.run(desk.backend.generation_stop(running)).unwrap();
    let snapshot = desk.wait(running);
    assert!(matches!(snapshot.state, MessageState::Stopped | MessageState::Done), "{snapshot:?}");
    let view = desk.run(desk.backend.conversation_get()).unwrap();
    let kept = view.messages.iter().find(|message| message.id == snapshot.message).expect("the answer is kept");
    assert_eq!(kept.text, snapshot.text);
    desk.run(desk.backend.conversation_new()).unwrap();
    desk.still_answers();
}

/// The stream is whole: numbered without gaps, and its pieces are the snapshot's text.
#[test]
fn events_are_numbered_and_add_up() {
    use plimsoll_ipc::GenerationKind;
    let desk = Desk::ready();
    let generation = desk.send("Hello there", Some(48), false).unwrap();
    let snapshot = desk.wait(generation);
    let (mut text, mut next, mut done) = (String::new(), 0, 0);
    for event in desk.events() {
        let AppEvent::Generation(event) = event else { continue };
        assert_eq!(event.generation, generation);
        assert_eq!(event.seq, next, "no gap");
        next += 1;
        match event.kind {
            GenerationKind::Delta { text: piece, .. } => text.push_str(&piece),
            GenerationKind::Done { .. } => done += 1,
            GenerationKind::Failed { error } => panic!("{error}"),
            _ => {}
        }
    }
    assert_eq!(text, snapshot.text);
    assert_eq!(done, 1, "the answer ends once");
    assert_eq!(snapshot.seq + 1, next, "the snapshot contains every event");
}

#[test]
fn the_window_closes_while_an_answer_is_written() {
    let desk = Desk::slow();
    desk.send("Tell me everything", Some(OUTPUT), false).unwrap();
    let start = Instant::now();
    let folder = desk.close();
    assert!(start.elapsed() < Duration::from_secs(5), "closed in {:?}", start.elapsed());
    // The next start finds sound settings and the same model.
    drop(folder);
}

#[test]
fn unloading_gives_the_memory_back() {
    let desk = Desk::ready();
    assert_eq!(desk.run(desk.backend.model_unload()).unwrap(), ModelStatus::Empty);
    assert_error(&desk.refusal("Hello"), ErrorCode::NoModel, "");
    let status = desk.run(desk.backend.model_load("good".to_owned())).unwrap();
    assert!(matches!(status, ModelStatus::Ready { .. }), "{status:?}");
    desk.still_answers();
}
