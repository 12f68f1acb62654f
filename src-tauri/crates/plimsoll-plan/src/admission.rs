//! Admission before Send: the pages of prompt and answer are reserved, or the request is refused with the numbers.

use serde::{Deserialize, Serialize};

use crate::shape::PAGE_TOKENS;
use crate::units::Tokens;

/// What a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Tokens of the rendered prompt.
    pub prompt: Tokens,
    /// Longest answer. Reserved now, enforced while decoding.
    pub max_output: Tokens,
}

/// The user's own limits, checked before the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AdmissionLimits {
    /// Longest prompt; `None` = the context decides.
    pub prompt: Option<Tokens>,
    /// Longest answer; `None` = the context decides.
    pub output: Option<Tokens>,
}

/// The KV pool as one conversation sees it. Only pages that keep every position are counted: a window layer's
/// pages belong to its conversation from the start and never run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KvPool {
    /// Context of each conversation.
    pub context: Tokens,
    /// Pages that nobody holds and nobody was promised.
    pub free: u32,
    /// Pages that this conversation holds already, or shares: its own cache.
    pub held: u32,
}

/// What an admitted request reserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Prompt and longest answer: the length that decoding may reach.
    pub tokens: Tokens,
    /// Pages to take from the free ones, beyond those held.
    pub pages: u32,
}

/// By how much a request is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// Prompt and longest answer. Wider than [`Tokens`]: the sum of two counts.
    pub needed: u64,
    /// Tokens that the conversation can hold now.
    pub available: Tokens,
    /// Longest answer that fits after this prompt; 0 when the prompt alone is too long.
    pub largest_output: Tokens,
    /// Longest prompt that fits before this answer; 0 when the answer alone is too long.
    pub largest_prompt: Tokens,
}

impl Shortage {
    /// Tokens to save.
    pub fn excess(&self) -> u64 {
        self.needed.saturating_sub(self.available.wide())
    }
}

/// Why a request is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing to compute.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// No room asked for the answer.
    #[error("the answer must have room for at least one token")]
    ZeroOutput,
    /// The prompt is longer than the user's limit.
    #[error("the prompt has {wanted} tokens and the limit is {limit}")]
    PromptAboveLimit {
        /// Tokens of the prompt.
        wanted: Tokens,
        /// The limit.
        limit: Tokens,
    },
    /// The answer is longer than the user's limit.
    #[error("the answer asks for {wanted} tokens and the limit is {limit}")]
    OutputAboveLimit {
        /// Tokens asked for.
        wanted: Tokens,
        /// The limit.
        limit: Tokens,
    },
    /// Prompt and answer exceed the context.
    #[error("prompt and answer need {} tokens and the context has {}", .0.needed, .0.available)]
    ContextExceeded(Shortage),
    /// They fit the context, but other conversations hold the pages. Waiting helps.
    #[error("prompt and answer need {} tokens and the free pages hold {}", .0.needed, .0.available)]
    PagesTaken(Shortage),
}

/// Admits `request`, or says why not.
pub fn admit(request: Request, limits: AdmissionLimits, pool: KvPool) -> Result<Lease, Refusal> {
    let Request { prompt, max_output } = request;
    if prompt.0 == 0 {
        return Err(Refusal::EmptyPrompt);
    }
    if max_output.0 == 0 {
        return Err(Refusal::ZeroOutput);
    }
    match limits.prompt {
        Some(limit) if prompt > limit => return Err(Refusal::PromptAboveLimit { wanted: prompt, limit }),
        _ => {}
    }
    match limits.output {
        Some(limit) if max_output > limit => return Err(Refusal::OutputAboveLimit { wanted: max_output, limit }),
        _ => {}
    }
    let in_context = fit(request, pool.context).map_err(Refusal::ContextExceeded)?;
    let pages = u64::from(pool.free) + u64::from(pool.held);
    let in_pages = u32::try_from(pages * u64::from(PAGE_TOKENS)).unwrap_or(u32::MAX);
    fit(request, pool.context.min(Tokens(in_pages))).map_err(Refusal::PagesTaken)?;
    Ok(Lease { tokens: in_context, pages: in_context.pages().saturating_sub(pool.held) })
}

/// The request's length, if `available` tokens hold it.
fn fit(request: Request, available: Tokens) -> Result<Tokens, Shortage> {
    let needed = request.prompt.wide() + request.max_output.wide();
    match u32::try_from(needed) {
        Ok(tokens) if tokens <= available.0 => Ok(Tokens(tokens)),
        _ => Err(Shortage {
            needed,
            available,
            largest_output: Tokens(available.0.saturating_sub(request.prompt.0)),
            largest_prompt: Tokens(available.0.saturating_sub(request.max_output.0)),
        }),
    }
}
