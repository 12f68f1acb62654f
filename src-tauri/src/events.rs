//! Backend events, handed to the page under their own names.

use std::sync::Arc;

use plimsoll_backend::EventSink;
use plimsoll_ipc::{AppEvent, ModelStatus};
use tauri::{AppHandle, Emitter as _};

use crate::window::MAIN;

/// A sink that sends every event to the main window.
pub(crate) fn sink(app: AppHandle) -> EventSink {
    Arc::new(move |event| {
        let name = event.name();
        log_status(&event);
        let sent = match event {
            AppEvent::Generation(payload) => app.emit_to(MAIN, name, payload),
            AppEvent::Memory(payload) => app.emit_to(MAIN, name, payload),
            AppEvent::ModelStatus(payload) => app.emit_to(MAIN, name, payload),
            AppEvent::Conversation(payload) => app.emit_to(MAIN, name, payload),
            AppEvent::Settings(payload) => app.emit_to(MAIN, name, payload),
        };
        if let Err(error) = sent {
            tracing::warn!(name, %error, "an event did not reach the page");
        }
    })
}

/// `cargo xtask run` waits for the first of these lines.
fn log_status(event: &AppEvent) {
    match event {
        AppEvent::ModelStatus(ModelStatus::Ready { model, load_ms, .. }) => {
            tracing::info!(model = model.id, load_ms, "ready to chat");
        }
        AppEvent::ModelStatus(ModelStatus::Failed { model, error }) => {
            tracing::warn!(model, %error, "the model cannot be loaded");
        }
        _ => {}
    }
}
