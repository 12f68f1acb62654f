//! Functions of f32 slices.

use std::arch::x86_64::{
    __m256, _CMP_GT_OQ, _MM_FROUND_TO_NEAREST_INT, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps,
    _mm_movehl_ps, _mm_storeu_si128, _mm256_add_epi32, _mm256_add_ps, _mm256_blendv_ps, _mm256_castps256_ps128,
    _mm256_castsi256_ps, _mm256_cmp_ps, _mm256_cvtps_epi32, _mm256_cvtps_ph, _mm256_div_ps, _mm256_extractf128_ps,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps, _mm256_round_ps,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_slli_epi32, _mm256_storeu_ps, _mm256_sub_ps,
};

use half::f16;

use crate::elementwise::{GELU_CUBIC, SQRT_2_OVER_PI};

/// `exp(x)`, with a relative error of at most 3e-7 in -87.3..=88.3; infinity above, and 0 below.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn exp(x: __m256) -> __m256 {
    let lowest = _mm256_set1_ps(-87.3);
    let clamped = _mm256_min_ps(_mm256_max_ps(x, lowest), _mm256_set1_ps(88.7));
    let n = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | 8 }>(_mm256_mul_ps(
        clamped,
        _mm256_set1_ps(std::f32::consts::LOG2_E),
    ));
    // ln 2 in two parts, so that n * ln 2 loses nothing.
    let r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693_145_75), clamped);
    let r = _mm256_fnmadd_ps(n, _mm256_set1_ps(1.428_606_8e-6), r);
    // Taylor's series of exp on |r| <= ln 2 / 2: the next term is below 2^-24.
    let mut p = _mm256_set1_ps(1.0 / 720.0);
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(coefficient));
    }
    let power = _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)));
    let result = _mm256_mul_ps(p, _mm256_castsi256_ps(power));
    _mm256_blendv_ps(_mm256_setzero_ps(), result, _mm256_cmp_ps::<_CMP_GT_OQ>(x, lowest))
}

/// `x / (1 + exp(-t))`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn times_sigmoid(x: __m256, t: __m256) -> __m256 {
    let e = exp(_mm256_sub_ps(_mm256_setzero_ps(), t));
    _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0), e))
}

/// `tanh(x)`, with an absolute error of at most 3e-7.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn tanh(x: __m256) -> __m256 {
    let one = _mm256_set1_ps(1.0);
    let e = exp(_mm256_add_ps(x, x));
    _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2.0), _mm256_add_ps(e, one)))
}

/// Sum of the 8 lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn sum(v: __m256) -> f32 {
    let half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)))
}

/// Up to 8 values, padded with zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_part(x: &[f32]) -> __m256 {
    let mut part = [0.0; 8];
    part[..x.len()].copy_from_slice(x);
    // SAFETY: 8 values.
    unsafe { _mm256_loadu_ps(part.as_ptr()) }
}

/// Replaces `x[i]` by `f(x[i], y[i])`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn zip(x: &mut [f32], y: &[f32], f: impl Fn(__m256, __m256) -> __m256) {
    let whole = x.len().min(y.len()) / 8 * 8;
    for i in (0..whole).step_by(8) {
        // SAFETY: `i + 8` is within both slices.
        unsafe {
            let value = f(_mm256_loadu_ps(x.as_ptr().add(i)), _mm256_loadu_ps(y.as_ptr().add(i)));
            _mm256_storeu_ps(x.as_mut_ptr().add(i), value);
        }
    }
    let (x, y) = (&mut x[whole..], &y[whole..]);
    let mut part = [0.0; 8];
    // SAFETY: 8 values.
    unsafe { _mm256_storeu_ps(part.as_mut_ptr(), f(load_part(x), load_part(&y[..x.len()]))) };
    x.copy_from_slice(&part[..x.len()]);
}

/// `gate[i] = silu(gate[i]) * up[i]`. Relative error at most 1e-6, or 1e-35 absolute.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn silu_mul(gate: &mut [f32], up: &[f32]) {
    zip(gate, up, |gate, up| _mm256_mul_ps(times_sigmoid(gate, gate), up));
}

/// `gate[i] = gelu(gate[i]) * up[i]`. `(1 + tanh(u)) / 2` is the sigmoid of `2u`, which does not cancel.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn gelu_tanh_mul(gate: &mut [f32], up: &[f32]) {
    zip(gate, up, |x, up| {
        let square = _mm256_mul_ps(x, x);
        let linear = _mm256_set1_ps(2.0 * SQRT_2_OVER_PI);
        let cubic = _mm256_set1_ps(2.0 * SQRT_2_OVER_PI * GELU_CUBIC);
        let t = _mm256_mul_ps(x, _mm256_fmadd_ps(square, cubic, linear));
        _mm256_mul_ps(times_sigmoid(x, t), up)
    });
}

/// `x[i] = cap * tanh(x[i] / cap)`.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn softcap(x: &mut [f32], cap: f32) {
    let (factor, inverse) = (_mm256_set1_ps(cap), _mm256_set1_ps(1.0 / cap));
    let whole = x.len() / 8 * 8;
    let (x, rest) = x.split_at_mut(whole);
    for x in x.chunks_exact_mut(8) {
        // SAFETY: 8 values.
        unsafe {
            let value = _mm256_mul_ps(factor, tanh(_mm256_mul_ps(_mm256_loadu_ps(x.as_ptr()), inverse)));
            _mm256_storeu_ps(x.as_mut_ptr(), value);
        }
    }
    for x in rest {
        *x = cap * (*x / cap).tanh();
    }
}

/// Sum of squares, in 4 x 8 partial sums.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn sum_of_squares(x: &[f32]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); 4];
    let mut chunks = x.chunks_exact(32);
    for chunk in &mut chunks {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the chunk holds 32 values.
            let value = unsafe { _mm256_loadu_ps(chunk.as_ptr().add(8 * i)) };
            *sum = _mm256_fmadd_ps(value, value, *sum);
        }
    }
    let rest: f32 = chunks.remainder().iter().map(|x| x * x).sum();
    sum(_mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]))) + rest
}

/// Rounds to half precision, ties to even. `to` holds 2 bytes for each value.
#[target_feature(enable = "avx2,f16c")]
pub(crate) fn to_half(from: &[f32], to: &mut [u8]) {
    assert_eq!(to.len(), 2 * from.len());
    let (mut values, mut bytes) = (from.chunks_exact(8), to.chunks_exact_mut(16));
    for (value, bytes) in (&mut values).zip(&mut bytes) {
        // SAFETY: 8 values and 16 bytes.
        unsafe {
            let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(value.as_ptr()));
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), half);
        }
    }
    for (value, bytes) in values.remainder().iter().zip(bytes.into_remainder().chunks_exact_mut(2)) {
        bytes.copy_from_slice(&f16::from_f32(*value).to_le_bytes());
    }
}
