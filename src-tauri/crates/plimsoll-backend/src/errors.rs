//! Every error below the backend, as the contract's closed set of codes with names and numbers.

use std::io;

use plimsoll_chat::{ConversationError, Limit, TemplateError};
use plimsoll_device::DeviceError;
use plimsoll_engine::gguf::GgufError;
use plimsoll_engine::tokenizer::TokenizerError;
use plimsoll_engine::{EngineError, ModelError};
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::{DoesNotFit, PlanError, Refusal, Shortage};

/// Turns an error into the contract's form. Total: every variant has a code.
pub trait ToIpc {
    /// The code, the words for the log, and the names and numbers behind it.
    fn to_ipc(&self) -> IpcError;
}

impl ToIpc for io::Error {
    fn to_ipc(&self) -> IpcError {
        let code = match self.kind() {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::Io,
        };
        IpcError::new(code, self.to_string()).with_detail(self.to_string())
    }
}

impl ToIpc for DeviceError {
    fn to_ipc(&self) -> IpcError {
        match self {
            Self::UnknownTotal => IpcError::new(ErrorCode::PlanDoesNotFit, self.to_string()).with_detail("memory"),
        }
    }
}

impl ToIpc for GgufError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let bad = |field: &str| IpcError::new(ErrorCode::BadHeader, message.clone()).with_detail(field);
        match self {
            Self::Io(error) => error.to_ipc(),
            Self::NotGguf { .. } => IpcError::new(ErrorCode::NotGguf, message).with_detail("magic"),
            Self::Truncated { field, needed, have } => IpcError::new(ErrorCode::Truncated, message)
                .with_detail(field)
                .with_number("needed", *needed)
                .with_number("have", *have),
            Self::TensorOutsideFile { tensor, offset, bytes, file_len } => IpcError::new(ErrorCode::Truncated, message)
                .with_detail(tensor)
                .with_number("needed", offset.saturating_add(*bytes))
                .with_number("have", *file_len),
            Self::UnknownTensorType { tensor, ggml_type } => IpcError::new(ErrorCode::UnknownTensorType, message)
                .with_detail(format!("{tensor}: {ggml_type}"))
                .with_number("type", (*ggml_type).into()),
            Self::BigEndian { version } | Self::UnsupportedVersion { version } => {
                bad("version").with_number("version", (*version).into())
            }
            Self::Count { field, count, limit } => bad(field).with_number("count", *count).with_number("limit", *limit),
            Self::HeaderTooLarge { needed } => bad("header").with_number("needed", *needed),
            Self::BadKey { index, key } => bad(key).with_number("index", *index),
            Self::DuplicateKey { key }
            | Self::NestedTooDeep { key }
            | Self::MissingKey { key }
            | Self::WrongType { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::NotUtf8 { key, .. }
            | Self::BadBool { key, .. }
            | Self::UnknownValueType { key, .. } => bad(key),
            Self::Alignment { alignment } => bad("general.alignment").with_number("alignment", *alignment),
            Self::BadTensorName { index, name } => bad(name).with_number("index", *index),
            Self::DuplicateTensor { tensor }
            | Self::Dimensions { tensor, .. }
            | Self::Shape { tensor, .. }
            | Self::PartialBlock { tensor, .. }
            | Self::TensorAlignment { tensor, .. } => bad(tensor),
            Self::Overlap { first, offset, .. } => bad(first).with_number("offset", *offset),
        }
    }
}

impl ToIpc for TokenizerError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let unsupported =
            |name: &str| IpcError::new(ErrorCode::UnsupportedTokenizer, message.clone()).with_detail(name);
        let bad = |field: &str| IpcError::new(ErrorCode::BadHeader, message.clone()).with_detail(field);
        match self {
            Self::Gguf(error) => error.to_ipc(),
            Self::UnsupportedModel { model } => unsupported(model),
            Self::UnsupportedTokenizer { pre } | Self::Pattern { pre, .. } => unsupported(pre),
            Self::ArrayLength { key, found, tokens } => {
                bad(key).with_number("found", wide(*found)).with_number("tokens", wide(*tokens))
            }
            Self::VocabularySize { tokens, bytes, .. } => {
                bad("tokenizer.ggml.tokens").with_number("tokens", wide(*tokens)).with_number("bytes", wide(*bytes))
            }
            Self::TokenKind { token, .. } => bad("tokenizer.ggml.token_type").with_number("token", wide(*token)),
            Self::IdOutsideVocabulary { key, id, tokens } => {
                bad(key).with_number("id", (*id).into()).with_number("tokens", (*tokens).into())
            }
            Self::MalformedMerge { rank, .. } | Self::MergeOutsideVocabulary { rank, .. } => {
                bad("tokenizer.ggml.merges").with_number("rank", wide(*rank))
            }
            Self::SpecialTokens { tokens, bytes, .. } => {
                unsupported("special tokens").with_number("tokens", wide(*tokens)).with_number("bytes", wide(*bytes))
            }
        }
    }
}

