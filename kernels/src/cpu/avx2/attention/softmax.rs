//! Scores of one query in one page.

use std::arch::x86_64::{
    _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm256_sub_ps,
};

use crate::cpu::avx2::float::{exp, sum, tanh};

/// Replaces scores by `exp(score - largest)` and returns their sum. The length is a multiple of 8; a score of
/// negative infinity gives 0.
///
/// # Panics
/// When the length is not a multiple of 8.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn exp_row(scores: &mut [f32], largest: f32) -> f32 {
    assert!(scores.len().is_multiple_of(8));
    let largest = _mm256_set1_ps(largest);
    let mut total = _mm256_setzero_ps();
    for scores in scores.chunks_exact_mut(8) {
        // SAFETY: 8 values.
        unsafe {
            let weight = exp(_mm256_sub_ps(_mm256_loadu_ps(scores.as_ptr()), largest));
            _mm256_storeu_ps(scores.as_mut_ptr(), weight);
            total = _mm256_add_ps(total, weight);
        }
    }
    sum(total)
}

/// Replaces scores by `cap * tanh(score / cap)`. The length is a multiple of 8.
///
/// # Panics
/// When the length is not a multiple of 8.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn softcap_row(scores: &mut [f32], cap: f32) {
    assert!(scores.len().is_multiple_of(8));
    let (factor, inverse) = (_mm256_set1_ps(cap), _mm256_set1_ps(1.0 / cap));
    for scores in scores.chunks_exact_mut(8) {
        // SAFETY: 8 values.
        unsafe {
            let capped = _mm256_mul_ps(factor, tanh(_mm256_mul_ps(_mm256_loadu_ps(scores.as_ptr()), inverse)));
            _mm256_storeu_ps(scores.as_mut_ptr(), capped);
        }
    }
}
