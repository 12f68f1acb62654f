//! Asking and answering.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_tests::models;
use serde_json::{Value, json};

use crate::numbers;
use crate::window::{Home, Window};

const ANSWER: Duration = Duration::from_mins(2);

pub fn an_answer_streams_stops_and_is_followed_up() {
    let home = Home::with_smollm2();
    home.set(&json!({"outputTokens": 256}));
    let window = Window::open_ready(home);

    window.type_keys("composer", "What is the capital of France?");
    let count = numbers::all_in(&window.wait_for_count());
    window.click("send");
    assert_eq!(window.wait_for_answer(1, ANSWER), "done");
    assert!(window.text("message-assistant").contains("Paris"), "{}", window.text("message-assistant"));
    assert_eq!(window.draft(), "");
    let first = stats(&window, 1);
    assert_eq!(first["promptTokens"], count[0], "the composer counted what was sent");
    assert_eq!(first["cachedTokens"], 0);

    window.type_keys("composer", "Write a long story about a ship and its crew.");
    window.click("send");
    let mut lengths = BTreeSet::new();
    window.wait_for("the answer to grow before the eye", ANSWER, || {
        lengths.insert(window.text("message-assistant").chars().count());
        (window.attribute("message-assistant", "data-state")? == "streaming" && lengths.len() >= 4).then_some(())
    });
    window.click("stop");
    assert_eq!(window.wait_for_answer(2, Duration::from_secs(5)), "stopped");
    let stopped = window.text("message-assistant");
    assert!(stopped.chars().count() > 20, "the text so far is kept: {stopped:?}");

    let before = stats(&window, 2);
    window.type_keys("composer", "What is the name of the ship?");
    window.click("send");
    assert!(matches!(window.wait_for_answer(3, ANSWER).as_str(), "done" | "length"));
    let after = stats(&window, 3);
    let (prompt, cached) = (after["promptTokens"].as_u64().unwrap(), after["cachedTokens"].as_u64().unwrap());
    assert!(cached >= before["promptTokens"].as_u64().unwrap(), "the earlier turns were not computed again: {after}");
    assert!(prompt - cached < 48, "only the new turn was computed: {after}");

    window.click_selector("article.last [data-testid='statistics']");
    let shown = numbers::all_in(&window.text("statistics-table"));
    assert!(shown.contains(&cached) && shown.contains(&prompt), "{shown:?} shows {cached} and {prompt}");
    let meter = window.script(
        "const meter = document.querySelector('[role=meter]'); return meter.getAttribute('aria-valuetext') ?? '';",
        &json!([]),
    );
    assert!(numbers::all_in(meter.as_str().unwrap()).len() >= 3, "the gauge speaks in numbers: {meter}");
    window.assert_no_page_errors();
}

pub fn the_keyboard_alone_is_enough() {
    let home = Home::with_smollm2();
    home.set(&json!({"outputTokens": 512}));
    let window = Window::open_ready(home);
    window.ask("Write a long story about the sea.");
    window.wait_for("the answer to stream", ANSWER, || {
        let streaming = window.attribute("message-assistant", "data-state")? == "streaming";
        (streaming && window.text("message-assistant").chars().count() > 40).then_some(())
    });
    // Escape, as WebDriver spells it.
    window.type_keys("composer", "\u{e00c}");
    assert_eq!(window.wait_for_answer(1, Duration::from_secs(5)), "stopped");
    window.ask("What is 2 + 2?");
    assert!(matches!(window.wait_for_answer(2, ANSWER).as_str(), "done" | "length"));
    window.assert_no_page_errors();
}

pub fn a_base_model_continues_text() {
    let home = Home::with_model(&models::gemma3());
    home.set(&json!({"outputTokens": 24}));
    let window = Window::open_ready(home);
    assert!(window.has("base-banner"), "the page says that this is a base model");
    window.type_keys("composer", "The capital of France is");
    window.wait_until_can_send();
    window.click("send");
    assert_eq!(window.wait_for_answer(1, ANSWER), "length", "a base model goes on to the limit");
    let text = window.text("message-assistant");
    assert!(text.contains("city") || text.contains("Paris"), "{text}");
    assert_eq!(stats(&window, 1)["outputTokens"], 24);
    window.assert_no_page_errors();
}

pub fn an_answer_outlives_a_reload_of_the_page() {
    let home = Home::with_smollm2();
    home.set(&json!({"outputTokens": 300}));
    let window = Window::open_ready(home);
    window.ask("Write a long story about a lighthouse.");
    window.wait_for("the answer to stream", ANSWER, || {
        (window.text("message-assistant").chars().count() > 40).then_some(())
    });
    window.reload();
    assert_eq!(window.count("message-user"), 1);
    window.wait_for_answer(1, ANSWER);
    let whole = window.invoke("conversation_get", &Value::Null).unwrap();
    let text = whole["messages"][1]["text"].as_str().unwrap();
    let (start, end) = (first_words(text), last_words(text));
    let shown = window.text("message-assistant");
    assert!(shown.contains(&start) && shown.contains(&end), "{shown:?} holds {start:?} and {end:?}");
    window.assert_no_page_errors();
}

/// The numbers of the answer with this number, from 1.
fn stats(window: &Window, number: usize) -> Value {
    let view = window.invoke("conversation_get", &Value::Null).unwrap();
    let answers = view["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    answers.map(|message| message["stats"].clone()).nth(number - 1).unwrap()
}

fn first_words(text: &str) -> String {
    text.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}

fn last_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words[words.len().saturating_sub(3)..].join(" ")
}
