//! Packing is lossless, and values are those of the formats, written down a second time here.
#![allow(clippy::unwrap_used, reason = "tests")]

use half::{bf16, f16};

use super::*;
use crate::samples::{Pattern, Rows};
use crate::weight_type::{PANEL_ROWS, WeightType, panel_bytes};

/// Value `i` of a block, by the format's description, one value at a time.
fn value(ty: WeightType, b: &[u8], i: usize) -> f32 {
    let half = |at: usize| f16::from_le_bytes([b[at], b[at + 1]]).to_f32();
    let nibble = |base: usize| f32::from(if i < 16 { b[base + i] & 15 } else { b[base + i - 16] >> 4 });
    let fifth = |base: usize| {
        let bits = u32::from_le_bytes([b[base], b[base + 1], b[base + 2], b[base + 3]]);
        if bits & (1 << i) == 0 { 0.0 } else { 16.0 }
    };
    let k_scales = || {
        let (s, g) = (&b[4..16], i / 32);
        let scale = if g < 4 { s[g] % 64 } else { (s[g + 4] % 16) + (s[g - 4] / 64) * 16 };
        let minimum = if g < 4 { s[g + 4] % 64 } else { (s[g + 4] / 16) + (s[g] / 64) * 16 };
        (half(0) * f32::from(scale), half(2) * f32::from(minimum))
    };
    let k_nibble = |base: usize| b[base + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
    match ty {
        WeightType::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        WeightType::F16 => half(0),
        WeightType::Bf16 => bf16::from_le_bytes([b[0], b[1]]).to_f32(),
        WeightType::Q4_0 => (nibble(2) - 8.0) * half(0),
        WeightType::Q4_1 => nibble(4) * half(0) + half(2),
        WeightType::Q5_0 => (nibble(6) + fifth(2) - 16.0) * half(0),
        WeightType::Q5_1 => (nibble(8) + fifth(4)) * half(0) + half(2),
        WeightType::Q8_0 => f32::from(b[2 + i] as i8) * half(0),
        WeightType::Q4K => {
            let (scale, minimum) = k_scales();
            scale * f32::from(k_nibble(16)) - minimum
        }
        WeightType::Q5K => {
            let (scale, minimum) = k_scales();
            let high = b[16 + i % 32] >> (i / 32) & 1;
            scale * f32::from(k_nibble(48) + 16 * high) - minimum
        }
        WeightType::Q6K => {
            // Two runs of 128; in each, 32 columns share bytes with the columns 32, 64 and 96 further on.
            let (run, quarter, l) = (i / 128, i % 128 / 32, i % 32);
            let low = b[run * 64 + quarter % 2 * 32 + l] >> (quarter / 2 * 4) & 15;
            let high = b[128 + run * 32 + l] >> (quarter * 2) & 3;
            let code = i32::from(low + 16 * high) - 32;
            half(208) * f32::from(b[192 + i / 16] as i8) * code as f32
        }
    }
}

#[test]
fn values_are_those_of_the_formats() {
    for ty in WeightType::ALL {
        for pattern in [Pattern::Random, Pattern::Largest, Pattern::Smallest] {
            let rows = Rows::new(ty, 3, 768, pattern, 5);
            let row_bytes = ty.source_row_bytes(768).unwrap();
            for (row, values) in rows.bytes.chunks_exact(row_bytes).zip(&rows.values) {
                for (i, found) in values.iter().enumerate() {
                    let block = &row[i / ty.block_elements() * ty.block_bytes()..];
                    let expected = value(ty, block, i % ty.block_elements());
                    assert_eq!(found.to_bits(), expected.to_bits(), "{ty:?} {pattern:?} value {i}");
                }
            }
        }
    }
}

#[test]
fn unpacked_rows_equal_the_file_bit_for_bit() {
    for ty in WeightType::ALL {
        for rows in [1, 7, 8, 11] {
            let cols = if ty.accepts_q8() { 512 } else { 37 };
            let rows = Rows::new(ty, rows, cols, Pattern::Random, 9);
            let packed = rows.pack();
            let panel = panel_bytes(ty, cols).unwrap();
            for (row, expected) in rows.values.iter().enumerate() {
                let mut found = vec![f32::NAN; cols];
                unpack_row(ty, cols, &packed[row / PANEL_ROWS * panel..][..panel], row % PANEL_ROWS, &mut found);
                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&found), bits(expected), "{ty:?} row {row}");
            }
        }
    }
}

#[test]
fn missing_rows_are_zero() {
    for ty in WeightType::ALL {
        let rows = Rows::new(ty, 3, 256, Pattern::Random, 2);
        let packed = rows.pack();
        for row in 3..PANEL_ROWS {
            let mut found = vec![f32::NAN; 256];
            unpack_row(ty, 256, &packed, row, &mut found);
            assert!(found.iter().all(|&v| v == 0.0), "{ty:?} row {row}");
        }
    }
}

/// Packed sizes in bits per weight: only the unpacked 6-bit scales of Q4_K and Q5_K take more than the file.
#[test]
fn packed_sizes() {
    for ty in WeightType::ALL {
        let source = ty.source_row_bytes(4096).unwrap() * 16;
        let packed = ty.packed_bytes(16, 4096).unwrap();
        let extra = match ty {
            WeightType::Q4K | WeightType::Q5K => 4096 * 16 / 256 * 4,
            _ => 0,
        };
        assert_eq!(packed, source + extra, "{ty:?}");
        assert_eq!(ty.packed_bytes(9, 4096), Some(packed), "{ty:?}: rows are padded to 8");
    }
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    for ty in WeightType::ALL {
        let block = ty.block_elements();
        assert_eq!(ty.source_row_bytes(block * 3).unwrap(), ty.block_bytes() * 3);
        if block > 1 {
            assert_eq!(ty.source_row_bytes(block + 1), None, "{ty:?}");
            assert_eq!(ty.packed_bytes(8, block / 2), None, "{ty:?}");
            assert_eq!(panel_bytes(ty, block - 1), None, "{ty:?}");
        }
        assert_eq!(ty.packed_bytes(usize::MAX, block * 1024), None, "{ty:?}: overflow");
        assert_eq!(panel_bytes(ty, usize::MAX / 512 * 512), None, "{ty:?}: overflow");
    }
}

#[test]
fn types_are_known_by_number() {
    for ty in WeightType::ALL {
        let numbers: Vec<u32> = (0..64).filter(|&n| WeightType::from_ggml(n) == Some(ty)).collect();
        assert_eq!(numbers.len(), 1, "{ty:?}");
    }
    for unknown in [4, 5, 9, 10, 11, 15, 16, 20, 29, 31, 39, u32::MAX] {
        assert_eq!(WeightType::from_ggml(unknown), None, "{unknown}");
    }
    assert_eq!(WeightType::from_ggml(14).map(WeightType::ggml_name), Some("Q6_K"));
}
