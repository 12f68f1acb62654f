//! Which tokens stay, and the draw among them.

use std::cmp::Ordering;

use super::Sampling;

/// First and smallest batch that top-p sorts; most distributions reach their mass within it.
const FIRST_BATCH: usize = 64;

/// The largest logit and its token: the lowest id of equals. `None` if all are NaN or minus infinity.
pub(super) fn argmax(logits: &[f32]) -> Option<(u32, f32)> {
    let mut best: Option<(u32, f32)> = None;
    for (id, logit) in (0..).zip(logits) {
        if *logit > best.map_or(f32::NEG_INFINITY, |(_, logit)| logit) {
            best = Some((id, *logit));
        }
    }
    best
}

/// Fills the front of `scratch` with the tokens that stay and their weights: probabilities up to a common factor.
/// `largest` is the largest logit.
pub(super) fn candidates<'s>(
    settings: &Sampling,
    logits: &[f32],
    largest: f32,
    scratch: &'s mut [(u32, f32)],
) -> &'s [(u32, f32)] {
    let weight = |logit: f32| weight_of(logit, largest, settings.temperature);
    let (mut mass, mut kept) = (0.0_f64, 0_usize);
    for (id, logit) in (0_u32..).zip(logits) {
        let weight = weight(*logit);
        mass += f64::from(weight);
        // The most likely token has weight 1, so `min_p` compares as it is.
        if weight > 0.0
            && weight >= settings.min_p
            && let Some(slot) = scratch.get_mut(kept)
        {
            *slot = (id, *logit);
            kept = kept.saturating_add(1);
        }
    }
    let mut kept = top_k(scratch.get_mut(..kept).unwrap_or_default(), settings.top_k);
    if settings.top_p < 1.0 {
        kept = top_p(kept, f64::from(settings.top_p) * mass, weight);
    }
    for (_, logit) in kept.iter_mut() {
        *logit = weight(*logit);
    }
    kept
}

/// Draws a token by weight; `uniform` is in [0, 1).
pub(super) fn draw(candidates: &[(u32, f32)], uniform: f64) -> Option<u32> {
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

/// exp((logit - largest) / temperature), 0 for NaN. Equal infinities count as equal.
fn weight_of(logit: f32, largest: f32, temperature: f32) -> f32 {
    if logit == largest {
        return 1.0;
    }
    let weight = ((logit - largest) / temperature).exp();
    if weight.is_nan() { 0.0 } else { weight }
}

/// More likely first; of equals the lower id first.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that sorting and selecting call for")]
fn descending(a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

fn top_k(candidates: &mut [(u32, f32)], k: u32) -> &mut [(u32, f32)] {
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    if k == 0 || k >= candidates.len() {
        return candidates;
    }
    candidates.select_nth_unstable_by(k, descending);
    // The order within must not depend on the library's selection: the draw walks in this order.
    let kept = candidates.get_mut(..k).unwrap_or_default();
    kept.sort_unstable_by(descending);
    kept
}

/// The most likely of `candidates`, given as logits, until their weights reach `mass`; at least one. Sorts only as far as needed: one batch
/// after the other, each four times as large.
fn top_p(candidates: &mut [(u32, f32)], mass: f64, weight: impl Fn(f32) -> f32) -> &mut [(u32, f32)] {
    let (mut sorted, mut batch, mut sum) = (0_usize, FIRST_BATCH, 0.0_f64);
    while sorted < candidates.len() {
        let rest = candidates.get_mut(sorted..).unwrap_or_default();
        if batch < rest.len() {
            rest.select_nth_unstable_by(batch, descending);
        }
        let len = rest.len().min(batch);
        let front = rest.get_mut(..len).unwrap_or_default();
        front.sort_unstable_by(descending);
        for (index, (_, logit)) in front.iter().enumerate() {
            sum += f64::from(weight(*logit));
            if sum >= mass {
                let end = sorted.saturating_add(index).saturating_add(1);
                return candidates.get_mut(..end).unwrap_or_default();
            }
        }
        sorted = sorted.saturating_add(len);
        batch = batch.saturating_mul(4);
    }
    candidates
}
