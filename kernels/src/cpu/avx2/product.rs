//! Panels of 16- and 32-bit weights times f32 activations.

use std::arch::x86_64::{
    __m256, _mm_loadu_si128, _mm256_add_ps, _mm256_broadcast_ss, _mm256_castsi256_ps, _mm256_cvtepu16_epi32,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_slli_epi32, _mm256_storeu_ps,
};

use crate::weight_type::PANEL_ROWS;

/// Most tokens of one call.
pub(crate) const FLOAT_TOKENS: usize = 6;

/// Results: `[token][row]`.
pub(crate) type FloatSums = [[f32; PANEL_ROWS]; FLOAT_TOKENS];

/// A 16- or 32-bit type as the kernel reads it.
pub(crate) trait Values {
    /// Bytes of a value.
    const BYTES: usize;

    /// One column of a panel: 8 rows.
    ///
    /// # Safety
    /// AVX2 and F16C exist and `at` is a column of a panel.
    unsafe fn column(at: *const u8) -> __m256;
}

/// [`crate::WeightType::F32`].
pub(crate) struct F32;
/// [`crate::WeightType::F16`].
pub(crate) struct F16;
/// [`crate::WeightType::Bf16`].
pub(crate) struct Bf16;

impl Values for F32 {
    const BYTES: usize = 4;
    #[inline(always)]
    unsafe fn column(at: *const u8) -> __m256 {
        // SAFETY: by the caller.
        unsafe { _mm256_loadu_ps(at.cast()) }
    }
}

impl Values for F16 {
    const BYTES: usize = 2;
    #[inline(always)]
    unsafe fn column(at: *const u8) -> __m256 {
        // SAFETY: by the caller.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
    }
}

impl Values for Bf16 {
    const BYTES: usize = 2;
    #[inline(always)]
    unsafe fn column(at: *const u8) -> __m256 {
        // SAFETY: by the caller.
        unsafe {
            let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(at.cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
        }
    }
}

/// `W` tokens, with `U` columns in flight for each.
#[inline(always)]
unsafe fn sums<V: Values, const W: usize, const U: usize>(panel: &[u8], x: &[f32], cols: usize, out: &mut FloatSums) {
    assert!(x.len() == W * cols && panel.len() == cols * PANEL_ROWS * V::BYTES);
    // SAFETY: columns and tokens are within their slices by the assertion.
    unsafe {
        let mut sums = [[_mm256_setzero_ps(); U]; W];
        let column = |c: usize| V::column(panel.as_ptr().add(c * PANEL_ROWS * V::BYTES));
        let step = |c: usize, u: usize, sums: &mut [[__m256; U]; W]| {
            let weights = column(c);
            for (t, sums) in sums.iter_mut().enumerate() {
                let x = _mm256_broadcast_ss(&*x.as_ptr().add(t * cols + c));
                sums[u] = _mm256_fmadd_ps(weights, x, sums[u]);
            }
        };
        for c in (0..cols / U * U).step_by(U) {
            for u in 0..U {
                step(c + u, u, &mut sums);
            }
        }
        for c in cols / U * U..cols {
            step(c, 0, &mut sums);
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            let sum = sums.into_iter().reduce(|a, b| _mm256_add_ps(a, b));
            _mm256_storeu_ps(out.as_mut_ptr(), sum.unwrap_or(_mm256_setzero_ps()));
        }
    }
}

/// `out[t][r]` = row `r` of the panel times token `t` of `x` `[tokens, cols]`, for 1 to 6 tokens.
///
/// # Safety
/// AVX2, FMA and F16C exist.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) unsafe fn multiply_floats<V: Values>(panel: &[u8], x: &[f32], cols: usize, out: &mut FloatSums) {
    // SAFETY: by the caller; the lengths are asserted there.
    unsafe {
        match x.len() / cols {
            1 => sums::<V, 1, 8>(panel, x, cols, out),
            2 => sums::<V, 2, 4>(panel, x, cols, out),
            3 => sums::<V, 3, 2>(panel, x, cols, out),
            4 => sums::<V, 4, 2>(panel, x, cols, out),
            5 => sums::<V, 5, 2>(panel, x, cols, out),
            _ => sums::<V, 6, 2>(panel, x, cols, out),
        }
    }
}
