//! Expanding groups of a panel to bytes and f32 scales, for use with many tokens.

use std::arch::x86_64::{
    _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_ps, _mm256_storeu_ps, _mm256_storeu_si256, _mm256_xor_si256,
};
use std::ops::Range;

use super::codes::{Codes, scale_vectors};

/// Bytes of one expanded group of `lanes` panels side by side.
pub(crate) const fn expanded_bytes<C: Codes>(lanes: usize) -> usize {
    lanes * 32 * (scale_vectors::<C>() + 8)
}

/// Expands `groups` of `panel` to `out`: for each group the scale vectors and the 8 code vectors (columns `4j..`),
/// each vector `lanes` panels wide, this one in place `lane`. `UNSIGNED` makes signed codes unsigned by adding 128.
///
/// # Safety
/// AVX2, FMA and F16C exist; `panel` is one of the type; `out` holds the groups; `lane < lanes`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) unsafe fn expand<C: Codes, const UNSIGNED: bool>(
    panel: &[u8],
    groups: Range<usize>,
    lanes: usize,
    lane: usize,
    out: &mut [u8],
) {
    let bytes = expanded_bytes::<C>(lanes);
    assert!(out.len() >= bytes * groups.len() && lane < lanes);
    assert!(groups.end.div_ceil(C::LAYOUT.groups) * C::LAYOUT.block <= panel.len());
    for (group, out) in groups.zip(out.chunks_exact_mut(bytes)) {
        let (block, start) = C::LAYOUT.place(group);
        // SAFETY: the group is inside the panel and `out` holds one group, by the assertions.
        unsafe {
            let start = panel.as_ptr().add(start);
            let mut scales = C::scales(C::header(panel.as_ptr().add(block)), start);
            if UNSIGNED && C::SIGNED {
                scales.m = scales.d.map(|d| _mm256_mul_ps(d, _mm256_set1_ps(-128.0)));
            }
            let place = |index: usize| out.as_ptr().cast_mut().add(32 * (index * lanes + lane));
            if C::HALVES {
                for (index, v) in [scales.d[0], scales.d[1], scales.m[0], scales.m[1]].into_iter().enumerate() {
                    _mm256_storeu_ps(place(index).cast(), v);
                }
            } else {
                _mm256_storeu_ps(place(0).cast(), scales.d[0]);
                _mm256_storeu_ps(place(1).cast(), scales.m[0]);
            }
            let codes = [C::codes::<0>(start), C::codes::<1>(start), C::codes::<2>(start), C::codes::<3>(start)];
            for (j, pair) in codes.into_iter().enumerate() {
                for (half, v) in pair.into_iter().enumerate() {
                    let v = if UNSIGNED && C::SIGNED { _mm256_xor_si256(v, _mm256_set1_epi8(-128)) } else { v };
                    _mm256_storeu_si256(place(scale_vectors::<C>() + j + 4 * half).cast(), v);
                }
            }
        }
    }
}
