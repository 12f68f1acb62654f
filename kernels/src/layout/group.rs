//! One row's group of 32 values, between the file's blocks and the panel.

use half::f16;

use super::panel::PanelLayout;
use crate::weight_type::{GROUP, PANEL_ROWS, WeightType};

/// 32 codes of one row with what scales them, as stored; nothing is rounded on the way from file to panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Unsigned codes; for Q8_0 the bits of an i8.
    pub(super) codes: [u8; GROUP],
    /// Scale of the block, f16 bits.
    pub(super) d: u16,
    /// Minimum of the block (Q4_1, Q5_1) or scale of the minima (Q4_K, Q5_K), f16 bits; else 0.
    pub(super) m: u16,
    /// (scale, minimum) of the group for Q4_K and Q5_K, the i8 scales of its two halves for Q6_K; else 0.
    pub(super) sub: [u8; 2],
}

impl Group {
    /// Group `index` of a row in the file.
    pub(super) fn from_source(ty: WeightType, row: &[u8], index: usize) -> Self {
        let per_block = ty.block_elements() / GROUP;
        let block = &row[index / per_block * ty.block_bytes()..][..ty.block_bytes()];
        let g = index % per_block;
        let half = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
        let mut group = Self { codes: [0; GROUP], d: half(0), m: 0, sub: [0; 2] };
        match ty {
            WeightType::Q4_0 => group.nibble_halves(&block[2..]),
            WeightType::Q4_1 => {
                group.m = half(2);
                group.nibble_halves(&block[4..]);
            }
            WeightType::Q5_0 => {
                group.nibble_halves(&block[6..]);
                group.high_bits(&block[2..]);
            }
            WeightType::Q5_1 => {
                group.m = half(2);
                group.nibble_halves(&block[8..]);
                group.high_bits(&block[4..]);
            }
            WeightType::Q8_0 => group.codes.copy_from_slice(&block[2..]),
            WeightType::Q4K => {
                group.m = half(2);
                group.sub = six_bit_scales(&block[4..], g);
                group.nibble_plane(&block[16 + g / 2 * GROUP..], g % 2);
            }
            WeightType::Q5K => {
                group.m = half(2);
                group.sub = six_bit_scales(&block[4..], g);
                group.nibble_plane(&block[48 + g / 2 * GROUP..], g % 2);
                for (code, high) in group.codes.iter_mut().zip(&block[16..]) {
                    *code |= (high >> g & 1) << 4;
                }
            }
            WeightType::Q6K => {
                group.d = half(208);
                group.sub = [block[192 + 2 * g], block[193 + 2 * g]];
                group.nibble_plane(&block[g / 4 * 64 + g % 2 * GROUP..], g % 4 / 2);
                for (code, high) in group.codes.iter_mut().zip(&block[128 + g / 4 * GROUP..]) {
                    *code |= (high >> (2 * (g % 4)) & 3) << 4;
                }
            }
            WeightType::F32 | WeightType::F16 | WeightType::Bf16 => unreachable!("{ty:?} has no groups"),
        }
        group
    }

    /// Group `index` of row `row` of a panel.
    pub(super) fn from_panel(ty: WeightType, panel: &[u8], row: usize, index: usize) -> Self {
        let layout = PanelLayout::of(ty);
        let (block, start) = layout.place(index);
        let half = |at: usize| u16::from_le_bytes([panel[at + 2 * row], panel[at + 2 * row + 1]]);
        let mut group = Self { codes: [0; GROUP], d: half(block), m: 0, sub: [0; 2] };
        if matches!(ty, WeightType::Q4_1 | WeightType::Q5_1 | WeightType::Q4K | WeightType::Q5K) {
            group.m = half(block + 16);
        }
        if layout.groups > 1 {
            group.sub = [panel[start + row], panel[start + PANEL_ROWS + row]];
        }
        let codes = &panel[start + layout.codes..];
        let high = &panel[start + layout.high..];
        for (k, code) in group.codes.iter_mut().enumerate() {
            let lane = row * 4 + k % 4;
            if ty == WeightType::Q8_0 {
                *code = codes[k / 4 * GROUP + lane];
                continue;
            }
            *code = codes[k / 4 % 4 * GROUP + lane] >> (k / 16 * 4) & 15;
            match ty {
                WeightType::Q5_0 | WeightType::Q5_1 | WeightType::Q5K => *code |= (high[lane] >> (k / 4) & 1) << 4,
                WeightType::Q6K => *code |= (high[k / 16 * GROUP + lane] >> (k / 4 % 4 * 2) & 3) << 4,
                _ => {}
            }
        }
        group
    }

