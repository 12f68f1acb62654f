//! Reading groups of 8 rows x 32 columns from panels.
//!
//! Functions without `target_feature` are inlined into entry points that have it: their SAFETY is that the caller has
//! AVX2, FMA and F16C, and that the pointers are those of a panel of the type.

use std::arch::x86_64::{
    __m256, __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm256_and_si256, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps,
    _mm256_cvtepu8_epi32, _mm256_cvtph_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_mul_ps, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_set1_ps, _mm256_setzero_ps, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_sub_ps,
};
use std::marker::PhantomData;

use crate::layout::panel::PanelLayout;
use crate::weight_type::WeightType;

/// `weight = d * code + m`, for 8 rows. With [`Codes::HALVES`] the second of each is for the last 16 columns, else it
/// is not used.
#[derive(Clone, Copy)]
pub(crate) struct Scales {
    pub(crate) d: [__m256; 2],
    pub(crate) m: [__m256; 2],
}

/// A quantized type as the kernels read it.
pub(crate) trait Codes {
    /// Where things lie.
    const LAYOUT: PanelLayout;
    /// How many sums of two products code x activation (at most 127) an i16 lane holds without overflow.
    const SUMS: usize;
    /// Codes are i8 and have no `m`.
    const SIGNED: bool = false;
    /// Scales are per 16 columns.
    const HALVES: bool = false;
    /// What the groups of a block share.
    type Header: Copy;

    /// Reads a block's header.
    unsafe fn header(block: *const u8) -> Self::Header;
    /// Scales of a group.
    unsafe fn scales(header: Self::Header, group: *const u8) -> Scales;
    /// Codes of columns `4J..` and `16 + 4J..`: byte `4r + i` is row `r`, column `i` of those four.
    unsafe fn codes<const J: usize>(group: *const u8) -> [__m256i; 2];
}

/// 8 f16.
#[inline(always)]
unsafe fn halves(at: *const u8) -> __m256 {
    // SAFETY: see the module.
    unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
}

/// 8 u8.
#[inline(always)]
unsafe fn bytes(at: *const u8) -> __m256 {
    // SAFETY: see the module.
    unsafe { _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(at.cast()))) }
}

/// 8 i8.
#[inline(always)]
unsafe fn signed_bytes(at: *const u8) -> __m256 {
    // SAFETY: see the module.
    unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(at.cast()))) }
}

/// `d` and `m = -offset * d`.
#[inline(always)]
unsafe fn centred(d: __m256, offset: f32) -> Scales {
    // SAFETY: see the module.
    unsafe {
        let m = _mm256_mul_ps(d, _mm256_set1_ps(-offset));
        Scales { d: [d; 2], m: [m; 2] }
    }
}

/// `J`-th 32 bytes.
#[inline(always)]
unsafe fn vector<const J: usize>(at: *const u8) -> __m256i {
    // SAFETY: see the module.
    unsafe { _mm256_loadu_si256(at.add(32 * J).cast()) }
}

/// Low and high nibbles of the `J`-th 32 bytes.
#[inline(always)]
unsafe fn nibbles<const J: usize>(at: *const u8) -> [__m256i; 2] {
    // SAFETY: see the module.
    unsafe {
        let mask = _mm256_set1_epi8(15);
        let v = vector::<J>(at);
        [_mm256_and_si256(v, mask), _mm256_and_si256(_mm256_srli_epi16::<4>(v), mask)]
    }
}

/// Bits `J` and `J + 4` of the 32 bytes, each moved to bit 4.
#[inline(always)]
unsafe fn fifth_bits<const J: usize>(at: *const u8) -> [__m256i; 2] {
    // SAFETY: see the module.
    unsafe {
        let mask = _mm256_set1_epi8(16);
        let v = vector::<0>(at);
        let (low, high) = match J {
            0 => (_mm256_slli_epi16::<4>(v), v),
            1 => (_mm256_slli_epi16::<3>(v), _mm256_srli_epi16::<1>(v)),
            2 => (_mm256_slli_epi16::<2>(v), _mm256_srli_epi16::<2>(v)),
            _ => (_mm256_slli_epi16::<1>(v), _mm256_srli_epi16::<3>(v)),
        };
        [_mm256_and_si256(low, mask), _mm256_and_si256(high, mask)]
    }
}

