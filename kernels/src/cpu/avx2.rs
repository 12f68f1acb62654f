//! AVX2, FMA and F16C.

mod float;
mod quantize;

pub(crate) use float::{gelu_tanh_mul, silu_mul, softcap, sum_of_squares, to_half};
pub(crate) use quantize::quantize_token;
