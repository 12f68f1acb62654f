//! One panel times a tile of 1 to 4 tokens.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_broadcast_ss, _mm256_cvtepi32_ps,
    _mm256_fmadd_ps, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_ps,
};

use super::codes::{Codes, Scales};
use crate::activations::{ROW_GROUP_BYTES, TILE};
use crate::weight_type::PANEL_ROWS;

/// Results of a tile: `[token][row]`.
pub(crate) type TileSums = [[f32; PANEL_ROWS]; TILE];

/// Integer dot products of a group.
pub(crate) trait Dot {
    /// The dot products take unsigned codes only: signed ones get 128 added, which `m = -128 d` takes back.
    const UNSIGNED: bool;

    /// Dot products of the 8 rows' first and last 16 columns with `W` tokens, whose codes are at `activations`.
    ///
    /// # Safety
    /// The instructions exist, `group` is one of a panel of `C`, `activations` are `[8][W][4]` bytes.
    unsafe fn dots<C: Codes, const W: usize>(group: *const u8, activations: *const u8) -> [[__m256i; 2]; W];
}

/// With AVX2.
pub(crate) struct MultiplyAdd;

impl Dot for MultiplyAdd {
    const UNSIGNED: bool = false;

    #[inline(always)]
    unsafe fn dots<C: Codes, const W: usize>(group: *const u8, activations: *const u8) -> [[__m256i; 2]; W] {
        // SAFETY: by the caller.
        unsafe {
            let zero = _mm256_setzero_si256();
            let mut sums = [[zero; 2]; W];
            let mut pairs = [[zero; 2]; W];
            step::<C, 0, W>(group, activations, &mut pairs, &mut sums);
            step::<C, 1, W>(group, activations, &mut pairs, &mut sums);
            step::<C, 2, W>(group, activations, &mut pairs, &mut sums);
            step::<C, 3, W>(group, activations, &mut pairs, &mut sums);
            sums
        }
    }
}

/// Columns `4J..` and `16 + 4J..`. Pairs of products stay in i16 as long as [`Codes::SUMS`] allows.
#[inline(always)]
unsafe fn step<C: Codes, const J: usize, const W: usize>(
    group: *const u8,
    activations: *const u8,
    pairs: &mut [[__m256i; 2]; W],
    sums: &mut [[__m256i; 2]; W],
) {
    // SAFETY: by the caller.
    unsafe {
        let ones = _mm256_set1_epi16(1);
        let codes = C::codes::<J>(group);
        for t in 0..W {
            for half in 0..2 {
                let four = activations.add(((J + 4 * half) * W + t) * 4).cast::<i32>().read_unaligned();
                let four = _mm256_set1_epi32(four);
                let products = if C::SIGNED {
                    _mm256_maddubs_epi16(_mm256_abs_epi8(codes[half]), _mm256_sign_epi8(four, codes[half]))
                } else {
                    _mm256_maddubs_epi16(codes[half], four)
                };
                // With room for all 8, both halves share one accumulator.
                let into = if C::SUMS == 8 { 0 } else { half };
                pairs[t][into] = _mm256_add_epi16(pairs[t][into], products);
                let full = match C::SUMS {
                    8 => J == 3 && half == 1,
                    4 => J == 3,
                    2 => J % 2 == 1,
                    _ => true,
                };
                if full {
                    sums[t][into] = _mm256_add_epi32(sums[t][into], _mm256_madd_epi16(pairs[t][into], ones));
                    pairs[t][into] = _mm256_setzero_si256();
                }
            }
        }
    }
}

/// Adds a group's dot products, scaled, to the sums of `W` tokens. `activations` is the group's header.
#[inline(always)]
unsafe fn accumulate<C: Codes, D: Dot, const W: usize>(
    dots: [[__m256i; 2]; W],
    scales: Scales,
    activations: *const u8,
    sums: &mut [__m256; W],
) {
    // SAFETY: by the caller.
    unsafe {
        let header = |field: usize, t: usize| _mm256_broadcast_ss(&*activations.cast::<f32>().add(field * W + t));
        for t in 0..W {
            let d = header(0, t);
            if C::HALVES {
                for half in 0..2 {
                    let factor = _mm256_mul_ps(scales.d[half], d);
                    sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[t][half]), factor, sums[t]);
                    sums[t] = _mm256_fmadd_ps(scales.m[half], header(2 + half, t), sums[t]);
                }
            } else {
                let dot = _mm256_cvtepi32_ps(_mm256_add_epi32(dots[t][0], dots[t][1]));
                sums[t] = _mm256_fmadd_ps(dot, _mm256_mul_ps(scales.d[0], d), sums[t]);
                if !C::SIGNED || D::UNSIGNED {
                    sums[t] = _mm256_fmadd_ps(scales.m[0], header(1, t), sums[t]);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn sums<C: Codes, D: Dot, const W: usize>(panel: &[u8], tile: &[u8], out: &mut TileSums) {
    let groups = tile.len() / (ROW_GROUP_BYTES * W);
    assert!(groups.div_ceil(C::LAYOUT.groups) * C::LAYOUT.block <= panel.len());
    // SAFETY: the groups are inside the panel by the assertion, and inside the tile by their number.
    unsafe {
        let mut sums = [_mm256_setzero_ps(); W];
        let mut block = panel.as_ptr();
        let mut activations = tile.as_ptr();
        for _ in 0..groups / C::LAYOUT.groups {
            let header = C::header(block);
            let mut group = block.add(C::LAYOUT.header);
            for _ in 0..C::LAYOUT.groups {
                let mut scales = C::scales(header, group);
                if C::SIGNED && D::UNSIGNED {
                    scales.m[0] = _mm256_mul_ps(scales.d[0], std::arch::x86_64::_mm256_set1_ps(-128.0));
                }
                let dots = D::dots::<C, W>(group, activations.add(16 * W));
                accumulate::<C, D, W>(dots, scales, activations, &mut sums);
                group = group.add(C::LAYOUT.group);
                activations = activations.add(ROW_GROUP_BYTES * W);
            }
            block = block.add(C::LAYOUT.block);
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            _mm256_storeu_ps(out.as_mut_ptr(), sum);
        }
    }
}

/// `out[t][r]` = row `r` of the panel times token `t` of the tile, which is `width` tokens wide.
#[inline(always)]
pub(crate) unsafe fn panel_times_tile<C: Codes, D: Dot>(panel: &[u8], tile: &[u8], width: usize, out: &mut TileSums) {
    // SAFETY: by the caller.
    unsafe {
        match width {
            1 => sums::<C, D, 1>(panel, tile, out),
            2 => sums::<C, D, 2>(panel, tile, out),
            3 => sums::<C, D, 3>(panel, tile, out),
            _ => sums::<C, D, 4>(panel, tile, out),
        }
    }
}

/// As [`panel_times_tile`], with AVX2.
///
/// # Safety
/// AVX2, FMA and F16C exist, `panel` is one of `C`, and `tile` is `width` tokens (1 to 4) of as many columns or fewer.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) unsafe fn multiply<C: Codes>(panel: &[u8], tile: &[u8], width: usize, out: &mut TileSums) {
    // SAFETY: by the caller.
    unsafe { panel_times_tile::<C, MultiplyAdd>(panel, tile, width, out) }
}
