//! One query of each head of a group, straight from the f16 pages.

use std::arch::x86_64::{
    __m128, __m256, _mm_add_ps, _mm_loadu_si128, _mm_storeu_ps, _mm256_broadcast_ss, _mm256_castps256_ps128,
    _mm256_cvtph_ps, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_hadd_ps, _mm256_loadu_ps, _mm256_setzero_ps,
    _mm256_storeu_ps,
};

use crate::kv::KV_PAGE_TOKENS;

/// Keys that are read together.
const KEYS: usize = 4;

/// `scores[h][key] = query[h] . keys[key]` for the keys from `first` to below `last`, with up to 3 keys more on both
/// sides. `query` is `[heads][dim]`, `keys` a page `[64][dim]` of f16, `scores` `[heads][64]`.
///
/// # Panics
/// When `dim` is not a multiple of 8 or a slice has another length.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn key_dots(query: &[f32], keys: &[u8], dim: usize, first: usize, last: usize, scores: &mut [f32]) {
    let heads = query.len() / dim;
    assert!(dim.is_multiple_of(8) && query.len() == heads * dim && scores.len() == heads * KV_PAGE_TOKENS);
    assert!(keys.len() == 2 * KV_PAGE_TOKENS * dim && last <= KV_PAGE_TOKENS);
    for key in (first / KEYS * KEYS..last).step_by(KEYS) {
        let mut head = 0;
        while head < heads {
            // SAFETY: the keys are within the page and the heads within the queries, by the assertions.
            unsafe {
                let keys = keys.as_ptr().add(2 * key * dim);
                let query = query.as_ptr().add(head * dim);
                let scores = scores.as_mut_ptr().add(head * KV_PAGE_TOKENS + key);
                head += match heads - head {
                    1 => four_keys::<1>(query, keys, dim, scores),
                    2 | 4 => four_keys::<2>(query, keys, dim, scores),
                    _ => four_keys::<3>(query, keys, dim, scores),
                };
            }
        }
    }
}

/// `H` heads, 4 keys. Returns `H`.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn four_keys<const H: usize>(query: *const f32, keys: *const u8, dim: usize, scores: *mut f32) -> usize {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[_mm256_setzero_ps(); KEYS]; H];
        for column in (0..dim).step_by(8) {
            let key: [__m256; KEYS] = std::array::from_fn(|i| half_floats(keys.add(2 * (i * dim + column))));
            for h in 0..H {
                let query = _mm256_loadu_ps(query.add(h * dim + column));
                for i in 0..KEYS {
                    sums[h][i] = _mm256_fmadd_ps(query, key[i], sums[h][i]);
                }
            }
        }
        for h in 0..H {
            _mm_storeu_ps(scores.add(h * KV_PAGE_TOKENS), lane_sums(sums[h]));
        }
        H
    }
}

/// 8 f16.
#[inline]
#[target_feature(enable = "avx2,f16c")]
unsafe fn half_floats(at: *const u8) -> __m256 {
    // SAFETY: by the caller.
    unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
}

/// The sums of the lanes of four vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn lane_sums(v: [__m256; 4]) -> __m128 {
    let sums = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums))
}

/// `out[h] += sum of weights[h][key] * values[key]` over the keys from `first` to below `last`. `weights` is
/// `[heads][64]`, `values` a page `[64][dim]` of f16, `out` `[heads][dim]`.
///
/// # Panics
/// When `dim` is not a multiple of 16 or a slice has another length.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn value_sums(weights: &[f32], values: &[u8], dim: usize, first: usize, last: usize, out: &mut [f32]) {
    let heads = out.len() / dim;
    assert!(dim.is_multiple_of(16) && out.len() == heads * dim && weights.len() == heads * KV_PAGE_TOKENS);
    assert!(values.len() == 2 * KV_PAGE_TOKENS * dim && last <= KV_PAGE_TOKENS);
    for column in (0..dim).step_by(16) {
        let mut head = 0;
        while head < heads {
            // SAFETY: the columns are within the page and the heads within the outputs, by the assertions.
            unsafe {
                let values = values.as_ptr().add(2 * column);
                let weights = weights.as_ptr().add(head * KV_PAGE_TOKENS);
                let out = out.as_mut_ptr().add(head * dim + column);
                head += match heads - head {
                    1 => columns::<1>(weights, values, dim, first..last, out),
                    2 => columns::<2>(weights, values, dim, first..last, out),
                    3 => columns::<3>(weights, values, dim, first..last, out),
                    _ => columns::<4>(weights, values, dim, first..last, out),
                };
            }
        }
    }
}

/// `H` heads, 16 columns. Returns `H`.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn columns<const H: usize>(
    weights: *const f32,
    values: *const u8,
    dim: usize,
    keys: std::ops::Range<usize>,
    out: *mut f32,
) -> usize {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[_mm256_setzero_ps(); 2]; H];
        for key in keys {
            let at = values.add(2 * key * dim);
            let value = [half_floats(at), half_floats(at.add(16))];
            for h in 0..H {
                let weight = _mm256_broadcast_ss(&*weights.add(h * KV_PAGE_TOKENS + key));
                sums[h][0] = _mm256_fmadd_ps(weight, value[0], sums[h][0]);
                sums[h][1] = _mm256_fmadd_ps(weight, value[1], sums[h][1]);
            }
        }
        for h in 0..H {
            for half in 0..2 {
                let at = out.add(h * dim + 8 * half);
                let sum = std::arch::x86_64::_mm256_add_ps(_mm256_loadu_ps(at), sums[h][half]);
                _mm256_storeu_ps(at, sum);
            }
        }
        H
    }
}
