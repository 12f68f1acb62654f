//! What can go wrong while opening, loading and running a model. Every variant carries its names and numbers.

use std::path::PathBuf;

use plimsoll_plan::{Bytes, Tokens};
use thiserror::Error;

use crate::gguf::GgufError;
use crate::sample::SamplingError;
use crate::tokenizer::TokenizerError;

/// A model file that cannot be opened or loaded.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The operating system refused.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a sound GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// The tokenizer in the file cannot be run.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// No mapping for this architecture.
    #[error("architecture `{name}` is not supported")]
    UnknownArchitecture {
        /// As the file names it.
        name: String,
    },
    /// A metadata key that the architecture needs is absent.
    #[error("metadata key `{key}` is missing")]
    MissingKey {
        /// Its name.
        key: String,
    },
    /// A metadata value that the architecture cannot have.
    #[error("metadata key `{key}` is {value}; expected {expected}")]
    BadKey {
        /// Its name.
        key: String,
        /// What the file says.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A tensor that the architecture needs is absent.
    #[error("tensor `{name}` is missing")]
    MissingTensor {
        /// Its name.
        name: String,
    },
    /// A tensor that the architecture's mapping does not use: running without it would give wrong answers.
    #[error("tensor `{name}` is not part of architecture `{architecture}` as it is mapped here")]
    UnexpectedTensor {
        /// Its name.
        name: String,
        /// The file's architecture.
        architecture: String,
    },
    /// A tensor's shape differs from what the metadata says.
    #[error("tensor `{name}` has shape {found:?}; expected {expected:?}")]
    WrongShape {
        /// Its name.
        name: String,
        /// Input features, output features, as in the file.
        found: Vec<u64>,
        /// As the metadata says.
        expected: Vec<u64>,
    },
    /// A tensor's storage type has no kernel.
    #[error("tensor `{name}` has storage type {ggml_type}, which is not supported here")]
    UnsupportedTensorType {
        /// Its name.
        name: String,
        /// GGML's number for the type.
        ggml_type: u32,
    },
    /// The plan does not fit the budget.
    #[error("the plan needs {needed}, the budget is {budget}")]
    DoesNotFit {
        /// What the plan takes.
        needed: Bytes,
        /// What it may take.
        budget: Bytes,
        /// Largest context that fits; 0 when none does.
        largest_context: Tokens,
    },
    /// The operating system did not give the slab.
    #[error("the system did not give {needed}")]
    OutOfMemory {
        /// Size of the slab.
        needed: Bytes,
    },
    /// Plan and model do not belong together.
    #[error("the plan has no room for {region}: {planned} planned, {needed} needed")]
    PlanMismatch {
        /// Which region.
        region: String,
        /// Its planned size.
        planned: Bytes,
        /// What the kernels need.
        needed: Bytes,
    },
    /// The caller's progress callback said stop.
    #[error("loading was cancelled")]
    Cancelled,
    /// A thread could not be started.
    #[error("cannot start the engine's threads: {0}")]
    Threads(std::io::Error),
    /// The engine thread ended while loading.
    #[error("the engine stopped while loading: {0}")]
    Stopped(String),
}

/// A request that cannot be run, or that failed while running.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EngineError {
    /// Prompt and longest answer exceed the context.
    #[error("prompt {prompt} + answer {output} tokens exceed the context of {context}")]
    ContextExceeded {
        /// Tokens of the prompt.
        prompt: Tokens,
        /// Longest answer.
        output: Tokens,
        /// Context in force.
        context: Tokens,
    },
    /// Nothing to run.
    #[error("the prompt has no tokens")]
    EmptyPrompt,
    /// A token id outside of the vocabulary.
    #[error("token {id} is outside of the vocabulary of {vocabulary}")]
    BadToken {
        /// The id.
        id: u32,
        /// Words in the vocabulary.
        vocabulary: u32,
    },
    /// A sampling setting out of range.
    #[error(transparent)]
    BadSampling(#[from] SamplingError),
    /// The model's logits are not numbers.
    #[error("the logits at position {position} are not finite")]
    NotFinite {
        /// Where.
        position: u32,
    },
    /// Another request is running.
    #[error("another answer is being written")]
    Busy,
    /// The engine thread has stopped.
    #[error("the engine has stopped: {0}")]
    Stopped(String),
    /// A fault in a kernel or in the engine itself.
    #[error("internal fault: {0}")]
    Internal(String),
}
