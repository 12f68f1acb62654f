//! Events from the backend to the page.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::conversation::ConversationView;
use crate::generation::GenerationEvent;
use crate::memory::MemoryGauge;
use crate::models::ModelStatus;
use crate::settings::Settings;

/// An event; `name()` is the Tauri event's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "event", content = "payload", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "made a few times a second at most, then serialised at once")]
pub enum AppEvent {
    /// A part of an answer.
    Generation(GenerationEvent),
    /// The gauge moved (at most 4 per second).
    Memory(MemoryGauge),
    /// The model's load state changed.
    ModelStatus(ModelStatus),
    /// The conversation changed other than by streaming.
    Conversation(ConversationView),
    /// The settings changed.
    Settings(Settings),
}

impl AppEvent {
    /// The Tauri event's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Generation(_) => "generation",
            Self::Memory(_) => "memory",
            Self::ModelStatus(_) => "model_status",
            Self::Conversation(_) => "conversation",
            Self::Settings(_) => "settings",
        }
    }
}
