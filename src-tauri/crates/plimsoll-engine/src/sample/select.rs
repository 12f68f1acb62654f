//! Which tokens stay, and the draw among them.

use std::cmp::Ordering;

use super::Sampling;
use super::exp::exp;

/// A token and its logit, later its weight.
type Candidate = (u32, f32);

/// Top-p looks at this many of the most likely tokens first; most distributions reach their mass within them.
const FIRST_BATCH: usize = 64;

/// The largest logit and its token: the lowest id of equals. `None` if all are NaN or minus infinity.
pub(super) fn argmax(logits: &[f32]) -> Option<Candidate> {
    let mut best: Option<Candidate> = None;
    for (id, logit) in (0..).zip(logits) {
        if *logit > best.map_or(f32::NEG_INFINITY, |(_, logit)| logit) {
            best = Some((id, *logit));
        }
    }
    best
}

/// Fills the front of `scratch` with the tokens that stay and their weights (probabilities up to a common factor), in
/// the order of their ids. `largest` is the largest logit.
pub(super) fn candidates<'s>(
    settings: &Sampling,
    logits: &[f32],
    largest: f32,
    scratch: &'s mut [Candidate],
) -> &'s [Candidate] {
    let weight = |logit: f32| weight_of(logit, largest, settings.temperature);
    // The largest has weight 1, so `min_p` compares as it is. Without it everything of a weight above 0 stays.
    let cut = finite(largest) + settings.temperature * settings.min_p.ln().max(-87.0);
    let top_k = usize::try_from(settings.top_k).unwrap_or(usize::MAX);
    let selects = (1..logits.len()).contains(&top_k);
    let mut kept = if selects { most_likely(logits, cut, top_k, scratch) } else { all(logits, cut, scratch) };
    if settings.top_p < 1.0 {
        kept = nucleus(kept, f64::from(settings.top_p) * total(logits, weight), weight);
    }
    if selects || settings.top_p < 1.0 {
        // Selection leaves an order that belongs to the library's version; the draw walks in this order.
        kept.sort_unstable_by_key(|(id, _)| *id);
    }
    for (_, logit) in kept.iter_mut() {
        *logit = weight(*logit);
    }
    kept
}

/// Draws a token by weight; `uniform` is in [0, 1).
pub(super) fn draw(candidates: &[Candidate], uniform: f64) -> Option<u32> {
    let total: f64 = candidates.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let mut left = uniform * total;
    for (id, weight) in candidates {
        left -= f64::from(*weight);
        if left < 0.0 {
            return Some(*id);
        }
    }
    // Rounding left a crumb.
    candidates.last().map(|(id, _)| *id)
}

/// exp((logit - largest) / temperature), 0 for NaN. Infinity counts as the largest number, so that infinite logits are
/// equal. Without a branch, so that it is vectorised.
#[inline]
fn weight_of(logit: f32, largest: f32, temperature: f32) -> f32 {
    exp((finite(logit) - finite(largest)) / temperature)
}

/// The number itself, or the largest for infinity. `f32::min` would turn NaN into a number.
#[inline]
fn finite(logit: f32) -> f32 {
    if logit > f32::MAX { f32::MAX } else { logit }
}

/// Sum of all weights, in a fixed order. Weights first and sums after, so that the first part is vectorised.
fn total(logits: &[f32], weight: impl Fn(f32) -> f32) -> f64 {
    let mut weights = [0.0_f32; 256];
    let mut sum = 0.0;
    for chunk in logits.chunks(weights.len()) {
        for (weight_of_one, logit) in weights.iter_mut().zip(chunk) {
            *weight_of_one = weight(*logit);
        }
        sum += weights.iter().take(chunk.len()).map(|weight| f64::from(*weight)).sum::<f64>();
    }
    sum
}

/// More likely first; of equals the lower id first.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that sorting and selecting call for")]
fn descending(a: &Candidate, b: &Candidate) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Every token with a logit of at least `cut`.
fn all<'s>(logits: &[f32], cut: f32, scratch: &'s mut [Candidate]) -> &'s mut [Candidate] {
    let mut kept = 0_usize;
    for (id, logit) in (0_u32..).zip(logits) {
        if *logit >= cut
            && let Some(slot) = scratch.get_mut(kept)
        {
            *slot = (id, *logit);
            kept = kept.saturating_add(1);
        }
    }
    scratch.get_mut(..kept).unwrap_or_default()
}

/// The `k` most likely of the tokens with a logit of at least `cut`. Collects a few times `k`, cuts back to `k`, and
/// from then on needs only what is above the last of these: one pass over the vocabulary and few comparisons more.
fn most_likely<'s>(logits: &[f32], cut: f32, k: usize, scratch: &'s mut [Candidate]) -> &'s mut [Candidate] {
    let room = k.saturating_mul(4).max(FIRST_BATCH).min(scratch.len());
    let Some(scratch) = scratch.get_mut(..room) else { return &mut [] };
    let (mut cut, mut kept) = (cut, 0_usize);
    let mut full = false;
    for (id, logit) in (0_u32..).zip(logits) {
        // Once `k` are there an equal logit loses: its id is higher.
        let enters = if full { *logit > cut } else { *logit >= cut };
        if !enters {
            continue;
        }
        if let Some(slot) = scratch.get_mut(kept) {
            *slot = (id, *logit);
            kept = kept.saturating_add(1);
        }
        if kept == room && kept > k {
            let (_, last, _) = scratch.select_nth_unstable_by(k.saturating_sub(1), descending);
            (cut, kept, full) = (last.1, k, true);
        }
    }
    let collected = scratch.get_mut(..kept).unwrap_or_default();
    if kept > k {
        collected.select_nth_unstable_by(k.saturating_sub(1), descending);
    }
    collected.get_mut(..k.min(kept)).unwrap_or_default()
}

/// The most likely of `candidates`, given as logits, until their weights reach `mass`; at least one. Halves its way to
/// the last one, so that a flat distribution costs no full sort either.
fn nucleus(candidates: &mut [Candidate], mass: f64, weight: impl Fn(f32) -> f32) -> &mut [Candidate] {
    let sum = |part: &[Candidate]| part.iter().map(|(_, logit)| f64::from(weight(*logit))).sum::<f64>();
    // All before `low` stay; the last one is before `high`.
    let (mut low, mut high, mut left) = (0, candidates.len(), mass);
    let mut batch = FIRST_BATCH;
    while let Some(open) = candidates.get_mut(low..high)
        && open.len() > FIRST_BATCH
    {
        let middle = batch.min(open.len() / 2);
        let (front, _, _) = open.select_nth_unstable_by(middle, descending);
        let weights = sum(front);
        if weights < left {
            left -= weights;
            low = low.saturating_add(middle);
            batch = batch.saturating_mul(8);
        } else {
            high = low.saturating_add(middle);
        }
    }
    let open = candidates.get_mut(low..high).unwrap_or_default();
    open.sort_unstable_by(descending);
    for (_, logit) in open.iter() {
        low = low.saturating_add(1);
        left -= f64::from(weight(*logit));
        if left <= 0.0 {
            break;
        }
    }
    candidates.get_mut(..low).unwrap_or_default()
}
