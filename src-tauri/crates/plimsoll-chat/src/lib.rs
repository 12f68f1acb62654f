//! Pure chat state: message tree, prompt assembly from templates, context ledger and remedies. No I/O, no async, no
//! clock.

#![forbid(unsafe_code)]

mod conversation;
mod ledger;
mod prompt;
mod template;
mod title;

pub use conversation::{
    Conversation, ConversationError, Message, MessageId, MessageState, Role, SiblingPosition, Turn,
};
pub use ledger::{Ledger, LedgerRequest, PlanEnlargement, PromptCounter, PromptVariant, Remedy, settle};
pub use prompt::{Piece, PromptTokenizer, RenderedPrompt};
pub use template::{
    ChatTemplate, ControlTokens, Limit, LocalTime, PromptMessage, PromptRole, RenderInput, TemplateError,
};
pub use title::{first_words, title};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests;
