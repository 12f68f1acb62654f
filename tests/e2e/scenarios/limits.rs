//! Send is blocked before it can fail, in numbers, and every way out works.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::numbers;
use crate::window::{Home, Window};

const ANSWER: Duration = Duration::from_mins(2);
const CONTEXT: u64 = 512;
const OUTPUT: u64 = 256;
/// By how many tokens the draft is too long, at most; the earlier turns are longer.
const EXCESS: u64 = 30;

pub fn every_remedy_works() {
    let home = Home::with_smollm2();
    home.set(&json!({"outputTokens": OUTPUT}));
    let window = Window::open_ready(home);
    for (number, question) in (1..).zip(["What is the capital of France?", "What is the capital of Italy?"]) {
        window.ask(question);
        window.wait_for_answer(number, ANSWER);
    }
    set_context(&window, CONTEXT);
    let draft = draft_beyond_the_context(&window);
    window.paste(&draft);
    assert_blocked(&window, &draft);
    for remedy in ["shorten_answer", "drop_oldest_turns", "enlarge_context", "shorten_draft", "new_conversation"] {
        assert!(window.has(&format!("remedy-{remedy}")), "{remedy} is offered");
    }
    window.save_screenshot("blocked");

    drop_the_oldest_turns(&window, &draft);
    shorten_the_draft(&window, &draft);
    enlarge_the_context(&window, &draft);
    shorten_the_answer(&window, &draft);
    start_a_new_conversation(&window, &draft);
    window.assert_no_page_errors();
}

pub fn a_pasted_megabyte_is_counted_and_blocked() {
    let window = Window::open_ready(Home::with_smollm2());
    let sentence = "The quick brown fox jumps over the lazy dog, 12 times. 快速的狐狸。\n";
    let megabyte = sentence.repeat((1 << 20) / sentence.len() + 1);
    let pasted = Instant::now();
    window.paste(&megabyte);
    window.wait_for("the reason", Duration::from_mins(1), || window.has("block-reason").then_some(()));
    println!("1 MB pasted: blocked in numbers after {:?}", pasted.elapsed());
    window.wait_for_count();
    let check = check(&window, &megabyte);
    assert_eq!(check["allowed"], false);
    let shown = numbers::all_in(&window.text("token-count"));
    assert_eq!(shown[0], check["promptTokens"].as_u64().unwrap(), "counted exactly, however long");
    assert!(shown[0] > 100_000, "{shown:?}");
    assert!(!window.can_send());
    assert_eq!(window.draft().len(), megabyte.len(), "nothing of the draft is lost");

    window.clear_draft();
    window.ask("What is the capital of France?");
    window.wait_for_answer(1, ANSWER);
    assert!(window.text("message-assistant").contains("Paris"));
    window.assert_no_page_errors();
}

fn drop_the_oldest_turns(window: &Window, draft: &str) {
    let before = first_remedy(window, draft, "drop_oldest_turns");
    assert!(before["names"][0].as_str().unwrap().contains("France"), "the turns are named: {before}");
    window.click("remedy-drop_oldest_turns");
    window.wait_until_can_send();
    let left_out = before["messages"].as_array().unwrap().len() as u64;
    assert_eq!(window.count("take-back"), left_out, "what is left out stays in the transcript, marked");
    assert_eq!(window.draft(), draft);
    for _ in 0..left_out {
        window.click("take-back");
    }
    assert_blocked(window, draft);
}

fn shorten_the_draft(window: &Window, draft: &str) {
    let keep = first_remedy(window, draft, "shorten_draft")["keepUtf16"].as_u64().unwrap();
    window.click("remedy-shorten_draft");
    let selection = window.wait_for("the selection", Duration::from_secs(5), || {
        let body = "const box = document.querySelector('[data-testid=composer]');
            return [box.selectionStart, box.selectionEnd, box.value.length];";
        let selection = window.script(body, &json!([]));
        (selection[1] == selection[2] && selection[0] != selection[1]).then_some(selection)
    });
    assert_eq!(selection[0], keep, "what does not fit is selected");
    assert_eq!(window.draft(), draft, "nothing is deleted by the program");
    // Backspace, as WebDriver spells it.
    window.type_keys("composer", "\u{e003}");
    window.wait_until_can_send();
    assert_eq!(window.draft(), draft[..usize::try_from(keep).unwrap()]);
    window.clear_draft();
    window.paste(draft);
    assert_blocked(window, draft);
}

fn enlarge_the_context(window: &Window, draft: &str) {
    let wanted = first_remedy(window, draft, "enlarge_context")["contextTokens"].as_u64().unwrap();
    assert!(wanted > CONTEXT);
    window.click("remedy-enlarge_context");
    window.wait_until_can_send();
    assert_eq!(context(window), wanted);
    assert_eq!(window.draft(), draft);
    set_context(window, CONTEXT);
    assert_blocked(window, draft);
}

