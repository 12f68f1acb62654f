//! Products of 16- and 32-bit weights with f32 activations.

use half::{bf16, f16};

use super::tasks::Task;
#[cfg(target_arch = "x86_64")]
use crate::cpu::avx2::{Bf16, F16, F32, FLOAT_TOKENS, FloatSums, Values, multiply_floats};
use crate::level::Level;
use crate::weight_type::{PANEL_ROWS, WeightType};

/// Runs one task. `x` is `[tokens, cols]`.
pub(super) fn run(level: Level, task: &Task<'_, '_>, x: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2 {
        return match task.product.matrix.weight_type() {
            WeightType::F16 => vectors::<F16>(task, x),
            WeightType::Bf16 => vectors::<Bf16>(task, x),
            _ => vectors::<F32>(task, x),
        };
    }
    let _ = level;
    portable(task, x);
}

#[cfg(target_arch = "x86_64")]
fn vectors<V: Values>(task: &Task<'_, '_>, x: &[f32]) {
    let cols = task.product.matrix.cols();
    let mut sums: FloatSums = [[0.0; PANEL_ROWS]; FLOAT_TOKENS];
    for panel in task.panels.clone() {
        for token in task.tokens.clone().step_by(FLOAT_TOKENS) {
            let width = FLOAT_TOKENS.min(task.tokens.end - token);
            let x = &x[token * cols..(token + width) * cols];
            // SAFETY: the level says that the instructions exist.
            unsafe { multiply_floats::<V>(task.product.matrix.panel(panel), x, cols, &mut sums) };
            task.store(panel, token, &sums[..width], task.product.accumulate);
        }
    }
}

/// The definition.
fn portable(task: &Task<'_, '_>, x: &[f32]) {
    let matrix = task.product.matrix;
    let cols = matrix.cols();
    let width = matrix.weight_type().block_bytes();
    for panel in task.panels.clone() {
        for token in task.tokens.clone() {
            let mut sums = [0.0_f32; PANEL_ROWS];
            let columns = matrix.panel(panel).chunks_exact(width * PANEL_ROWS);
            for (x, column) in x[token * cols..(token + 1) * cols].iter().zip(columns) {
                for (sum, bytes) in sums.iter_mut().zip(column.chunks_exact(width)) {
                    *sum += x * value(matrix.weight_type(), bytes);
                }
            }
            task.store(panel, token, &[sums], task.product.accumulate);
        }
    }
}

fn value(ty: WeightType, bytes: &[u8]) -> f32 {
    match ty {
        WeightType::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
        WeightType::Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
        _ => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
    }
}
