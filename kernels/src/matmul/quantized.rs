//! Products of quantized weights with int8 activations.

use super::tasks::{PREFILL_TOKENS, Task};
use crate::activations::{ACTIVATION_GROUP_BYTES, Activations, TILE};
#[cfg(target_arch = "x86_64")]
use crate::cpu::avx2::{Codes, Expanded, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0, TileSums, expand, expanded_bytes, multiply};
use crate::layout::unpack_group;
use crate::level::Level;
use crate::weight_type::{GROUP, PANEL_ROWS, WeightType};

/// Bytes of scratch of one thread: a block of expanded weights.
pub(super) const SCRATCH: usize = 24 << 10;

/// Groups that are expanded at once: with the activations of a tile they stay in the first-level cache.
const BLOCK_GROUPS: usize = 16;

/// Runs one task.
pub(super) fn run(level: Level, task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2 {
        let run = match task.product.matrix.weight_type() {
            WeightType::Q4_0 => vectors::<Q4_0>,
            WeightType::Q4_1 => vectors::<Q4_1>,
            WeightType::Q5_0 => vectors::<Q5_0>,
            WeightType::Q5_1 => vectors::<Q5_1>,
            WeightType::Q8_0 => vectors::<Q8_0>,
            WeightType::Q4K => vectors::<Q4K>,
            WeightType::Q5K => vectors::<Q5K>,
            WeightType::Q6K => vectors::<Q6K>,
            WeightType::F32 | WeightType::F16 | WeightType::Bf16 => return portable(task, activations),
        };
        return run(task, activations, scratch);
    }
    let _ = (level, scratch);
    portable(task, activations);
}

#[cfg(target_arch = "x86_64")]
fn vectors<C: Codes>(task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    if activations.tokens() < PREFILL_TOKENS {
        decode::<C>(task, activations);
    } else {
        prefill::<C>(task, activations, scratch);
    }
}

/// Few tokens: weights are read once, straight from the panels.
#[cfg(target_arch = "x86_64")]
fn decode<C: Codes>(task: &Task<'_, '_>, activations: &Activations<'_>) {
    let mut sums: TileSums = [[0.0; PANEL_ROWS]; TILE];
    for panel in task.panels.clone() {
        for token in task.tokens.clone().step_by(TILE) {
            let (tile, width) = activations.tile(token);
            // SAFETY: the level says that the instructions exist; the matrix and the activations were checked.
            unsafe { multiply::<C>(task.product.matrix.panel(panel), tile, width, &mut sums) };
            for (t, sums) in sums.iter().enumerate().take(width) {
                task.store(panel, token + t, sums, task.product.accumulate);
            }
        }
    }
}

/// Many tokens: a block of weights is expanded once and used for all of them.
#[cfg(target_arch = "x86_64")]
fn prefill<C: Codes>(task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    let mut sums: TileSums = [[0.0; PANEL_ROWS]; TILE];
    let panel_bytes = BLOCK_GROUPS * expanded_bytes::<C>(1);
    for first in (0..activations.groups()).step_by(BLOCK_GROUPS) {
        let groups = first..activations.groups().min(first + BLOCK_GROUPS);
        let accumulate = task.product.accumulate || first > 0;
        for (panel, out) in task.panels.clone().zip(scratch.chunks_exact_mut(panel_bytes)) {
            // SAFETY: the level says that the instructions exist; the matrix was checked.
            unsafe { expand::<C, false>(task.product.matrix.panel(panel), groups.clone(), 1, 0, out) };
        }
        for token in task.tokens.clone().step_by(TILE) {
            let (tile, width) = activations.tile(token);
            let group_bytes = ACTIVATION_GROUP_BYTES * width;
            let tile = &tile[groups.start * group_bytes..groups.end * group_bytes];
            for (panel, expanded) in task.panels.clone().zip(scratch.chunks_exact(panel_bytes)) {
                // SAFETY: as above.
                unsafe { multiply::<Expanded<C>>(expanded, tile, width, &mut sums) };
                for (t, sums) in sums.iter().enumerate().take(width) {
                    task.store(panel, token + t, sums, accumulate);
                }
            }
        }
    }
}

/// The definition: dequantized weight times code, times the activation's scale, group by group.
fn portable(task: &Task<'_, '_>, activations: &Activations<'_>) {
    let matrix = task.product.matrix;
    for panel in task.panels.clone() {
        for token in task.tokens.clone() {
            let mut sums = [0.0; PANEL_ROWS];
            for group in 0..activations.groups() {
                let (d, codes) = activations.group(token, group);
                for (row, sum) in sums.iter_mut().enumerate() {
                    let mut weights = [0.0; GROUP];
                    unpack_group(matrix.weight_type(), matrix.panel(panel), row, group, &mut weights);
                    let dot: f32 = weights.iter().zip(codes).map(|(w, q)| w * f32::from(q)).sum();
                    *sum += d * dot;
                }
            }
            task.store(panel, token, &sums, task.product.accumulate);
        }
    }
}
