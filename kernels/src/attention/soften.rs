//! The online softmax of one row.

use super::AttentionSpec;
use crate::cpu::avx2;

/// Turns one row's scores of a page into weights, of which only `from..to` are not 0, and rescales what the row has
/// summed so far.
pub(super) fn soften(
    spec: &AttentionSpec,
    scores: &mut [f32],
    from: usize,
    to: usize,
    (largest, total): (&mut f32, &mut f32),
    output: &mut [f32],
) {
    if from >= to {
        scores.fill(0.0);
        return;
    }
    if let Some(cap) = spec.softcap {
        // SAFETY: attention chose this path because the instructions exist.
        unsafe { avx2::softcap_row(scores, cap) };
    }
    scores[..from].fill(f32::NEG_INFINITY);
    scores[to..].fill(f32::NEG_INFINITY);
    let highest = scores[from..to].iter().fold(*largest, |highest, score| highest.max(*score));
    if highest > *largest {
        let rescale = (*largest - highest).exp();
        *largest = highest;
        *total *= rescale;
        if rescale == 0.0 {
            output.fill(0.0);
        } else {
            for output in output {
                *output *= rescale;
            }
        }
    }
    // SAFETY: as above.
    *total += unsafe { avx2::exp_row(scores, highest) };
}
