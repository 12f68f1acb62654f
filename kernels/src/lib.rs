//! Quantized compute. Raw slices in, raw slices out: no model, no file, no allocation.
#![allow(
    unsafe_code,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_ptr_alignment,
    reason = "this is where slices are cut by computed offsets and numbers change their width; lengths are checked at the public functions"
)]
#![allow(
    clippy::needless_range_loop,
    clippy::inline_always,
    reason = "register blocks are arrays indexed by constants, and must not become calls or memory"
)]
#![allow(clippy::missing_panics_doc, reason = "public functions document theirs; the rest are internal assertions")]

mod activations;
mod attention;
mod cpu;
mod elementwise;
mod kv;
mod layout;
mod level;
mod matmul;
mod matrix;
mod norm;
mod pool;
mod rope;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod samples;
mod shared;
mod weight_type;

pub use activations::{ACTIVATION_GROUP_BYTES, activation_bytes, quantize_activations};
pub use attention::{AttentionSpec, attention, attention_scratch_per_thread};
pub use elementwise::{add, gelu_tanh_mul, scale, silu_mul, softcap};
pub use kv::{KV_PAGE_TOKENS, KvLayout, KvView, kv_append};
pub use layout::{dequantize_source_row, pack_panel, unpack_row};
pub use level::{Level, kernel_name};
pub use matmul::{Input, Product, matmul, matmul_scratch_per_thread};
pub use matrix::Matrix;
pub use norm::{rms_norm, rms_norm_in_place};
pub use pool::{Pool, Task};
pub use rope::{rope_halves, rope_interleaved, rope_table};
pub use weight_type::{GROUP, PANEL_ROWS, WeightType, panel_bytes};
