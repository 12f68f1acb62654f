//! Seeded weights and activations for tests.

use half::f16;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::weight_type::{PANEL_ROWS, WeightType, panel_bytes};
use crate::{dequantize_source_row, pack_panel};

/// A generator with a fixed seed.
pub(crate) fn seeded(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// Values in -1..1.
pub(crate) fn floats(rng: &mut StdRng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// What the codes of a sample are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pattern {
    Random,
    /// Every code and every scale is the largest in magnitude.
    Largest,
    /// Every code is 0: the most negative value of types with an offset.
    Smallest,
}

/// Rows as a file stores them, with the values that the format defines.
pub(crate) struct Rows {
    pub(crate) ty: WeightType,
    pub(crate) cols: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) values: Vec<Vec<f32>>,
}

impl Rows {
    pub(crate) fn new(ty: WeightType, rows: usize, cols: usize, pattern: Pattern, seed: u64) -> Self {
        let mut rng = seeded(seed);
        let row_bytes = ty.source_row_bytes(cols).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..rows * row_bytes / ty.block_bytes() {
            bytes.extend(block(ty, pattern, &mut rng));
        }
        let mut values = vec![vec![0.0; cols]; rows];
        for (row, values) in bytes.chunks_exact(row_bytes).zip(&mut values) {
            dequantize_source_row(ty, row, values);
        }
        Self { ty, cols, bytes, values }
    }

    /// The packed matrix.
    pub(crate) fn pack(&self) -> Vec<u8> {
        let row_bytes = self.ty.source_row_bytes(self.cols).unwrap();
        let mut packed = vec![0xAA; self.ty.packed_bytes(self.values.len(), self.cols).unwrap()];
        let panels = packed.chunks_exact_mut(panel_bytes(self.ty, self.cols).unwrap());
        for (rows, panel) in self.bytes.chunks(row_bytes * PANEL_ROWS).zip(panels) {
            pack_panel(self.ty, self.cols, rows, panel);
        }
        packed
    }
}

/// Where f16 scales lie in a block of the file.
fn scale_offsets(ty: WeightType) -> &'static [usize] {
    match ty {
        WeightType::F32 | WeightType::F16 | WeightType::Bf16 => &[],
        WeightType::Q4_0 | WeightType::Q5_0 | WeightType::Q8_0 => &[0],
        WeightType::Q4_1 | WeightType::Q5_1 | WeightType::Q4K | WeightType::Q5K => &[0, 2],
        WeightType::Q6K => &[208],
    }
}

/// One block of the file.
fn block(ty: WeightType, pattern: Pattern, rng: &mut StdRng) -> Vec<u8> {
    let value: f32 = match pattern {
        Pattern::Random => rng.random_range(-1.0..1.0),
        Pattern::Largest => 1.0,
        Pattern::Smallest => -1.0,
    };
    match ty {
        WeightType::F32 => return value.to_le_bytes().to_vec(),
        WeightType::F16 => return f16::from_f32(value).to_le_bytes().to_vec(),
        WeightType::Bf16 => return half::bf16::from_f32(value).to_le_bytes().to_vec(),
        _ => {}
    }
    let mut block: Vec<u8> = (0..ty.block_bytes())
        .map(|_| match pattern {
            Pattern::Random => rng.random(),
            // The i8 codes of Q8_0: -128 is the largest in magnitude.
            Pattern::Largest if ty == WeightType::Q8_0 => 0x80,
            Pattern::Largest => 0xFF,
            Pattern::Smallest => 0,
        })
        .collect();
    for &at in scale_offsets(ty) {
        let scale = match pattern {
            Pattern::Random => f16::from_f32(rng.random_range(-0.02..0.02)),
            _ => f16::from_f32(0.02),
        };
        block[at..at + 2].copy_from_slice(&scale.to_le_bytes());
    }
    block
}
