//! AVX2, FMA and F16C.

mod attention;
mod codes;
mod expand;
mod float;
mod panel;
mod product;
mod quantize;

pub(crate) use attention::{exp_row, gemm, key_dots, softcap_row, transpose_keys, value_sums, widen};
pub(crate) use codes::{Codes, Expanded, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0, scale_vectors};
pub(crate) use expand::{expand, expanded_bytes};
pub(crate) use float::{gelu_tanh_mul, silu_mul, softcap, sum_of_squares, to_half};
pub(crate) use panel::{Dot, TileSums, multiply, panel_times_tile};
pub(crate) use product::{Bf16, F16, F32, FLOAT_TOKENS, FloatSums, Values, multiply_floats};
pub(crate) use quantize::quantize_token;
