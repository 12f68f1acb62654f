//! Weight bytes in each precision.

use crate::shape::{ModelShape, Precision, WeightShape};
use crate::units::Bytes;

/// Values that share one scale after quantizing while loading.
const GROUP: u64 = 32;

/// Resident bytes of `weight` in `precision`.
///
/// In the file's own precision these are the bytes that the engine stated. Otherwise matrices take what quantizing
/// while loading gives: FP16 two bytes a value; INT8 32 bytes and an f16 scale per group of 32; INT4 16 bytes, an
/// f16 scale and an f16 minimum per group of 32. Vectors (norms, biases) and rows that no group divides stay as
/// they are.
pub fn weight_bytes(shape: &ModelShape, weight: &WeightShape, precision: Precision) -> Bytes {
    let matrix = weight.rows > 1 && weight.cols > 1 && weight.cols.is_multiple_of(GROUP);
    if precision == shape.precision || !matrix {
        return weight.bytes;
    }
    let group_bytes = match precision {
        Precision::Fp16 => GROUP * 2,
        Precision::Int8 => GROUP + 2,
        Precision::Int4 => GROUP / 2 + 4,
    };
    Bytes::of(weight.rows, weight.cols / GROUP).times(group_bytes)
}

/// Can the engine make `precision` from this file?
pub(crate) fn is_available(shape: &ModelShape, precision: Precision) -> bool {
    precision == shape.precision || shape.requantizable
}
