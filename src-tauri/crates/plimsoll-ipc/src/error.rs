//! One closed set of error codes. The page maps a code to words; `message` is for logs and `numbers` for the words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What went wrong, as a value that the page can match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The file is not a GGUF file (its first four bytes say otherwise).
    NotGguf,
    /// The file ends before the data that its header promises.
    Truncated,
    /// A count, offset, dimension or string in the header is out of range; `detail` names the field.
    BadHeader,
    /// The file's architecture has no mapping in this engine; `detail` names it.
    UnknownArchitecture,
    /// A tensor has a storage type that this engine does not read; `detail` names tensor and type.
    UnknownTensorType,
    /// A tensor that the architecture needs is absent; `detail` names it.
    MissingTensor,
    /// A tensor's shape differs from what the metadata says; `detail` names it.
    WrongShape,
    /// The file's tokenizer is of a kind that this engine does not run; `detail` names it.
    UnsupportedTokenizer,
    /// The chat template does not compile or render; `detail` says where.
    BadTemplate,
    /// The model has no chat template: it is a base model that continues text.
    NoTemplate,
    /// The plan does not fit the budget (numbers: `needed`, `budget`, `largestContext`).
    PlanDoesNotFit,
    /// The wanted context is larger than the trained one (numbers: `wanted`, `trained`).
    ContextAboveTrained,
    /// Prompt and reserved answer exceed the context (numbers: `prompt`, `output`, `context`, `excess`).
    ContextExceeded,
    /// The wanted answer exceeds the output limit (numbers: `wanted`, `limit`).
    OutputLimitExceeded,
    /// The prompt exceeds the prompt limit (numbers: `prompt`, `limit`).
    PromptLimitExceeded,
    /// Nothing to send.
    EmptyPrompt,
    /// Memory that the plan counted on is gone (numbers: `needed`, `free`).
    OutOfMemory,
    /// No model is loaded.
    NoModel,
    /// No such model, conversation, message or generation; `detail` names it.
    NotFound,
    /// A generation is already running.
    Busy,
    /// The request was cancelled.
    Cancelled,
    /// Reading or writing failed; `detail` has the operating system's words.
    Io,
    /// A setting is out of its range; `detail` names it.
    BadSetting,
    /// A fault inside Plimsoll.
    Internal,
}

/// A refused or failed command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct IpcError {
    /// The machine-readable reason.
    pub code: ErrorCode,
    /// English text for logs and for `Details`.
    pub message: String,
    /// The name that the code speaks of: a field, tensor, architecture or path.
    pub detail: Option<String>,
    /// The numbers behind the refusal, by name.
    pub numbers: BTreeMap<String, u64>,
}

impl IpcError {
    /// An error without numbers.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, numbers: BTreeMap::new() }
    }

    /// The same error, naming what it speaks of.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same error with one more number.
    #[must_use]
    pub fn with_number(mut self, name: &str, value: u64) -> Self {
        self.numbers.insert(name.to_owned(), value);
        self
    }
}

impl std::fmt::Display for IpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for IpcError {}
