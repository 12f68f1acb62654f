//! What callers hand to the engine and get back from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::{Bytes, Tokens};

use crate::error::EngineError;
use crate::sample::Sampling;

/// One answer to write.
#[derive(Debug, Clone)]
pub struct GenerateRequest {
    /// Token ids of the whole rendered prompt. What is in the KV cache already is not computed again.
    pub prompt: Vec<u32>,
    /// Longest answer; reserved at admission and enforced while decoding.
    pub max_tokens: Tokens,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Texts that end the answer; they are not part of it.
    pub stop: Vec<String>,
    /// Goes on past end-of-turn tokens (benchmarks).
    pub ignore_end: bool,
}

/// Progress of one answer. The text borrows the engine's own buffer: nothing is allocated per token.
#[derive(Debug)]
pub enum StepEvent<'a> {
    /// Admission passed; prefill begins.
    Started {
        /// Tokens of the prompt.
        prompt: Tokens,
        /// Of those, tokens that were in the KV cache.
        cached: Tokens,
    },
    /// A prefill chunk is done.
    Prefill {
        /// Prompt tokens in the KV cache.
        done: Tokens,
        /// Prompt tokens in all.
        total: Tokens,
    },
    /// One token, and the text that became complete with it (may be empty).
    Token {
        /// The token.
        id: u32,
        /// Its text, up to the last complete UTF-8 scalar that no stop string can still swallow.
        text: &'a str,
    },
    /// The answer ended.
    Finished {
        /// How.
        reason: StopReason,
        /// Text that was held back.
        text: &'a str,
        /// Numbers.
        timings: Timings,
    },
    /// It failed. Text sent before stays valid.
    Failed(EngineError),
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model ended its turn.
    EndOfTurn,
    /// A stop string appeared.
    StopString,
    /// The output limit was reached.
    Length,
    /// The caller cancelled.
    Cancelled,
}

/// Numbers of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Timings {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Of those, tokens that were in the KV cache.
    pub cached: Tokens,
    /// Tokens of the answer.
    pub output: Tokens,
    /// From the request to the end of prefill.
    pub prefill: Duration,
    /// From the request to the first sampled token.
    pub first_token: Duration,
    /// From the first sampled token to the last.
    pub decode: Duration,
}

/// Tokens in the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KvUsage {
    /// Written.
    pub used: Tokens,
    /// Promised to the running answer: its prompt and its longest output (at least `used` while it runs).
    pub reserved: Tokens,
    /// What the plan gave.
    pub capacity: Tokens,
}

/// What the engine took from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allocation {
    /// The slab: weights, KV pages, workspace.
    pub slab: Bytes,
    /// Tokenizer tables and token lists.
    pub host: Bytes,
}

/// Bytes packed while loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// So far.
    pub done: Bytes,
    /// In all.
    pub total: Bytes,
}

/// Ends one answer early. Checked before each token and each prefill chunk.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks the answer to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Was it asked to?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
