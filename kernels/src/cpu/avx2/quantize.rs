//! Activations to int8.

use std::arch::x86_64::{
    __m256, __m256i, _mm_cvtsi128_si32, _mm_cvtss_f32, _mm_max_ps, _mm_max_ss, _mm_movehdup_ps, _mm_movehl_ps,
    _mm256_andnot_ps, _mm256_castps256_ps128, _mm256_castsi256_si128, _mm256_cvtepi32_ps, _mm256_cvtps_epi32,
    _mm256_extractf128_ps, _mm256_extracti128_si256, _mm256_hadd_epi32, _mm256_loadu_ps, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_max_ps, _mm256_mul_ps, _mm256_packs_epi16, _mm256_packs_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setr_epi32,
    _mm256_storeu_si256, _mm256_sub_ps,
};

use crate::activations::{PLANES, ROW_GROUP_BYTES, SMALLEST};
use crate::weight_type::GROUP;

/// Quantizes one token into its rows, from `row` on, of a tile of `width` rows; the same bits as the portable
/// definition.
///
/// # Panics
/// When `out` is not the tile of `width` rows of `values.len()` columns.
#[target_feature(enable = "avx2")]
pub(crate) fn quantize_token(values: &[f32], width: usize, row: usize, out: &mut [u8]) {
    assert!(row + PLANES <= width && out.len() == values.len() / GROUP * width * ROW_GROUP_BYTES);
    for (x, out) in values.chunks_exact(GROUP).zip(out.chunks_exact_mut(width * ROW_GROUP_BYTES)) {
        // SAFETY: 32 values.
        let mut left = unsafe { [0, 8, 16, 24].map(|i| _mm256_loadu_ps(x.as_ptr().add(i))) };
        for plane in 0..PLANES {
            left = quantize_group(left, width, row + plane, out);
        }
    }
}

/// One group of one row; returns what the codes leave.
#[inline]
#[target_feature(enable = "avx2")]
fn quantize_group(v: [__m256; 4], width: usize, row: usize, out: &mut [u8]) -> [__m256; 4] {
    let sign = _mm256_set1_ps(-0.0);
    let magnitude = v.map(|v| _mm256_andnot_ps(sign, v));
    let m = _mm256_max_ps(_mm256_max_ps(magnitude[0], magnitude[1]), _mm256_max_ps(magnitude[2], magnitude[3]));
    let m = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps::<1>(m));
    let m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    let largest = _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
    let (d, inverse) = if largest > SMALLEST { (largest / 127.0, 127.0 / largest) } else { (0.0, 0.0) };
    let (step, inverse) = (_mm256_set1_ps(d), _mm256_set1_ps(inverse));
    let codes = v.map(|v| _mm256_cvtps_epi32(_mm256_mul_ps(v, inverse)));
    let left = [0, 1, 2, 3].map(|i| _mm256_sub_ps(v[i], _mm256_mul_ps(step, _mm256_cvtepi32_ps(codes[i]))));
    let codes = _mm256_packs_epi16(_mm256_packs_epi32(codes[0], codes[1]), _mm256_packs_epi32(codes[2], codes[3]));
    // Packing works within 128-bit lanes; this puts the columns back in order.
    let codes = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    let sums = half_sums(codes);
    let header = [d, d * (sums[0] + sums[1]) as f32, d * sums[0] as f32, d * sums[1] as f32];
    let mut bytes = [0_u8; GROUP];
    // SAFETY: 32 bytes.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), codes) };
    for (field, value) in header.into_iter().enumerate() {
        out[(field * width + row) * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    for (j, four) in bytes.chunks_exact(4).enumerate() {
        out[16 * width + (j * width + row) * 4..][..4].copy_from_slice(four);
    }
    left
}

/// Sums of the first and the last 16 codes.
#[inline]
#[target_feature(enable = "avx2")]
fn half_sums(codes: __m256i) -> [i32; 2] {
    let pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), codes);
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    let eights = _mm256_hadd_epi32(fours, fours);
    let sums = _mm256_hadd_epi32(eights, eights);
    [_mm_cvtsi128_si32(_mm256_castsi256_si128(sums)), _mm_cvtsi128_si32(_mm256_extracti128_si256::<1>(sums))]
}
