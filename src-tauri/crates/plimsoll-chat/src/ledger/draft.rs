//! The longest beginning of a draft that fits.

use plimsoll_plan::Tokens;

use super::{LedgerRequest, PromptCounter, PromptVariant, Remedy, fits, gained};

/// Counts that a search may take. A megabyte bisected takes 20; the first guess saves most of them.
const MOST_COUNTS: usize = 40;

/// Cuts the draft; `None` when not even its first character that says something would fit.
pub(super) fn shorten<C: PromptCounter>(
    request: &LedgerRequest<'_>,
    prompt: Tokens,
    counter: &mut C,
) -> Result<Option<Remedy>, C::Error> {
    let draft = request.draft;
    let mut count =
        |end: usize| counter.count(PromptVariant { without_turns: 0, draft: draft.get(..end).unwrap_or_default() });
    let empty = count(0)?;
    if !fits(request, empty) {
        return Ok(None);
    }
    // `good` was counted to fit; `bad` was counted not to, or is the whole draft.
    let (mut good, mut good_length, mut bad) = (0, empty, draft.len());
    let mut width = guess(request, prompt, empty);
    for _ in 0..MOST_COUNTS {
        let distance = bad - good;
        let step = width.take().filter(|&width| width < distance).unwrap_or(distance / 2).max(1);
        let Some(middle) = boundary_between(draft, good, good + step, bad) else { break };
        let counted = count(middle)?;
        if fits(request, counted) {
            // The next guess is near: what is left of the room, at the density seen so far.
            let room = request.context.wide().saturating_sub(request.output.wide() + counted.wide());
            width = (good == 0).then(|| narrow(room.saturating_mul(2))).filter(|&width| width > 0);
            (good, good_length) = (middle, counted);
        } else {
            bad = middle;
        }
    }
    let kept = draft.get(..good).unwrap_or_default();
    if kept.trim().is_empty() {
        return Ok(None);
    }
    let keep_utf16 = u32::try_from(kept.encode_utf16().count()).unwrap_or(u32::MAX);
    Ok(Some(Remedy::ShortenDraft { keep_utf16, gain: gained(prompt, good_length) }))
}

/// Bytes of the draft that should fit, if its tokens are evenly long.
fn guess(request: &LedgerRequest<'_>, prompt: Tokens, empty: Tokens) -> Option<usize> {
    let draft_tokens = u64::from(gained(prompt, empty).0);
    let room = request.context.wide().saturating_sub(request.output.wide() + empty.wide());
    let bytes = u64::try_from(request.draft.len()).ok()?;
    bytes.saturating_mul(room).checked_div(draft_tokens).map(narrow)
}

/// A character boundary strictly between `from` and `to`, at `near` or the next one before or after it.
fn boundary_between(text: &str, from: usize, near: usize, to: usize) -> Option<usize> {
    let before = (from + 1..=near.min(to)).rev().find(|&at| at < to && text.is_char_boundary(at));
    before.or_else(|| (near..to).find(|&at| at > from && text.is_char_boundary(at)))
}

fn narrow(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
