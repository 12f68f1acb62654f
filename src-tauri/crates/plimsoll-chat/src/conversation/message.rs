//! A message of the tree.

use serde::{Deserialize, Serialize};

/// A message's id in its conversation: 1, 2, 3 ... in the order of adding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub u64);

impl MessageId {
    pub(super) fn at(position: usize) -> Self {
        Self(u64::try_from(position).unwrap_or(u64::MAX).saturating_add(1))
    }

    pub(super) fn position(self) -> Option<usize> {
        usize::try_from(self.0).ok()?.checked_sub(1)
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// How a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// Text is still coming.
    Streaming,
    /// Complete.
    Done,
    /// The user stopped it.
    Stopped,
    /// It reached the output limit.
    Length,
    /// It failed.
    Failed,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The message that it follows.
    pub parent: Option<MessageId>,
    /// Who speaks.
    pub role: Role,
    /// What.
    pub text: String,
    /// How it stands.
    pub state: MessageState,
    /// Left out of the prompt by the user's choice.
    pub dropped: bool,
}

/// Where a message stands among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiblingPosition {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are, itself included.
    pub count: u32,
}
