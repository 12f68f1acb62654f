//! Two expanded panels (16 rows) times up to 12 tokens.

use std::arch::x86_64::{
    __m512, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512,
    _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_storeu_ps,
};

use crate::activations::{ROW_GROUP_BYTES, TILE};
use crate::cpu::avx2::{Codes, expanded_bytes, scale_vectors};

/// Most tokens of a block: 12 integer and 12 float sums fill 24 of the 32 registers.
pub(crate) const BLOCK_TOKENS: usize = 3 * TILE;

/// Results of a block: `[token][row of the pair]`.
pub(crate) type BlockSums = [[f32; 16]; BLOCK_TOKENS];

/// `out[t][r]` = row `r` of the pair times token `t`.
///
/// `expanded` is from [`crate::cpu::avx2::expand`] with 2 lanes and unsigned codes. `tiles` are 1 to 3 tiles of the
/// same groups, all `width` tokens wide; more than one only of full width.
///
/// # Safety
/// The instructions of [`crate::Level::Avx512Vnni`] exist.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub(crate) unsafe fn multiply_block<C: Codes>(expanded: &[u8], tiles: &[&[u8]], width: usize, out: &mut BlockSums) {
    // SAFETY: by the caller; the lengths are asserted there.
    unsafe {
        match (tiles, width) {
            (&[a, b, c], 4) => sums::<C, 3, 4>(expanded, [a, b, c], out),
            (&[a, b], 4) => sums::<C, 2, 4>(expanded, [a, b], out),
            (&[a], 4) => sums::<C, 1, 4>(expanded, [a], out),
            (&[a], 3) => sums::<C, 1, 3>(expanded, [a], out),
            (&[a], 2) => sums::<C, 1, 2>(expanded, [a], out),
            (&[a], 1) => sums::<C, 1, 1>(expanded, [a], out),
            _ => unreachable!("{} tiles of {width} tokens", tiles.len()),
        }
    }
}

#[inline(always)]
unsafe fn sums<C: Codes, const Q: usize, const W: usize>(expanded: &[u8], tiles: [&[u8]; Q], out: &mut BlockSums) {
    let group_bytes = expanded_bytes::<C>(2);
    let groups = tiles[0].len() / (ROW_GROUP_BYTES * W);
    assert!(tiles.iter().all(|tile| tile.len() == groups * ROW_GROUP_BYTES * W));
    assert!(expanded.len() >= groups * group_bytes);
    // SAFETY: all reads are inside the groups, whose number is asserted.
    unsafe {
        let mut sums = [[_mm512_setzero_ps(); W]; Q];
        let mut group = expanded.as_ptr();
        let mut tiles = tiles.map(<[u8]>::as_ptr);
        for _ in 0..groups {
            if C::HALVES {
                part::<C, Q, W, 0, 4>(group, tiles, &mut sums);
                part::<C, Q, W, 1, 4>(group, tiles, &mut sums);
            } else {
                part::<C, Q, W, 0, 8>(group, tiles, &mut sums);
            }
            group = group.add(group_bytes);
            tiles = tiles.map(|tile| tile.add(ROW_GROUP_BYTES * W));
        }
        for (out, sum) in out.iter_mut().zip(sums.as_flattened()) {
            _mm512_storeu_ps(out.as_mut_ptr(), *sum);
        }
    }
}

/// Part `H` of a group: `N` vectors of 4 columns that share a scale.
#[inline(always)]
unsafe fn part<C: Codes, const Q: usize, const W: usize, const H: usize, const N: usize>(
    group: *const u8,
    tiles: [*const u8; Q],
    sums: &mut [[__m512; W]; Q],
) {
    // SAFETY: by the caller.
    unsafe {
        let codes = group.add(64 * (scale_vectors::<C>() + H * N));
        let mut dots = [[_mm512_setzero_si512(); W]; Q];
        for j in 0..N {
            let code = _mm512_loadu_si512(codes.add(64 * j).cast());
            for q in 0..Q {
                for t in 0..W {
                    let four = tiles[q].add(16 * W + ((H * N + j) * W + t) * 4).cast::<i32>().read_unaligned();
                    dots[q][t] = _mm512_dpbusd_epi32(dots[q][t], code, _mm512_set1_epi32(four));
                }
            }
        }
        let d = _mm512_loadu_ps(group.add(64 * H).cast());
        let m = _mm512_loadu_ps(group.add(64 * (scale_vectors::<C>() / 2 + H)).cast());
        // The sum of all codes, or of this half's.
        let field = if N == 8 { 1 } else { 2 + H };
        for q in 0..Q {
            for t in 0..W {
                let header = |field: usize| _mm512_set1_ps(tiles[q].cast::<f32>().add(field * W + t).read_unaligned());
                let sum = _mm512_fmadd_ps(m, header(field), sums[q][t]);
                let factor = _mm512_mul_ps(d, header(0));
                sums[q][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[q][t]), factor, sum);
            }
        }
    }
}
