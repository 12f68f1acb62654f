//! Root-mean-square normalisation.

use crate::level::Level;

/// `out[r] = x[r] / sqrt(mean(x[r]^2) + epsilon) * weight`, for each row of `weight.len()` values.
///
/// A row is a token, or one head of a token.
///
/// # Panics
/// When `x` and `out` differ in length or are not whole rows.
pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    assert!(x.len() == out.len() && x.len().is_multiple_of(weight.len()), "{} of {}", x.len(), weight.len());
    for (x, out) in x.chunks_exact(weight.len()).zip(out.chunks_exact_mut(weight.len())) {
        let factor = inverse_rms(x, epsilon);
        for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
            *out = x * factor * weight;
        }
    }
}

/// As [`rms_norm`], in place.
pub fn rms_norm_in_place(x: &mut [f32], weight: &[f32], epsilon: f32) {
    assert!(x.len().is_multiple_of(weight.len()), "{} of {}", x.len(), weight.len());
    for x in x.chunks_exact_mut(weight.len()) {
        let factor = inverse_rms(x, epsilon);
        for (x, weight) in x.iter_mut().zip(weight) {
            *x = *x * factor * weight;
        }
    }
}

fn inverse_rms(x: &[f32], epsilon: f32) -> f32 {
    1.0 / (sum_of_squares(x) / x.len() as f32 + epsilon).sqrt()
}

fn sum_of_squares(x: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if Level::detected() >= Level::Avx2 {
        // SAFETY: the level says that the instructions exist.
        return unsafe { crate::cpu::avx2::sum_of_squares(x) };
    }
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests;
