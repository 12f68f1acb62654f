//! What the page measures of itself while an answer streams: `window.__plimsoll`, in milliseconds.
//!
//! The aims are 50 ms for both. The numbers are printed; the tests fail only at what no busy machine explains, since a
//! test that depends on who else computes says nothing.

use std::time::Duration;

use plimsoll_tests::models;
use serde_json::{Value, json};

use crate::window::{Home, Window};

/// From the engine's first token to the frame that shows it.
const FIRST_TOKEN_MS: f64 = 250.0;
/// Longest time between two frames while an answer streams.
const FRAME_GAP_MS: f64 = 1000.0;

pub fn the_first_token_is_on_the_screen_at_once() {
    let window = Window::open_ready(Home::with_smollm2());
    let mut delays = Vec::new();
    let questions =
        ["What is the capital of France?", "And of Italy?", "And of Spain?", "And of Japan?", "And of Peru?"];
    for (number, question) in (1..).zip(questions) {
        window.ask(question);
        window.wait_for_answer(number, Duration::from_mins(2));
        // Written in the frame after the answer's first words.
        delays.push(
            window.wait_for("the first frame", Duration::from_secs(10), || {
                measured(&window)["firstDeltaDelayMs"].as_f64()
            }),
        );
    }
    println!("engine's first token to its frame, ms: {delays:?}");
    delays.sort_by(f64::total_cmp);
    assert!(delays[delays.len() / 2] < FIRST_TOKEN_MS, "{delays:?}");
}

pub fn two_thousand_tokens_stream_without_a_stutter() {
    // A base model goes on to the limit.
    let home = Home::with_model(&models::gemma3());
    home.set(&json!({"outputTokens": 2048, "contextTokens": 4096, "temperature": 0.0}));
    let window = Window::open_ready(home);
    window.ask("The following is the complete text of the novel. Chapter 1.");
    window.wait_for_answer(1, Duration::from_mins(5));
    let view = window.invoke("conversation_get", &Value::Null).unwrap();
    let tokens = view["messages"][1]["stats"]["outputTokens"].as_u64().unwrap();
    assert!(tokens >= 2000, "{tokens} tokens are too few to judge by");
    let measured = measured(&window);
    println!("{tokens} tokens: {measured}, {}", view["messages"][1]["stats"]);
    assert!(measured["maxFrameGapMs"].as_f64().unwrap() < FRAME_GAP_MS, "{measured}");
    window.assert_no_page_errors();
}

fn measured(window: &Window) -> Value {
    window.script("return window.__plimsoll;", &json!([]))
}
