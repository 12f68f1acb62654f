//! Why there is no plan, or why a plan may not be loaded.

use crate::shape::{KvType, Precision};
use crate::units::{Bytes, Tokens};

/// The settings or the shape admit no plan at all. A plan that is merely too large is a plan with `fits == false`.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The wanted context is larger than the one that the model was trained for.
    #[error("a context of {wanted} tokens is above the {trained} tokens that the model was trained for")]
    ContextAboveTrained {
        /// What the settings ask for.
        wanted: Tokens,
        /// What the model allows.
        trained: Tokens,
    },
    /// A context of no tokens.
    #[error("the context must hold at least one token")]
    ZeroContext,
    /// A prefill chunk of no tokens.
    #[error("the prefill chunk must hold at least one token")]
    ZeroChunk,
    /// No conversation at all.
    #[error("at least one conversation must be planned")]
    ZeroChats,
    /// No compute thread.
    #[error("at least one compute thread is needed")]
    ZeroThreads,
    /// No row of logits.
    #[error("at least one row of logits is needed")]
    ZeroLogitsRows,
    /// The explicit chunk cannot hold one decode row per conversation.
    #[error("a chunk of {chunk} tokens cannot hold one decode row for each of {chats} conversations")]
    ChunkBelowChats {
        /// What the settings ask for.
        chunk: Tokens,
        /// Conversations held at once.
        chats: u32,
    },
    /// The fraction of memory is outside 0.05 to 0.95, or not a number.
    #[error("the memory fraction {fraction} is outside 0.05 to 0.95")]
    BadUtilization {
        /// What the settings ask for.
        fraction: f64,
    },
    /// The file cannot give the explicit precision.
    #[error("the file holds {file:?} weights and cannot give {wanted:?}")]
    PrecisionUnavailable {
        /// What the settings ask for.
        wanted: Precision,
        /// What the file holds.
        file: Precision,
    },
    /// The engine cannot run the explicit KV type for this model.
    #[error("the engine has no {wanted:?} KV cache for this model")]
    KvUnavailable {
        /// What the settings ask for.
        wanted: KvType,
    },
    /// The engine names no KV type for this model.
    #[error("the engine has no KV cache for this model")]
    NoKvType,
    /// The shape itself is not a decoder: a count that must be positive is zero.
    #[error("the model's shape has no {field}")]
    EmptyShape {
        /// Which count.
        field: &'static str,
    },
    /// A layer's shape is not usable: a count is zero, or the query heads do not share the KV heads evenly.
    #[error("layer {layer} has an unusable {field}")]
    BadLayer {
        /// Which layer, from 0.
        layer: usize,
        /// Which count.
        field: &'static str,
    },
    /// The byte counts leave the range that is carried exactly everywhere (2^53, the integers of a JSON number).
    #[error("the plan needs more than {limit}")]
    Overflow {
        /// The largest byte count that a plan may name.
        limit: Bytes,
    },
}

/// The plan is larger than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the plan needs {needed} and the budget is {budget}; the largest context that fits is {largest_context}")]
pub struct DoesNotFit {
    /// Bytes of the plan.
    pub needed: Bytes,
    /// Bytes that it may take.
    pub budget: Bytes,
    /// Largest context that fits with the same settings; 0 when none does.
    pub largest_context: Tokens,
}
