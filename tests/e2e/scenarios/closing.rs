//! The close button.

use std::time::Duration;

use serde_json::json;

use crate::window::{Home, Window};

/// The promise is two seconds, whatever runs; a busy machine and a second press get more.
const AT_MOST: Duration = Duration::from_secs(10);

pub fn closing_while_an_answer_runs() {
    let home = Home::with_smollm2();
    home.set(&json!({"outputTokens": 2048}));
    let window = Window::open_ready(home);
    window.ask("Write a very long story about the sea.");
    window.wait_for("the answer to stream", Duration::from_mins(2), || {
        (window.text("message-assistant").chars().count() > 40).then_some(())
    });
    let lived_on = window.close(AT_MOST);
    println!("closed while generating: the process lived on for {lived_on:?}");
}
