//! Penalties for tokens that were seen before.

use super::Sampling;

/// Lowers the logits of tokens in the last `penalty_last_n` of `history`. `scratch` holds the window, sorted, so that
/// each token is counted without a table.
pub(super) fn apply(settings: &Sampling, logits: &mut [f32], scratch: &mut [(u32, f32)], history: &[u32]) {
    let changes =
        settings.repetition_penalty != 1.0 || settings.presence_penalty != 0.0 || settings.frequency_penalty != 0.0;
    if !changes {
        return;
    }
    let wanted = usize::try_from(settings.penalty_last_n).unwrap_or(usize::MAX).min(scratch.len());
    let from = history.len().saturating_sub(wanted);
    let window = history.get(from..).unwrap_or_default();
    let Some(seen) = scratch.get_mut(..window.len()) else {
        return;
    };
    for (slot, id) in seen.iter_mut().zip(window) {
        slot.0 = *id;
    }
    seen.sort_unstable_by_key(|(id, _)| *id);
    for run in seen.chunk_by(|(a, _), (b, _)| a == b) {
        let Some(logit) = run.first().and_then(|(id, _)| logits.get_mut(*id as usize)) else {
            continue;
        };
        *logit = if *logit > 0.0 { *logit / settings.repetition_penalty } else { *logit * settings.repetition_penalty };
        *logit -= settings.presence_penalty + settings.frequency_penalty * count_as_f32(run.len());
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of tokens in a window; beyond 2^24 the loss does not matter")]
fn count_as_f32(count: usize) -> f32 {
    count as f32
}
