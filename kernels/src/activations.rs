//! Activations as int8, in two planes: what quantized weights are multiplied by.
//!
//! A group is 32 columns of one token: `d = max|x| / 127`, codes `round(x / d)` (ties to even) in -127..=127, and
//! `d` times the sum of the codes, for the whole group and for each half (weights with a minimum or an offset need
//! it). One plane leaves an error of `d / 2`: with the large single values that trained models have, that changes one
//! word in thirty against exact activations. So the remainder `x - d * code` is quantized once more, as a second row
//! with a scale of its own: 15 bits in all, and the products differ from exact ones by less than their f32 roundings.
//! A dot product is the sum of both rows' products; weights are read and unpacked once for both.
//!
//! Rows lie in tiles of [`TILE`], the two of a token side by side; the last tile holds what is left. A tile of `w`
//! rows is, for each group in turn:
//!
//! ```text
//! f32 d[w]  f32 sum[w]  f32 low[w]  f32 high[w]  i8 codes[8][w][4]
//! ```
//!
//! where `codes[j][t]` are columns `4j..4j+4` of row `t`: one 4-byte load is what a dot-product instruction
//! multiplies with 4 columns of 8 or 16 rows.

use crate::pool::Pool;
use crate::shared::SharedMut;
use crate::weight_type::GROUP;

/// Rows of one token: the codes, and the codes of what they leave.
pub(crate) const PLANES: usize = 2;

/// Bytes of one group of 32 values of one row.
pub(crate) const ROW_GROUP_BYTES: usize = 48;

/// Bytes of one group of 32 values of one token.
pub const ACTIVATION_GROUP_BYTES: usize = PLANES * ROW_GROUP_BYTES;

/// Rows in a full tile.
pub(crate) const TILE: usize = 4;

/// Tokens in a full tile.
const TILE_TOKENS: usize = TILE / PLANES;

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
        for tile in (first..last).step_by(TILE_TOKENS) {
            let count = TILE_TOKENS.min(last - tile);
            // SAFETY: tiles do not overlap, and each belongs to one task.
            let out = unsafe { out.slice(tile * token_bytes, count * token_bytes) };
            quantize_tile(pool, &x[tile * cols..(tile + count) * cols], count, out);
        }
    });
}

fn quantize_tile(pool: &Pool, x: &[f32], tokens: usize, out: &mut [u8]) {
    let (cols, width) = (x.len() / tokens, tokens * PLANES);
    for token in 0..tokens {
        let values = &x[token * cols..(token + 1) * cols];
        let row = token * PLANES;
        #[cfg(target_arch = "x86_64")]
        if pool.level() >= crate::Level::Avx2 {
            // SAFETY: the level says that the instructions exist; `out` holds `width` rows of `values.len()` columns.
            unsafe { crate::cpu::avx2::quantize_token(values, width, row, out) };
            continue;
        }
        let _ = pool;
        for (group, x) in out.chunks_exact_mut(ROW_GROUP_BYTES * width).zip(values.as_chunks().0) {
            let mut left = *x;
            for plane in 0..PLANES {
                left = quantize_group(&left, width, row + plane, group);
            }
        }
    }
}

/// The definition; returns what the codes leave. The vector code computes the same bits.
fn quantize_group(x: &[f32; GROUP], width: usize, row: usize, group: &mut [u8]) -> [f32; GROUP] {
    let largest = x.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let inverse = if largest > SMALLEST { 127.0 / largest } else { 0.0 };
    let d = if largest > SMALLEST { largest / 127.0 } else { 0.0 };
    let (mut sums, mut left) = ([0_i32; 2], [0.0; GROUP]);
    for (k, x) in x.iter().enumerate() {
        let code = (x * inverse).round_ties_even() as i8;
        sums[k / 16] += i32::from(code);
        left[k] = x - d * f32::from(code);
        group[16 * width + (k / 4 * width + row) * 4 + k % 4] = code.cast_unsigned();
    }
    let header = [d, d * (sums[0] + sums[1]) as f32, d * sums[0] as f32, d * sums[1] as f32];
    for (field, value) in header.into_iter().enumerate() {
        group[(field * width + row) * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    left
}

/// A view of quantized activations.
#[derive(Clone, Copy)]
pub(crate) struct Activations<'a> {
    bytes: &'a [u8],
    rows: usize,
    groups: usize,
}

impl<'a> Activations<'a> {
    pub(crate) fn new(bytes: &'a [u8], tokens: usize, cols: usize) -> Self {
        assert_eq!(bytes.len(), activation_bytes(tokens, cols), "bytes of {tokens} x {cols} activations");
        Self { bytes, rows: tokens * PLANES, groups: cols / GROUP }
    }

    /// Rows: [`PLANES`] of each token.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Groups of a row.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// The tile that starts at `row`, a multiple of [`TILE`], and its width.
    pub(crate) fn tile(&self, row: usize) -> (&'a [u8], usize) {
        let width = TILE.min(self.rows - row);
        let row_bytes = self.groups * ROW_GROUP_BYTES;
        (&self.bytes[row * row_bytes..][..width * row_bytes], width)
    }

    /// Scale and codes of one group of one row.
    pub(crate) fn group(&self, row: usize, group: usize) -> (f32, [i8; GROUP]) {
        let (tile, width) = self.tile(row / TILE * TILE);
        let row = row % TILE;
        let bytes = &tile[group * ROW_GROUP_BYTES * width..][..ROW_GROUP_BYTES * width];
        let d = f32::from_le_bytes([bytes[4 * row], bytes[4 * row + 1], bytes[4 * row + 2], bytes[4 * row + 3]]);
        let code = |k: usize| bytes[16 * width + (k / 4 * width + row) * 4 + k % 4].cast_signed();
        (d, std::array::from_fn(code))
    }
}

#[cfg(test)]
mod tests;