impl ToIpc for ModelError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let named = |code, name: &str| IpcError::new(code, message.clone()).with_detail(name);
        match self {
            Self::Io { path, source } => {
                let mut error = source.to_ipc().with_detail(path.display().to_string());
                error.message = message;
                error
            }
            Self::Gguf(error) => error.to_ipc(),
            Self::Tokenizer(error) => error.to_ipc(),
            Self::UnknownArchitecture { name } => named(ErrorCode::UnknownArchitecture, name),
            Self::MissingKey { key } | Self::BadKey { key, .. } => named(ErrorCode::BadHeader, key),
            Self::MissingTensor { name } => named(ErrorCode::MissingTensor, name),
            Self::UnexpectedTensor { name, .. } | Self::WrongShape { name, .. } => named(ErrorCode::WrongShape, name),
            Self::UnsupportedTensorType { name, ggml_type } => {
                named(ErrorCode::UnknownTensorType, &format!("{name}: {ggml_type}"))
                    .with_number("type", (*ggml_type).into())
            }
            Self::DoesNotFit { needed, budget, largest_context } => {
                DoesNotFit { needed: *needed, budget: *budget, largest_context: *largest_context }.to_ipc()
            }
            Self::OutOfMemory { needed } => {
                IpcError::new(ErrorCode::OutOfMemory, message).with_number("needed", needed.0)
            }
            Self::PlanMismatch { region, planned, needed } => {
                named(ErrorCode::Internal, region).with_number("planned", planned.0).with_number("needed", needed.0)
            }
            Self::Cancelled => IpcError::new(ErrorCode::Cancelled, message),
            Self::Threads(error) => named(ErrorCode::Io, &error.to_string()),
            Self::Stopped(reason) => named(ErrorCode::Internal, reason),
        }
    }
}

impl ToIpc for EngineError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let named = |code, name: &str| IpcError::new(code, message.clone()).with_detail(name);
        match self {
            Self::ContextExceeded { prompt, output, context } => {
                let needed = prompt.wide().saturating_add(output.wide());
                IpcError::new(ErrorCode::ContextExceeded, message)
                    .with_number("prompt", prompt.wide())
                    .with_number("output", output.wide())
                    .with_number("context", context.wide())
                    .with_number("excess", needed.saturating_sub(context.wide()))
            }
            Self::EmptyPrompt => IpcError::new(ErrorCode::EmptyPrompt, message),
            Self::BadToken { id, vocabulary } => named(ErrorCode::BadSetting, "token")
                .with_number("id", (*id).into())
                .with_number("vocabulary", (*vocabulary).into()),
            Self::BadSampling(error) => named(ErrorCode::BadSetting, error.setting),
            Self::NotFinite { position } => {
                IpcError::new(ErrorCode::Internal, message).with_number("position", (*position).into())
            }
            Self::Busy => IpcError::new(ErrorCode::Busy, message),
            Self::Stopped(reason) | Self::Internal(reason) => named(ErrorCode::Internal, reason),
        }
    }
}

impl ToIpc for DoesNotFit {
    fn to_ipc(&self) -> IpcError {
        IpcError::new(ErrorCode::PlanDoesNotFit, self.to_string())
            .with_number("needed", self.needed.0)
            .with_number("budget", self.budget.0)
            .with_number("largestContext", self.largest_context.wide())
    }
}

impl ToIpc for PlanError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let setting = |name: &str| IpcError::new(ErrorCode::BadSetting, message.clone()).with_detail(name);
        match self {
            Self::ContextAboveTrained { wanted, trained } => IpcError::new(ErrorCode::ContextAboveTrained, message)
                .with_number("wanted", wanted.wide())
                .with_number("trained", trained.wide()),
            Self::ZeroContext => setting("contextTokens"),
            Self::ZeroChunk => setting("chunk"),
            Self::ZeroChats => setting("chats"),
            Self::ZeroThreads => setting("threads"),
            Self::ZeroLogitsRows => setting("logitsRows"),
            Self::ChunkBelowChats { chunk, chats } => {
                setting("chunk").with_number("chunk", chunk.wide()).with_number("chats", (*chats).into())
            }
            Self::BadUtilization { .. } => setting("memoryFraction"),
            Self::PrecisionUnavailable { .. } => setting("precision"),
            Self::KvUnavailable { .. } | Self::NoKvType => setting("kv"),
            Self::EmptyShape { field } => IpcError::new(ErrorCode::BadHeader, message).with_detail(*field),
            Self::BadLayer { layer, field } => IpcError::new(ErrorCode::BadHeader, message)
                .with_detail(*field)
                .with_number("layer", u64::try_from(*layer).unwrap_or(u64::MAX)),
            Self::Overflow { limit } => IpcError::new(ErrorCode::PlanDoesNotFit, message).with_number("limit", limit.0),
        }
    }
}

