//! What the user is writing is never lost.

use std::time::Duration;

use serde_json::Value;

use crate::window::{Home, Window};

const DRAFT: &str = "A half-written thought — 半句话, with 👩‍👩‍👧 and é";

pub fn a_draft_survives_reload_and_restart() {
    let window = Window::open_ready(Home::with_smollm2());
    window.paste(DRAFT);
    window.wait_for("the draft to be saved", Duration::from_secs(5), || {
        (window.invoke("conversation_get", &Value::Null).unwrap()["draft"] == DRAFT).then_some(())
    });
    window.reload();
    window.wait_for_draft(DRAFT);
    // The driver ends the program without asking, as a crash does: what counts is what is on disk.
    window.wait_for("the draft to be on disk", Duration::from_secs(5), || {
        window.saved_draft().is_some_and(|draft| draft == DRAFT).then_some(())
    });
    let window = window.restart();
    window.wait_until_loaded();
    window.wait_for_draft(DRAFT);
    window.wait_until_can_send();
    window.assert_no_page_errors();
}
