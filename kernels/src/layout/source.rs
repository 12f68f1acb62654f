//! Values of rows as the file stores them.

use half::{bf16, f16};

use super::group::Group;
use crate::weight_type::{GROUP, WeightType};

/// Dequantizes one row of the file: `out.len()` values from [`WeightType::source_row_bytes`] bytes.
///
/// This is the definition of the format in f32; everything else is measured against it.
///
/// # Panics
/// When `source` is shorter than the row, or the row is not whole blocks.
pub fn dequantize_source_row(ty: WeightType, source: &[u8], out: &mut [f32]) {
    let bytes = ty.source_row_bytes(out.len());
    assert!(bytes.is_some_and(|bytes| bytes <= source.len()), "{ty:?}: {} bytes for {}", source.len(), out.len());
    if ty.accepts_q8() {
        for (index, out) in out.chunks_exact_mut(GROUP).enumerate() {
            Group::from_source(ty, source, index).dequantize(ty, out);
        }
        return;
    }
    for (out, bytes) in out.iter_mut().zip(source.chunks_exact(ty.block_bytes())) {
        *out = float(ty, bytes);
    }
}

/// One value of a 16- or 32-bit type.
pub(super) fn float(ty: WeightType, bytes: &[u8]) -> f32 {
    match ty {
        WeightType::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
        WeightType::Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
        _ => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
    }
}
