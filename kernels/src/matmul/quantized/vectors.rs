//! Drives the vector kernels over a task.

use std::ops::Range;

use super::super::tasks::{BLOCK_PANELS, PREFILL_ROWS, Task};
use super::SCRATCH;
use crate::activations::{Activations, ROW_GROUP_BYTES, TILE};
use crate::cpu::avx2::{
    self, Codes, Expanded, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0, TileSums, expand, expanded_bytes,
};
use crate::cpu::avx512::{self, BLOCK_TOKENS, BlockSums, multiply_block};
use crate::level::Level;
use crate::weight_type::{PANEL_ROWS, WeightType};

/// Groups that are expanded at once: with the activations of a tile they stay in the first-level cache.
const BLOCK_GROUPS: usize = 16;

// The type with the largest expanded groups fits.
const _: () = assert!(BLOCK_GROUPS * BLOCK_PANELS * expanded_bytes::<Q6K>(1) <= SCRATCH);

/// Runs one task at `level`, AVX2 or better.
pub(super) fn run(level: Level, task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    let run = match task.product.matrix.weight_type() {
        WeightType::Q4_0 => typed::<Q4_0>,
        WeightType::Q4_1 => typed::<Q4_1>,
        WeightType::Q5_0 => typed::<Q5_0>,
        WeightType::Q5_1 => typed::<Q5_1>,
        WeightType::Q8_0 => typed::<Q8_0>,
        WeightType::Q4K => typed::<Q4K>,
        WeightType::Q5K => typed::<Q5K>,
        WeightType::Q6K => typed::<Q6K>,
        ty @ (WeightType::F32 | WeightType::F16 | WeightType::Bf16) => unreachable!("{ty:?} takes f32 activations"),
    };
    run(level, task, activations, scratch);
}

fn typed<C: Codes>(level: Level, task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    if activations.rows() < PREFILL_ROWS {
        decode::<C>(level, task, activations);
        return;
    }
    for first in (0..activations.groups()).step_by(BLOCK_GROUPS) {
        let groups = first..activations.groups().min(first + BLOCK_GROUPS);
        match level {
            Level::Avx512Vnni => pairs::<C>(task, activations, groups, scratch),
            _ => single::<C>(task, activations, groups, scratch),
        }
    }
}

/// Few tokens: weights are read once, straight from the panels.
fn decode<C: Codes>(level: Level, task: &Task<'_, '_>, activations: &Activations<'_>) {
    let mut sums: TileSums = [[0.0; PANEL_ROWS]; TILE];
    for panel in task.panels.clone() {
        for token in task.tokens.clone().step_by(TILE) {
            let (tile, width) = activations.tile(token);
            let panel_bytes = task.product.matrix.panel(panel);
            // SAFETY: the level says that the instructions exist; the matrix and the activations were checked.
            unsafe {
                match level {
                    Level::Avx512Vnni => avx512::multiply::<C>(panel_bytes, tile, width, &mut sums),
                    _ => avx2::multiply::<C>(panel_bytes, tile, width, &mut sums),
                }
            }
            task.store(panel, token, &sums[..width], task.product.accumulate);
        }
    }
}

/// `groups` of every panel times every token, panel by panel.
fn single<C: Codes>(task: &Task<'_, '_>, activations: &Activations<'_>, groups: Range<usize>, scratch: &mut [u8]) {
    let mut sums: TileSums = [[0.0; PANEL_ROWS]; TILE];
    let accumulate = task.product.accumulate || groups.start > 0;
    let panel_bytes = BLOCK_GROUPS * expanded_bytes::<C>(1);
    for (panel, out) in task.panels.clone().zip(scratch.chunks_exact_mut(panel_bytes)) {
        // SAFETY: the level says that the instructions exist; the matrix was checked.
        unsafe { expand::<C, false>(task.product.matrix.panel(panel), groups.clone(), 1, 0, out) };
    }
    for token in task.tokens.clone().step_by(TILE) {
        let (tile, width) = part(activations, token, &groups);
        for (panel, expanded) in task.panels.clone().zip(scratch.chunks_exact(panel_bytes)) {
            // SAFETY: as above.
            unsafe { avx2::multiply::<Expanded<C>>(expanded, tile, width, &mut sums) };
            task.store(panel, token, &sums[..width], accumulate);
        }
    }
}

/// `groups` of every panel times every token, two panels and three tiles at a time.
fn pairs<C: Codes>(task: &Task<'_, '_>, activations: &Activations<'_>, groups: Range<usize>, scratch: &mut [u8]) {
    let mut sums: BlockSums = [[0.0; 2 * PANEL_ROWS]; BLOCK_TOKENS];
    let accumulate = task.product.accumulate || groups.start > 0;
    let pair_bytes = BLOCK_GROUPS * expanded_bytes::<C>(2);
    for (index, panel) in task.panels.clone().enumerate() {
        let out = &mut scratch[index / 2 * pair_bytes..][..pair_bytes];
        // SAFETY: the level says that the instructions exist; the matrix was checked.
        unsafe { expand::<C, true>(task.product.matrix.panel(panel), groups.clone(), 2, index % 2, out) };
    }
    let mut token = task.tokens.start;
    while token < task.tokens.end {
        let mut tiles: [&[u8]; BLOCK_TOKENS / TILE] = [&[]; 3];
        let (mut count, mut end) = (0, token);
        let mut width = 0;
        while count < tiles.len() && end < task.tokens.end {
            let (tile, tile_width) = part(activations, end, &groups);
            if count > 0 && tile_width != width {
                break;
            }
            (tiles[count], width) = (tile, tile_width);
            count += 1;
            end += width;
        }
        for (pair, expanded) in scratch.chunks_exact(pair_bytes).enumerate().take(task.panels.len().div_ceil(2)) {
            // SAFETY: as above.
            unsafe { multiply_block::<C>(expanded, &tiles[..count], width, &mut sums) };
            task.store(task.panels.start + 2 * pair, token, &sums[..end - token], accumulate);
        }
        token = end;
    }
}

/// `groups` of the tile that starts at `token`, and its width.
fn part<'a>(activations: &Activations<'a>, token: usize, groups: &Range<usize>) -> (&'a [u8], usize) {
    let (tile, width) = activations.tile(token);
    let group_bytes = ROW_GROUP_BYTES * width;
    (&tile[groups.start * group_bytes..groups.end * group_bytes], width)
}