impl ToIpc for TemplateError {
    fn to_ipc(&self) -> IpcError {
        let bad = |detail: String| IpcError::new(ErrorCode::BadTemplate, self.to_string()).with_detail(detail);
        let line = |line: &Option<usize>| u64::try_from(line.unwrap_or(0)).unwrap_or(0);
        match self {
            Self::Compile { line: at, detail } | Self::Render { line: at, detail } => {
                bad(detail.clone()).with_number("line", line(at))
            }
            Self::Raised { message } => bad(message.clone()),
            Self::Limit(limit) => {
                let most = match limit {
                    Limit::Steps { limit } => *limit,
                    Limit::Source { limit, .. } | Limit::Output { limit } | Limit::Depth { limit } => {
                        u64::try_from(*limit).unwrap_or(u64::MAX)
                    }
                };
                bad(limit.to_string()).with_number("limit", most)
            }
            Self::NoFreeMarker => bad("private-use characters".to_owned()),
            Self::Thread(error) => bad(error.to_string()),
            Self::Engine => IpcError::new(ErrorCode::Internal, self.to_string()).with_detail("chat template"),
        }
    }
}

impl ToIpc for ConversationError {
    fn to_ipc(&self) -> IpcError {
        let message = self.to_string();
        let of = |code, id: &plimsoll_chat::MessageId| {
            IpcError::new(code, message.clone()).with_detail(format!("message {id}")).with_number("message", id.0)
        };
        match self {
            Self::NoSuchMessage { id } | Self::WrongRole { id, .. } => of(ErrorCode::NotFound, id),
            Self::NoSuchSibling { id, wanted, count } => of(ErrorCode::NotFound, id)
                .with_number("wanted", (*wanted).into())
                .with_number("count", (*count).into()),
            Self::Finished { id } | Self::NotAnEnd { id } => of(ErrorCode::Internal, id),
        }
    }
}

/// A refused request, with the prompt and answer that were asked for: the refusal itself names only what is short.
pub fn refusal_to_ipc(refusal: &Refusal, request: plimsoll_plan::Request) -> IpcError {
    let message = refusal.to_string();
    let too_long = |shortage: &Shortage| {
        IpcError::new(ErrorCode::ContextExceeded, message.clone())
            .with_number("prompt", request.prompt.wide())
            .with_number("output", request.max_output.wide())
            .with_number("context", shortage.available.wide())
            .with_number("excess", shortage.excess())
            .with_number("largestOutput", shortage.largest_output.wide())
            .with_number("largestPrompt", shortage.largest_prompt.wide())
    };
    match refusal {
        Refusal::EmptyPrompt => IpcError::new(ErrorCode::EmptyPrompt, message),
        Refusal::ZeroOutput => IpcError::new(ErrorCode::BadSetting, message).with_detail("outputTokens"),
        Refusal::PromptAboveLimit { wanted, limit } => IpcError::new(ErrorCode::PromptLimitExceeded, message)
            .with_number("prompt", wanted.wide())
            .with_number("limit", limit.wide()),
        Refusal::OutputAboveLimit { wanted, limit } => IpcError::new(ErrorCode::OutputLimitExceeded, message)
            .with_number("wanted", wanted.wide())
            .with_number("limit", limit.wide()),
        Refusal::ContextExceeded(shortage) | Refusal::PagesTaken(shortage) => too_long(shortage),
    }
}

/// The loaded model has no chat template, and the request did not ask for plain completion.
pub fn no_template(model: &str) -> IpcError {
    IpcError::new(
        ErrorCode::NoTemplate,
        format!("`{model}` has no chat template: it is a base model that continues text as it stands"),
    )
    .with_detail(model)
}

/// Nothing is loaded.
pub(crate) fn no_model() -> IpcError {
    IpcError::new(ErrorCode::NoModel, "no model is loaded")
}

/// An answer is being written.
pub(crate) fn busy() -> IpcError {
    IpcError::new(ErrorCode::Busy, "an answer is being written")
}

/// There is no such thing.
pub(crate) fn not_found(kind: &str, id: impl std::fmt::Display) -> IpcError {
    IpcError::new(ErrorCode::NotFound, format!("there is no {kind} {id}")).with_detail(format!("{kind} {id}"))
}