/// Bits `2J` and `2J + 1` of the two vectors, moved to bits 4 and 5.
#[inline(always)]
unsafe fn sixth_bits<const J: usize>(at: *const u8) -> [__m256i; 2] {
    // SAFETY: see the module.
    unsafe {
        let mask = _mm256_set1_epi8(48);
        [vector::<0>(at), vector::<1>(at)].map(|v| {
            let moved = match J {
                0 => _mm256_slli_epi16::<4>(v),
                1 => _mm256_slli_epi16::<2>(v),
                2 => v,
                _ => _mm256_srli_epi16::<2>(v),
            };
            _mm256_and_si256(moved, mask)
        })
    }
}

/// Both halves with their high bits.
#[inline(always)]
unsafe fn join(low: [__m256i; 2], high: [__m256i; 2]) -> [__m256i; 2] {
    // SAFETY: see the module.
    unsafe { [_mm256_or_si256(low[0], high[0]), _mm256_or_si256(low[1], high[1])] }
}

macro_rules! codes {
    ($name:ident, $ty:expr, sums $sums:expr, $(const $constant:ident = $value:expr,)?
     header $header:ty { |$block:ident| $read:expr }
     scales { |$shared:ident, $at:ident| $scales:expr }
     codes { |$group:ident| $codes:expr }) => {
        #[doc = concat!("[`", stringify!($ty), "`].")]
        pub(crate) struct $name;
        impl Codes for $name {
            const LAYOUT: PanelLayout = PanelLayout::of($ty);
            const SUMS: usize = $sums;
            $(const $constant: bool = $value;)?
            type Header = $header;
            #[inline(always)]
            #[allow(unused_unsafe, reason = "most types have nothing to read here")]
            unsafe fn header($block: *const u8) -> $header {
                // SAFETY: see the module.
                unsafe { $read }
            }
            #[inline(always)]
            unsafe fn scales($shared: $header, $at: *const u8) -> Scales {
                // SAFETY: see the module.
                unsafe { $scales }
            }
            #[inline(always)]
            unsafe fn codes<const J: usize>($group: *const u8) -> [__m256i; 2] {
                // SAFETY: see the module.
                unsafe { $codes }
            }
        }
    };
}

