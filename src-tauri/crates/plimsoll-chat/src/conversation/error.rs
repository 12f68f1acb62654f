//! What cannot be done to a conversation.

use super::message::{MessageId, Role};

/// A refused change; the conversation is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConversationError {
    /// There is no such message.
    #[error("there is no message {id}")]
    NoSuchMessage {
        /// Which.
        id: MessageId,
    },
    /// The message is not of the role that this needs.
    #[error("message {id} is not of role {wanted:?}")]
    WrongRole {
        /// Which.
        id: MessageId,
        /// The role that is needed.
        wanted: Role,
    },
    /// The message has fewer siblings.
    #[error("message {id} has {count} siblings, and number {wanted} is asked for")]
    NoSuchSibling {
        /// Which.
        id: MessageId,
        /// The number asked for, from 1.
        wanted: u32,
        /// How many there are, itself included.
        count: u32,
    },
    /// The message is complete: no text can be added.
    #[error("message {id} is complete")]
    Finished {
        /// Which.
        id: MessageId,
    },
    /// `Streaming` is not a way to end an answer.
    #[error("message {id} cannot end as streaming")]
    NotAnEnd {
        /// Which.
        id: MessageId,
    },
}
