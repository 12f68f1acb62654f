//! Files that are no usable models.

use std::fs;
use std::time::Duration;

use plimsoll_tests::models;
use serde_json::{Value, json};

use crate::window::{Home, Window};

pub fn bad_files_say_what_is_wrong() {
    let home = Home::with_smollm2();
    let whole = fs::read(models::smollm2()).unwrap();
    home.add_file("text.gguf", b"This is a text, not a model.");
    home.add_file("half.gguf", &whole[..whole.len() / 2]);
    home.add_file("header.gguf", &whole[..64]);
    home.set(&json!({"model": "half"}));
    let window = Window::open(home);

    window.wait_for("the refusal of the chosen file", Duration::from_secs(20), || {
        let status = window.invoke("model_status", &Value::Null).ok()?;
        (status["state"] == "failed" && status["error"]["code"] == "truncated").then_some(())
    });
    window.wait_for("the list", Duration::from_secs(10), || window.has("model-list").then_some(()));
    assert!(window.text("error").contains("ends before"), "{}", window.text("error"));
    let list = window.text("model-list");
    assert!(list.contains("not a GGUF file"), "{list}");
    assert!(list.contains("ends before") && list.contains("tensor count"), "{list}");
    assert!(!list.contains("trained to 0"), "nothing is said of what could not be read: {list}");
    window.save_screenshot("bad-files");

    window.click("model-load");
    window.wait_until_loaded();
    window.ask("What is the capital of France?");
    window.wait_for_answer(1, Duration::from_mins(2));
    assert!(window.text("message-assistant").contains("Paris"));
    window.assert_no_page_errors();
}
