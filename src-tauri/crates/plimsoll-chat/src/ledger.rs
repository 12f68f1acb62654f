//! The context ledger: what a Send needs, and every way to make a refused one go through.
//!
//! A remedy is offered only after the same count that refuses has said that it suffices.

mod draft;

use plimsoll_plan::{Bytes, PAGE_TOKENS, Tokens};

use crate::conversation::{MessageId, Turn};

/// A prompt to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptVariant<'a> {
    /// Turns left out, from the oldest of [`LedgerRequest::turns`].
    pub without_turns: usize,
    /// The newest user message.
    pub draft: &'a str,
}

/// Counts a rendered prompt exactly, with the model's own tokenizer.
pub trait PromptCounter {
    /// Why a prompt cannot be counted.
    type Error;

    /// Tokens of the prompt.
    fn count(&mut self, prompt: PromptVariant<'_>) -> Result<Tokens, Self::Error>;
}

impl<E, F: FnMut(PromptVariant<'_>) -> Result<Tokens, E>> PromptCounter for F {
    type Error = E;

    fn count(&mut self, prompt: PromptVariant<'_>) -> Result<Tokens, E> {
        self(prompt)
    }
}

/// Asks the planner: bytes that a larger context costs, or `None` when it does not fit.
pub trait PlanEnlargement {
    /// Bytes beyond the plan in force.
    fn cost(&mut self, context: Tokens) -> Option<Bytes>;
}

impl<F: FnMut(Tokens) -> Option<Bytes>> PlanEnlargement for F {
    fn cost(&mut self, context: Tokens) -> Option<Bytes> {
        self(context)
    }
}

/// What Send is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct LedgerRequest<'a> {
    /// The turns in the prompt before the newest message, oldest first; see
    /// [`Conversation::turns`](crate::Conversation::turns).
    pub turns: &'a [Turn],
    /// The newest user message. It and the system prompt are never dropped.
    pub draft: &'a str,
    /// May the draft be cut? Not when an earlier message is answered again.
    pub draft_is_editable: bool,
    /// Longest answer.
    pub output: Tokens,
    /// The shortest answer limit worth offering.
    pub least_output: Tokens,
    /// Context in force.
    pub context: Tokens,
    /// The model's trained context.
    pub trained_context: Tokens,
}

/// The account of a Send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Tokens reserved for the answer.
    pub output: Tokens,
    /// Context in force.
    pub context: Tokens,
    /// Tokens too many; 0 when Send goes through.
    pub excess: u64,
    /// Ways out, each sufficient on its own; empty when Send goes through.
    pub remedies: Vec<Remedy>,
}

/// A way to make a refused Send go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Reserve a shorter answer.
    ShortenAnswer {
        /// New limit.
        output: Tokens,
        /// Tokens gained.
        gain: Tokens,
    },
    /// Leave the fewest oldest turns out that suffice.
    DropOldestTurns {
        /// The messages to leave out.
        messages: Vec<MessageId>,
        /// First words of each turn.
        names: Vec<String>,
        /// Tokens gained.
        gain: Tokens,
    },
    /// Load again with the smallest larger context that suffices.
    EnlargeContext {
        /// New context, in whole pages or the trained context.
        context: Tokens,
        /// Bytes that it costs.
        cost: Bytes,
    },
    /// Keep the longest beginning of the draft that fits.
    ShortenDraft {
        /// UTF-16 code units to keep; the cut is between characters.
        keep_utf16: u32,
        /// Tokens gained.
        gain: Tokens,
    },
    /// Send the draft in a new conversation.
    NewConversation {
        /// Tokens gained.
        gain: Tokens,
    },
}

/// Counts the prompt, and looks for remedies if it does not go through.
pub fn settle<C: PromptCounter>(
    request: &LedgerRequest<'_>,
    counter: &mut C,
    plan: &mut impl PlanEnlargement,
) -> Result<Ledger, C::Error> {
    let prompt = counter.count(PromptVariant { without_turns: 0, draft: request.draft })?;
    let needed = prompt.wide() + request.output.wide();
    let excess = needed.saturating_sub(request.context.wide());
    let mut ledger = Ledger { prompt, output: request.output, context: request.context, excess, remedies: Vec::new() };
    if excess == 0 {
        return Ok(ledger);
    }
    ledger.remedies.extend(shorten_answer(request, prompt));
    let (drop, new_conversation) = leave_turns_out(request, prompt, counter)?;
    ledger.remedies.extend(drop);
    ledger.remedies.extend(enlarge_context(request, needed, plan));
    if request.draft_is_editable {
        ledger.remedies.extend(draft::shorten(request, prompt, counter)?);
    }
    ledger.remedies.extend(new_conversation);
    Ok(ledger)
}

/// Does a prompt of this length go through?
fn fits(request: &LedgerRequest<'_>, prompt: Tokens) -> bool {
    prompt.wide() + request.output.wide() <= request.context.wide()
}

fn gained(before: Tokens, after: Tokens) -> Tokens {
    Tokens(before.0.saturating_sub(after.0))
}

fn shorten_answer(request: &LedgerRequest<'_>, prompt: Tokens) -> Option<Remedy> {
    let output = Tokens(request.context.0.checked_sub(prompt.0)?);
    let worth_it = output >= request.least_output.max(Tokens(1));
    worth_it.then(|| Remedy::ShortenAnswer { output, gain: gained(request.output, output) })
}

/// The fewest oldest turns that suffice, and a new conversation, which leaves all of them out.
fn leave_turns_out<C: PromptCounter>(
    request: &LedgerRequest<'_>,
    prompt: Tokens,
    counter: &mut C,
) -> Result<(Option<Remedy>, Option<Remedy>), C::Error> {
    let mut without = |turns| counter.count(PromptVariant { without_turns: turns, draft: request.draft });
    let all = request.turns.len();
    if all == 0 {
        return Ok((None, None));
    }
    let shortest = without(all)?;
    if !fits(request, shortest) {
        return Ok((None, None));
    }
    // Fewer turns are fewer tokens, so bisection finds the fewest; `enough` was counted to fit in any case.
    let (mut too_few, mut enough, mut length) = (0, all, shortest);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        let counted = without(middle)?;
        if fits(request, counted) {
            (enough, length) = (middle, counted);
        } else {
            too_few = middle;
        }
    }
    let dropped = request.turns.get(..enough).unwrap_or_default();
    let drop = Remedy::DropOldestTurns {
        messages: dropped.iter().flat_map(|turn| turn.messages.iter().copied()).collect(),
        names: dropped.iter().map(|turn| turn.name.clone()).collect(),
        gain: gained(prompt, length),
    };
    Ok((Some(drop), Some(Remedy::NewConversation { gain: gained(prompt, shortest) })))
}

fn enlarge_context(request: &LedgerRequest<'_>, needed: u64, plan: &mut impl PlanEnlargement) -> Option<Remedy> {
    let pages = needed.div_ceil(u64::from(PAGE_TOKENS)).saturating_mul(u64::from(PAGE_TOKENS));
    let context = Tokens(u32::try_from(pages.min(request.trained_context.wide())).ok()?);
    if context.wide() < needed {
        return None;
    }
    plan.cost(context).map(|cost| Remedy::EnlargeContext { context, cost })
}