    /// Writes to row `row` of a panel whose bytes of that row are zero.
    pub(super) fn into_panel(self, ty: WeightType, panel: &mut [u8], row: usize, index: usize) {
        let layout = PanelLayout::of(ty);
        let (block, start) = layout.place(index);
        panel[block + 2 * row..][..2].copy_from_slice(&self.d.to_le_bytes());
        if matches!(ty, WeightType::Q4_1 | WeightType::Q5_1 | WeightType::Q4K | WeightType::Q5K) {
            panel[block + 16 + 2 * row..][..2].copy_from_slice(&self.m.to_le_bytes());
        }
        if layout.groups > 1 {
            panel[start + row] = self.sub[0];
            panel[start + PANEL_ROWS + row] = self.sub[1];
        }
        for (k, code) in self.codes.into_iter().enumerate() {
            let lane = row * 4 + k % 4;
            if ty == WeightType::Q8_0 {
                panel[start + layout.codes + k / 4 * GROUP + lane] = code;
                continue;
            }
            panel[start + layout.codes + k / 4 % 4 * GROUP + lane] |= (code & 15) << (k / 16 * 4);
            match ty {
                WeightType::Q5_0 | WeightType::Q5_1 | WeightType::Q5K => {
                    panel[start + layout.high + lane] |= (code >> 4) << (k / 4);
                }
                WeightType::Q6K => {
                    panel[start + layout.high + k / 16 * GROUP + lane] |= (code >> 4) << (k / 4 % 4 * 2);
                }
                _ => {}
            }
        }
    }

    /// The values that the format defines, in f32.
    pub(super) fn dequantize(&self, ty: WeightType, out: &mut [f32]) {
        let (d, m) = (f16::from_bits(self.d).to_f32(), f16::from_bits(self.m).to_f32());
        let scale = d * f32::from(self.sub[0]);
        let minimum = m * f32::from(self.sub[1]);
        for (k, (out, &code)) in out.iter_mut().zip(&self.codes).enumerate() {
            let q = f32::from(code);
            *out = match ty {
                WeightType::Q4_0 => (q - 8.0) * d,
                WeightType::Q5_0 => (q - 16.0) * d,
                WeightType::Q4_1 | WeightType::Q5_1 => q * d + m,
                WeightType::Q8_0 => f32::from(code.cast_signed()) * d,
                WeightType::Q4K | WeightType::Q5K => scale * q - minimum,
                _ => d * f32::from(self.sub[k / 16].cast_signed()) * (q - 32.0),
            };
        }
    }

    /// Low nibbles are the first 16 values, high nibbles the last 16.
    fn nibble_halves(&mut self, bytes: &[u8]) {
        for (k, &byte) in bytes[..16].iter().enumerate() {
            self.codes[k] = byte & 15;
            self.codes[k + 16] = byte >> 4;
        }
    }

    /// Bit `k` of a little-endian u32 is bit 4 of value `k`.
    fn high_bits(&mut self, bytes: &[u8]) {
        for (k, code) in self.codes.iter_mut().enumerate() {
            *code |= (bytes[k / 8] >> (k % 8) & 1) << 4;
        }
    }

    /// The low (`plane` 0) or high nibbles of 32 bytes.
    fn nibble_plane(&mut self, bytes: &[u8], plane: usize) {
        for (code, byte) in self.codes.iter_mut().zip(bytes) {
            *code = byte >> (4 * plane) & 15;
        }
    }
}

/// (scale, minimum) of group `g` from the 12 bytes that hold eight 6-bit pairs.
fn six_bit_scales(bytes: &[u8], g: usize) -> [u8; 2] {
    if g < 4 {
        [bytes[g] & 63, bytes[g + 4] & 63]
    } else {
        [bytes[g + 4] & 15 | bytes[g - 4] >> 6 << 4, bytes[g + 4] >> 4 | bytes[g] >> 6 << 4]
    }
}
