//! Activations as int8: what quantized weights are multiplied by.
//!
//! A group is 32 columns of one token: `d = max|x| / 127`, codes `round(x / d)` (ties to even) in -127..=127, and
//! `d` times the sum of the codes, for the whole group and for each half (weights with a minimum or an offset need
//! it). Tokens lie in tiles of [`TILE`]; the last tile holds what is left. A tile of `w` tokens is, for each group in
//! turn:
//!
//! ```text
//! f32 d[w]  f32 sum[w]  f32 low[w]  f32 high[w]  i8 codes[8][w][4]
//! ```
//!
//! where `codes[j][t]` are columns `4j..4j+4` of token `t`: one 4-byte load is what a dot-product instruction
//! multiplies with 4 columns of 8 or 16 rows.

use crate::pool::Pool;
use crate::shared::SharedMut;
use crate::weight_type::GROUP;

/// Bytes of one group of 32 values of one token.
pub const ACTIVATION_GROUP_BYTES: usize = 48;

/// Tokens in a full tile.
pub(crate) const TILE: usize = 4;

/// Tokens that one task quantizes.
const TOKENS_PER_TASK: usize = 16;

/// Activations smaller than this are zero: their reciprocal overflows.
pub(crate) const SMALLEST: f32 = 1e-30;

/// Bytes of the activations of `tokens` x `cols`.
pub const fn activation_bytes(tokens: usize, cols: usize) -> usize {
    tokens.saturating_mul(cols.div_ceil(GROUP)).saturating_mul(ACTIVATION_GROUP_BYTES)
}

/// Quantizes `x` `[tokens, cols]` into `out`, [`activation_bytes`] long.
///
/// # Panics
/// When a length does not fit, or `cols` is not whole groups of 32.
pub fn quantize_activations(pool: &Pool, x: &[f32], tokens: usize, cols: usize, out: &mut [u8]) {
    assert!(cols.is_multiple_of(GROUP), "{cols} columns are not whole groups");
    assert_eq!(x.len(), tokens * cols, "activations of {tokens} x {cols}");
    assert_eq!(out.len(), activation_bytes(tokens, cols), "bytes for {tokens} x {cols}");
    let token_bytes = activation_bytes(1, cols);
    let out = SharedMut::new(out);
    pool.run(tokens.div_ceil(TOKENS_PER_TASK), &|task, _| {
        let first = task * TOKENS_PER_TASK;
        let last = tokens.min(first + TOKENS_PER_TASK);
        for tile in (first..last).step_by(TILE) {
            let width = TILE.min(last - tile);
            // SAFETY: tiles do not overlap, and each belongs to one task.
            let out = unsafe { out.slice(tile * token_bytes, width * token_bytes) };
            quantize_tile(pool, &x[tile * cols..(tile + width) * cols], width, out);
        }
    });
}

fn quantize_tile(pool: &Pool, x: &[f32], width: usize, out: &mut [u8]) {
    let cols = x.len() / width;
    for token in 0..width {
        let row = &x[token * cols..(token + 1) * cols];
        #[cfg(target_arch = "x86_64")]
        if pool.level() >= crate::Level::Avx2 {
            // SAFETY: the level says that the instructions exist; `out` holds `width` tokens of `row.len()` columns.
            unsafe { crate::cpu::avx2::quantize_token(row, width, token, out) };
            continue;
        }
        let _ = pool;
        for (group, x) in out.chunks_exact_mut(ACTIVATION_GROUP_BYTES * width).zip(row.chunks_exact(GROUP)) {
            quantize_group(x, width, token, group);
        }
    }
}

/// The definition. The vector code computes the same bits.
fn quantize_group(x: &[f32], width: usize, token: usize, group: &mut [u8]) {
    let largest = x.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let inverse = if largest > SMALLEST { 127.0 / largest } else { 0.0 };
    let d = if largest > SMALLEST { largest / 127.0 } else { 0.0 };
    let mut sums = [0_i32; 2];
    for (k, x) in x.iter().enumerate() {
        let code = (x * inverse).round_ties_even() as i8;
        sums[k / 16] += i32::from(code);
        group[16 * width + (k / 4 * width + token) * 4 + k % 4] = code.cast_unsigned();
    }
    let header = [d, d * (sums[0] + sums[1]) as f32, d * sums[0] as f32, d * sums[1] as f32];
    for (field, value) in header.into_iter().enumerate() {
        group[(field * width + token) * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

/// A view of quantized activations.
#[derive(Clone, Copy)]
pub(crate) struct Activations<'a> {
    bytes: &'a [u8],
    tokens: usize,
    groups: usize,
}

impl<'a> Activations<'a> {
    pub(crate) fn new(bytes: &'a [u8], tokens: usize, cols: usize) -> Self {
        assert_eq!(bytes.len(), activation_bytes(tokens, cols), "bytes of {tokens} x {cols} activations");
        Self { bytes, tokens, groups: cols / GROUP }
    }

    /// Tokens.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Groups of a token.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// The tile that starts at `token`, a multiple of [`TILE`], and its width.
    pub(crate) fn tile(&self, token: usize) -> (&'a [u8], usize) {
        let width = TILE.min(self.tokens - token);
        let token_bytes = self.groups * ACTIVATION_GROUP_BYTES;
        (&self.bytes[token * token_bytes..][..width * token_bytes], width)
    }

    /// Scale and codes of one group of one token.
    pub(crate) fn group(&self, token: usize, group: usize) -> (f32, [i8; GROUP]) {
        let (tile, width) = self.tile(token / TILE * TILE);
        let token = token % TILE;
        let bytes = &tile[group * ACTIVATION_GROUP_BYTES * width..][..ACTIVATION_GROUP_BYTES * width];
        let d =
            f32::from_le_bytes([bytes[4 * token], bytes[4 * token + 1], bytes[4 * token + 2], bytes[4 * token + 3]]);
        let code = |k: usize| bytes[16 * width + (k / 4 * width + token) * 4 + k % 4].cast_signed();
        (d, std::array::from_fn(code))
    }
}

#[cfg(test)]
mod tests;
