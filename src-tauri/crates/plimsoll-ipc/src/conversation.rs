//! A conversation as the page renders it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// Still streaming.
    Streaming,
    /// Complete.
    Done,
    /// The user stopped it; the text is kept.
    Stopped,
    /// The answer reached the output limit.
    Length,
    /// It failed; the text so far is kept.
    Failed,
}

/// Per-message numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageStats {
    /// Tokens of the rendered prompt.
    pub prompt_tokens: u32,
    /// Of those, tokens that were in the KV cache already and were not computed again.
    pub cached_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
    /// From Send to the first token.
    pub first_token_ms: f64,
    /// Decode speed.
    pub tokens_per_second: f64,
    /// Prefill speed over the tokens that were computed.
    pub prefill_tokens_per_second: f64,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Id in the conversation.
    pub id: u64,
    /// The message it answers.
    pub parent: Option<u64>,
    /// Who.
    pub role: Role,
    /// Markdown.
    pub text: String,
    /// How it ended.
    pub state: MessageState,
    /// Numbers, for answers.
    pub stats: Option<MessageStats>,
    /// Position among its siblings, from 1.
    pub sibling: u32,
    /// Number of siblings (edits and regenerations).
    pub siblings: u32,
    /// Left out of the prompt by the user's own choice ("drop oldest turns").
    pub dropped: bool,
}

/// A conversation: the messages of the chosen branch, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// Its id.
    pub id: u64,
    /// Title from the first line.
    pub title: String,
    /// The chosen branch.
    pub messages: Vec<MessageView>,
    /// What the user was writing.
    pub draft: String,
    /// Running generation, if any.
    pub generation: Option<u64>,
}

/// Shows another sibling of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SelectSibling {
    /// Which conversation.
    pub conversation: u64,
    /// The message whose place in the branch changes.
    pub message: u64,
    /// Position of the wanted sibling, from 1.
    pub sibling: u32,
}

/// Leaves messages out of the prompt, or takes them back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DropMessages {
    /// Which conversation.
    pub conversation: u64,
    /// Which messages.
    pub messages: Vec<u64>,
    /// Leave out (true) or take back (false).
    pub dropped: bool,
}

/// Keeps what the user is writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DraftSave {
    /// Which conversation.
    pub conversation: u64,
    /// The whole draft.
    pub text: String,
}
