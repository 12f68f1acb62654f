//! Quantized compute on the CPU. Raw slices in, raw slices out: no model, no file, no allocation.
//!
//! Nothing here allocates after [`Pool::new`]: what an op needs beside its operands is scratch that the caller passes
//! in, of a size that is known beforehand ([`matmul_scratch_per_thread`], [`attention_scratch_per_thread`],
//! [`activation_bytes`]). Layouts do not depend on the instruction set, so neither does the memory plan.
//!
//! # Weights
//! A matrix is `[rows, cols]`: `rows` output features of `cols` inputs. [`pack_panel`] packs 8 rows at a time into a
//! panel, without loss; rows that are missing in the last panel are zeros. Panels follow each other
//! ([`WeightType::packed_bytes`]).
//!
//! F16, BF16 and F32 panels are `[cols][8]` values: one vector load is one column of 8 rows.
//!
//! Quantized panels go in groups of 32 columns. In each plane below, byte `4r + i` of a 32-byte vector belongs to row
//! `r` and to column `i` of four columns, so that a vector is 8 rows x 4 columns, what an int8 dot-product instruction
//! multiplies by one broadcast of 4 activations. `d[8]` and the like hold one number for each row; all numbers are
//! little-endian, `b` is bytes.
//!
//! | type | group of 8 rows x 32 columns | b | bits per weight |
//! | --- | --- | --- | --- |
//! | Q4_0 | `f16 d[8]`, nibbles | 144 | 4.5 |
//! | Q4_1 | `f16 d[8]`, `f16 m[8]`, nibbles | 160 | 5 |
//! | Q5_0 | `f16 d[8]`, fifth bits, nibbles | 176 | 5.5 |
//! | Q5_1 | `f16 d[8]`, `f16 m[8]`, fifth bits, nibbles | 192 | 6 |
//! | Q8_0 | `f16 d[8]`, bytes | 272 | 8.5 |
//! | Q4_K | `u8 scale[8]`, `u8 min[8]`, nibbles | 144 | 4.625 |
//! | Q5_K | `u8 scale[8]`, `u8 min[8]`, fifth bits, nibbles | 176 | 5.625 |
//! | Q6_K | `i8 scale[8]` of columns 0..16, `i8 scale[8]` of 16..32, fifth and sixth bits, nibbles | 208 | 6.5625 |
//!
//! * *Nibbles*, 128 b, 4 vectors: vector `j` holds columns `4j..4j+4` in its low and `16+4j..20+4j` in its high
//!   nibbles.
//! * *Fifth bits*, 32 b, 1 vector: bit `g` is bit 4 of columns `4g..4g+4`.
//! * *Fifth and sixth bits*, 64 b, 2 vectors: bits `2j` and `2j+1` of vector `h` are bits 4 and 5 of columns
//!   `16h+4j..`.
//! * *Bytes*, 256 b, 8 vectors of i8: vector `g` holds columns `4g..4g+4`.
//!
//! The K types have a header for each 256 columns, in front of their 8 groups: `f16 d[8]`, and for Q4_K and Q5_K
//! `f16 dmin[8]` (their 6-bit scales are unpacked to bytes: the one place where packed weights are larger than in
//! the file, by 1/8 bit). A code `q` stands for
//!
//! | type | weight |
//! | --- | --- |
//! | Q4_0, Q5_0 | `(q - 8) d`, `(q - 16) d` |
//! | Q4_1, Q5_1 | `q d + m` |
//! | Q8_0 | `q d` |
//! | Q4_K, Q5_K | `d scale q - dmin min` |
//! | Q6_K | `d scale (q - 32)` |
//!
//! # Activations
//! Quantized weights are multiplied by int8 activations in two planes, the codes and the codes of what they leave,
//! each with one f32 scale for 32 columns ([`quantize_activations`], [`ACTIVATION_GROUP_BYTES`]): quantized once,
//! used by every product that shares them. The two planes of a token are two rows; rows lie in tiles of 4,
//! interleaved so that the 4 columns that one instruction multiplies are one 4-byte load; the last tile holds the
//! rows that are left. 16- and 32-bit weights take f32 activations.
//!
//! # Products
//! Every type reduces to `weight = d q + m` with a small integer `q`, so that a group of a row times a plane of a token is
//! `d_w d_a (sum of q a) + m (d_a sum of a)`: an integer dot product, exact, and two multiplications. AVX2 multiplies
//! unsigned codes by signed activations into i16 pairs and sums as many pairs as cannot overflow (8, 4, 2 or 1, by
//! the bits of the code) before it widens; AVX-512 VNNI sums in i32.
//!
//! # KV cache
//! Pages of 64 positions in half precision, `keys[kv_heads][64][key_dim]` then `values[kv_heads][64][value_dim]`
//! ([`KvLayout`]), found through a table of physical pages ([`KvView`]). Attention reads them as they are.
//!
//! # Levels
//! The best of [`Level`] is found at run time; a pool fixes the level of the ops that run in it. Portable code is the
//! definition that the vector kernels are tested against. Functions without a pool use the best level.
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
