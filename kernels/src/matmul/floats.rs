//! Products of 16- and 32-bit weights with f32 activations.

use half::{bf16, f16};

use super::tasks::Task;
use crate::level::Level;
use crate::weight_type::{PANEL_ROWS, WeightType};

/// Runs one task. `x` is `[tokens, cols]`.
pub(super) fn run(level: Level, task: &Task<'_, '_>, x: &[f32]) {
    let _ = level;
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
            task.store(panel, token, &sums, task.product.accumulate);
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
