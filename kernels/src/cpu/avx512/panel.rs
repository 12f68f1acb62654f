//! One panel times a tile of 1 to 4 tokens, in 256-bit registers.

use std::arch::x86_64::{
    __m256i, _mm256_dpbusd_epi32, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_xor_si256,
};

use crate::cpu::avx2::{Codes, Dot, TileSums, panel_times_tile};

/// With VNNI.
struct DotProduct;

impl Dot for DotProduct {
    const UNSIGNED: bool = true;

    #[inline(always)]
    unsafe fn dots<C: Codes, const W: usize>(group: *const u8, activations: *const u8) -> [[__m256i; 2]; W] {
        // SAFETY: by the caller.
        unsafe {
            let mut sums = [[_mm256_setzero_si256(); 2]; W];
            step::<C, 0, W>(group, activations, &mut sums);
            step::<C, 1, W>(group, activations, &mut sums);
            step::<C, 2, W>(group, activations, &mut sums);
            step::<C, 3, W>(group, activations, &mut sums);
            sums
        }
    }
}

/// Columns `4J..` and `16 + 4J..`.
#[inline(always)]
unsafe fn step<C: Codes, const J: usize, const W: usize>(
    group: *const u8,
    activations: *const u8,
    sums: &mut [[__m256i; 2]; W],
) {
    // SAFETY: by the caller.
    unsafe {
        let mut codes = C::codes::<J>(group);
        if C::SIGNED {
            codes = codes.map(|codes| _mm256_xor_si256(codes, _mm256_set1_epi8(-128)));
        }
        for t in 0..W {
            for half in 0..2 {
                let four = activations.add(((J + 4 * half) * W + t) * 4).cast::<i32>().read_unaligned();
                sums[t][half] = _mm256_dpbusd_epi32(sums[t][half], codes[half], _mm256_set1_epi32(four));
            }
        }
    }
}

/// As [`crate::cpu::avx2::multiply`], with VNNI.
///
/// # Safety
/// The instructions of [`crate::Level::Avx512Vnni`] exist; else as there.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub(crate) unsafe fn multiply<C: Codes>(panel: &[u8], tile: &[u8], width: usize, out: &mut TileSums) {
    // SAFETY: by the caller.
    unsafe { panel_times_tile::<C, DotProduct>(panel, tile, width, out) }
}