// `SUMS`: largest code x 127 x 2 products, as often as it fits in 32767.
// 4 bits: 15 x 127 x 2 = 3810, 8 x 3810 = 30480. 5 bits: 31 x 127 x 2 = 7874, 4 x 7874 = 31496.
// 6 bits: 63 x 127 x 2 = 16002, 2 x 16002 = 32004. 8 bits: 128 x 127 x 2 = 32512, once.
codes! { Q4_0, WeightType::Q4_0, sums 8,
    header () { |_block| () }
    scales { |_header, group| centred(halves(group), 8.0) }
    codes { |group| nibbles::<J>(group.add(Self::LAYOUT.codes)) }
}
codes! { Q4_1, WeightType::Q4_1, sums 8,
    header () { |_block| () }
    scales { |_header, group| Scales { d: [halves(group); 2], m: [halves(group.add(16)); 2] } }
    codes { |group| nibbles::<J>(group.add(Self::LAYOUT.codes)) }
}
codes! { Q5_0, WeightType::Q5_0, sums 4,
    header () { |_block| () }
    scales { |_header, group| centred(halves(group), 16.0) }
    codes { |group| join(nibbles::<J>(group.add(Self::LAYOUT.codes)), fifth_bits::<J>(group.add(Self::LAYOUT.high))) }
}
codes! { Q5_1, WeightType::Q5_1, sums 4,
    header () { |_block| () }
    scales { |_header, group| Scales { d: [halves(group); 2], m: [halves(group.add(16)); 2] } }
    codes { |group| join(nibbles::<J>(group.add(Self::LAYOUT.codes)), fifth_bits::<J>(group.add(Self::LAYOUT.high))) }
}
codes! { Q8_0, WeightType::Q8_0, sums 1, const SIGNED = true,
    header () { |_block| () }
    scales { |_header, group| centred(halves(group), 0.0) }
    codes { |group| {
        let codes = group.add(Self::LAYOUT.codes + 32 * J);
        [vector::<0>(codes), vector::<4>(codes)]
    } }
}
codes! { Q4K, WeightType::Q4K, sums 8,
    header [__m256; 2] { |block| block_scales(block) }
    scales { |header, group| scaled(header, group) }
    codes { |group| nibbles::<J>(group.add(Self::LAYOUT.codes)) }
}
codes! { Q5K, WeightType::Q5K, sums 4,
    header [__m256; 2] { |block| block_scales(block) }
    scales { |header, group| scaled(header, group) }
    codes { |group| join(nibbles::<J>(group.add(Self::LAYOUT.codes)), fifth_bits::<J>(group.add(Self::LAYOUT.high))) }
}
codes! { Q6K, WeightType::Q6K, sums 2, const HALVES = true,
    header __m256 { |block| halves(block) }
    scales { |header, group| {
        let d = [signed_bytes(group), signed_bytes(group.add(8))].map(|scale| _mm256_mul_ps(header, scale));
        Scales { d, m: d.map(|d| _mm256_mul_ps(d, _mm256_set1_ps(-32.0))) }
    } }
    codes { |group| join(nibbles::<J>(group.add(Self::LAYOUT.codes)), sixth_bits::<J>(group.add(Self::LAYOUT.high))) }
}

/// `d` and `-dmin` of a block with 6-bit scales.
#[inline(always)]
unsafe fn block_scales(block: *const u8) -> [__m256; 2] {
    // SAFETY: see the module.
    unsafe { [halves(block), _mm256_sub_ps(_mm256_setzero_ps(), halves(block.add(16)))] }
}

/// `d * scale` and `-dmin * minimum`.
#[inline(always)]
unsafe fn scaled(header: [__m256; 2], group: *const u8) -> Scales {
    // SAFETY: see the module.
    unsafe {
        let d = _mm256_mul_ps(header[0], bytes(group));
        let m = _mm256_mul_ps(header[1], bytes(group.add(8)));
        Scales { d: [d; 2], m: [m; 2] }
    }
}

/// Groups of `C` expanded by [`super::expand`]: f32 scales, and one byte for each code.
pub(crate) struct Expanded<C>(PhantomData<C>);

/// Vectors of f32 scales in front of an expanded group: `d` and `m`, or two of each.
pub(crate) const fn scale_vectors<C: Codes>() -> usize {
    if C::HALVES { 4 } else { 2 }
}

impl<C: Codes> Codes for Expanded<C> {
    const LAYOUT: PanelLayout = {
        let codes = 32 * scale_vectors::<C>();
        PanelLayout { groups: 1, block: codes + 256, header: 0, group: codes + 256, high: codes, codes }
    };
    const SUMS: usize = C::SUMS;
    const SIGNED: bool = C::SIGNED;
    const HALVES: bool = C::HALVES;
    type Header = ();

    #[inline(always)]
    unsafe fn header(_block: *const u8) {}

    #[inline(always)]
    unsafe fn scales(_header: (), group: *const u8) -> Scales {
        // SAFETY: see the module.
        unsafe {
            let at = |index: usize| _mm256_loadu_ps(group.add(32 * index).cast());
            if C::HALVES {
                Scales { d: [at(0), at(1)], m: [at(2), at(3)] }
            } else {
                Scales { d: [at(0); 2], m: [at(1); 2] }
            }
        }
    }

    #[inline(always)]
    unsafe fn codes<const J: usize>(group: *const u8) -> [__m256i; 2] {
        // SAFETY: see the module.
        unsafe {
            let codes = group.add(Self::LAYOUT.codes + 32 * J);
            [vector::<0>(codes), vector::<4>(codes)]
        }
    }
}
