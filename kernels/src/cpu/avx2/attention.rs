//! The inner loops of attention: products of f32 tiles, reading f16 pages, softmax.

mod dots;
mod gemm;
mod page;
mod softmax;

pub(crate) use dots::{key_dots, value_sums};
pub(crate) use gemm::gemm;
pub(crate) use page::{transpose_keys, widen};
pub(crate) use softmax::{exp_row, softcap_row};
