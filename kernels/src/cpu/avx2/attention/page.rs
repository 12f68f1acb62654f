//! Reading f16 pages into f32 tiles.

use std::arch::x86_64::{
    __m256, _mm_loadu_si128, _mm256_cvtph_ps, _mm256_permute2f128_ps, _mm256_shuffle_ps, _mm256_storeu_ps,
    _mm256_unpackhi_ps, _mm256_unpacklo_ps,
};

use crate::kv::KV_PAGE_TOKENS;

/// Widens f16 to f32; `to.len()` is a multiple of 8.
///
/// # Panics
/// When `from` is shorter than 2 bytes a value, or `to` is not whole vectors.
#[target_feature(enable = "avx2,f16c")]
pub(crate) fn widen(from: &[u8], to: &mut [f32]) {
    assert!(to.len().is_multiple_of(8) && from.len() >= 2 * to.len());
    for (from, to) in from.chunks_exact(16).zip(to.chunks_exact_mut(8)) {
        // SAFETY: 16 bytes and 8 values.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast()))) };
    }
}

/// Widens keys `[64][dim]` f16 and turns them round to `[dim][64]` f32. Only the first `keys`, rounded up to 8, are
/// read and written.
///
/// # Panics
/// When `dim` is not a multiple of 8 or a slice is not a page's.
#[target_feature(enable = "avx2,f16c")]
pub(crate) fn transpose_keys(from: &[u8], dim: usize, keys: usize, to: &mut [f32]) {
    assert!(dim.is_multiple_of(8) && keys <= KV_PAGE_TOKENS);
    assert!(from.len() == 2 * KV_PAGE_TOKENS * dim && to.len() == KV_PAGE_TOKENS * dim);
    for key in (0..keys).step_by(8) {
        for column in (0..dim).step_by(8) {
            // SAFETY: 8 keys of 8 columns are within the page, and so are their places in `to`.
            unsafe {
                let at = |i: usize| from.as_ptr().add(2 * ((key + i) * dim + column)).cast();
                let rows: [__m256; 8] = std::array::from_fn(|i| _mm256_cvtph_ps(_mm_loadu_si128(at(i))));
                for (i, row) in transpose(rows).into_iter().enumerate() {
                    _mm256_storeu_ps(to.as_mut_ptr().add((column + i) * KV_PAGE_TOKENS + key), row);
                }
            }
        }
    }
}

/// Rows become columns.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(r: [__m256; 8]) -> [__m256; 8] {
    let low = |i: usize| _mm256_unpacklo_ps(r[i], r[i + 1]);
    let high = |i: usize| _mm256_unpackhi_ps(r[i], r[i + 1]);
    let pairs = [low(0), high(0), low(2), high(2), low(4), high(4), low(6), high(6)];
    let quad = |a: usize, b: usize| {
        [_mm256_shuffle_ps::<0x44>(pairs[a], pairs[b]), _mm256_shuffle_ps::<0xEE>(pairs[a], pairs[b])]
    };
    let ([a, b], [c, d], [e, f], [g, h]) = (quad(0, 2), quad(1, 3), quad(4, 6), quad(5, 7));
    [
        _mm256_permute2f128_ps::<0x20>(a, e),
        _mm256_permute2f128_ps::<0x20>(b, f),
        _mm256_permute2f128_ps::<0x20>(c, g),
        _mm256_permute2f128_ps::<0x20>(d, h),
        _mm256_permute2f128_ps::<0x31>(a, e),
        _mm256_permute2f128_ps::<0x31>(b, f),
        _mm256_permute2f128_ps::<0x31>(c, g),
        _mm256_permute2f128_ps::<0x31>(d, h),
    ]
}
