//! Admission before Send, and the answer's stream.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::conversation::{MessageState, MessageStats};
use crate::error::IpcError;

/// Asks what Send would do now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptCheckRequest {
    /// Which conversation.
    pub conversation: u64,
    /// What the user wrote.
    pub draft: String,
    /// Longest answer; `None` = the settings' output limit.
    pub output_tokens: Option<u32>,
    /// Echoed back, so that the page can drop answers to older questions.
    pub request: u64,
}

/// What can be done about a blocked Send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// Reserve a shorter answer.
    #[serde(rename_all = "camelCase")]
    ShortenAnswer {
        /// New output limit.
        output_tokens: u32,
        /// Tokens gained.
        gain_tokens: u32,
    },
    /// Leave the oldest turns out of the prompt. They stay in the transcript, marked.
    #[serde(rename_all = "camelCase")]
    DropOldestTurns {
        /// Ids of the messages to leave out.
        messages: Vec<u64>,
        /// First words of each turn that would be dropped.
        names: Vec<String>,
        /// Tokens gained.
        gain_tokens: u32,
    },
    /// Load again with a larger context.
    #[serde(rename_all = "camelCase")]
    EnlargeContext {
        /// New context limit.
        context_tokens: u32,
        /// Bytes it costs.
        cost_bytes: u64,
    },
    /// Cut the draft to what fits; the page selects the rest in the composer, nothing is deleted.
    #[serde(rename_all = "camelCase")]
    ShortenDraft {
        /// UTF-16 code units of the draft that fit.
        keep_utf16: u32,
        /// Tokens to lose.
        excess_tokens: u32,
    },
    /// Start a new conversation with this draft.
    #[serde(rename_all = "camelCase")]
    NewConversation {
        /// Tokens gained.
        gain_tokens: u32,
    },
}

/// What Send would do now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptCheck {
    /// From the request.
    pub request: u64,
    /// Tokens of the rendered prompt with the draft, counted by the model's tokenizer.
    pub prompt_tokens: u32,
    /// Tokens that the draft adds.
    pub draft_tokens: u32,
    /// Of the prompt, tokens that are in the KV cache already.
    pub cached_tokens: u32,
    /// Tokens reserved for the answer.
    pub output_tokens: u32,
    /// Context limit.
    pub context_tokens: u32,
    /// KV bytes that Send would reserve.
    pub reserve_bytes: u64,
    /// Would Send go through?
    pub allowed: bool,
    /// Why not (`context_exceeded`, `output_limit_exceeded`, `plan_does_not_fit`, `empty_prompt`, `no_model`, `busy`, `no_template`).
    pub refusal: Option<IpcError>,
    /// Ways out, best first; each makes Send go through on its own, unless it says what excess remains.
    pub remedies: Vec<Remedy>,
}

/// Sends the draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SendRequest {
    /// Which conversation.
    pub conversation: u64,
    /// What the user wrote; ignored when `regenerate` is set.
    pub text: String,
    /// Longest answer; `None` = the settings' output limit.
    pub output_tokens: Option<u32>,
    /// Answer this user message again, as a sibling of the old answer.
    pub regenerate: Option<u64>,
    /// Replace this user message by `text`, as a sibling.
    pub edit: Option<u64>,
    /// Continue the text as it stands (base models, and the user's explicit choice).
    pub completion: bool,
}

/// The accepted Send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// Its generation.
    pub generation: u64,
    /// Id of the user's message.
    pub user_message: u64,
    /// Id of the answer.
    pub answer_message: u64,
}

/// A part of the answer's stream, event `generation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GenerationEvent {
    /// Which generation.
    pub generation: u64,
    /// Its conversation.
    pub conversation: u64,
    /// The answer's message.
    pub message: u64,
    /// 0, 1, 2 ... without gaps.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: GenerationKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GenerationKind {
    /// Admission passed, prefill begins.
    #[serde(rename_all = "camelCase")]
    Started {
        /// Tokens of the prompt.
        prompt_tokens: u32,
        /// Of those, already in the cache.
        cached_tokens: u32,
    },
    /// Prefill went on.
    #[serde(rename_all = "camelCase")]
    Progress {
        /// Prompt tokens in the cache.
        done_tokens: u32,
        /// Prompt tokens in all.
        total_tokens: u32,
    },
    /// More text.
    #[serde(rename_all = "camelCase")]
    Delta {
        /// The text.
        text: String,
        /// Milliseconds since the Unix epoch when the engine produced the first token in it.
        engine_ms: f64,
    },
    /// Numbers so far.
    Usage {
        /// The numbers.
        stats: MessageStats,
    },
    /// The answer ended.
    Done {
        /// How.
        reason: MessageState,
        /// The numbers.
        stats: MessageStats,
    },
    /// It failed; the text so far is kept.
    Failed {
        /// Why.
        error: IpcError,
    },
}

/// The whole of a generation, for a page that missed events or was reloaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GenerationSnapshot {
    /// Which.
    pub generation: u64,
    /// The answer's message.
    pub message: u64,
    /// Sequence number of the last event that is contained.
    pub seq: u64,
    /// The text so far.
    pub text: String,
    /// How it stands.
    pub state: MessageState,
    /// The numbers.
    pub stats: MessageStats,
}