fn shorten_the_answer(window: &Window, draft: &str) {
    let limit = first_remedy(window, draft, "shorten_answer")["outputTokens"].as_u64().unwrap();
    assert!(limit < OUTPUT);
    window.click("remedy-shorten_answer");
    window.wait_until_can_send();
    assert_eq!(numbers::all_in(&window.wait_for_count())[1], limit);
    window.click_selector("[data-testid='output-override'] button");
    assert_blocked(window, draft);
    window.click("remedy-shorten_answer");
    window.wait_until_can_send();
    window.click("send");
    window.wait_for_answer(3, ANSWER);
    let view = window.invoke("conversation_get", &Value::Null).unwrap();
    let stats = &view["messages"].as_array().unwrap().last().unwrap()["stats"];
    assert!(stats["outputTokens"].as_u64().unwrap() <= limit, "the limit holds while decoding: {stats}");
    assert_eq!(window.draft(), "");
    window.paste(draft);
}

fn start_a_new_conversation(window: &Window, draft: &str) {
    window.wait_for("the reason", Duration::from_secs(10), || window.has("block-reason").then_some(()));
    window.click("remedy-new_conversation");
    window.wait_until_can_send();
    assert_eq!(window.count("message-user"), 0);
    assert_eq!(window.draft(), draft);
    window.click("send");
    window.wait_for_answer(1, ANSWER);
}

/// Send is blocked, and the words give the very numbers of the backend's own check.
fn assert_blocked(window: &Window, draft: &str) {
    window.wait_for("Send to be blocked", Duration::from_secs(10), || {
        (window.has("block-reason") && !window.can_send()).then_some(())
    });
    window.wait_for_count();
    let check = check(window, draft);
    let number = |name: &str| check["refusal"]["numbers"][name].as_u64().unwrap_or_else(|| panic!("{name} in {check}"));
    let (prompt, output, context, excess) = (number("prompt"), number("output"), number("context"), number("excess"));
    assert_eq!((output, context), (OUTPUT, CONTEXT));
    assert_eq!(prompt, check["promptTokens"].as_u64().unwrap());
    assert_eq!(prompt + output, context + excess);
    assert_eq!(window.attribute("block-reason", "data-code").as_deref(), Some("context_exceeded"));
    let mut shown = numbers::all_in(&window.text("block-reason"));
    let mut expected = [prompt, output, context, excess];
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected, "{}", window.text("block-reason"));
    assert_eq!(window.draft(), draft, "the draft is never lost");
}

/// Words until the prompt is a little too long for the context with the answer, but fits with a shorter answer.
fn draft_beyond_the_context(window: &Window) -> String {
    let mut draft = String::from("Please tell me what these words have in common:");
    let earlier =
        check(window, "x")["promptTokens"].as_u64().unwrap() - check(window, "")["promptTokens"].as_u64().unwrap_or(0);
    assert!(earlier > 0, "a draft costs tokens");
    while check(window, &draft)["promptTokens"].as_u64().unwrap() + OUTPUT < CONTEXT + EXCESS - 10 {
        draft.push_str(" ship harbour cargo load line water");
    }
    draft
}

fn check(window: &Window, draft: &str) -> Value {
    let conversation = window.invoke("conversation_get", &Value::Null).unwrap()["id"].clone();
    let request = json!({"conversation": conversation, "draft": draft, "outputTokens": null, "request": 0});
    window.invoke("prompt_check", &request).unwrap()
}

fn first_remedy(window: &Window, draft: &str, kind: &str) -> Value {
    let check = check(window, draft);
    let remedies = check["remedies"].as_array().unwrap();
    remedies.iter().find(|remedy| remedy["kind"] == kind).unwrap_or_else(|| panic!("{kind} in {check}")).clone()
}

/// Changes the context limit in the settings panel.
fn set_context(window: &Window, tokens: u64) {
    window.click("settings-open");
    window.wait_for("the priced choices", Duration::from_secs(10), || {
        let body = "return !!document.querySelector(`[data-testid='context-select'] option[value='${arguments[0]}']`);";
        (window.script(body, &json!([tokens.to_string()])) == true).then_some(())
    });
    window.select("context-select", &tokens.to_string());
    window.click("settings-apply");
    window.wait_for("the settings to apply", Duration::from_secs(30), || {
        (!window.has("settings") && context(window) == tokens).then_some(())
    });
}

/// Context in tokens of the plan in force; 0 while none is.
fn context(window: &Window) -> u64 {
    let status = window.invoke("model_status", &Value::Null).unwrap();
    status["plan"]["contextTokens"].as_u64().unwrap_or(0)
}
