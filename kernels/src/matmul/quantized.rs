//! Products of quantized weights with int8 activations.

use super::tasks::Task;
use crate::activations::{Activations, PLANES};
use crate::layout::unpack_group;
use crate::level::Level;
use crate::weight_type::{GROUP, PANEL_ROWS};

#[cfg(target_arch = "x86_64")]
mod vectors;

/// Bytes of scratch of one thread: a block of expanded weights.
pub(super) const SCRATCH: usize = 24 << 10;

/// Runs one task.
pub(super) fn run(level: Level, task: &Task<'_, '_>, activations: &Activations<'_>, scratch: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2 {
        return vectors::run(level, task, activations, scratch);
    }
    let _ = (level, scratch);
    portable(task, activations);
}

/// The definition: dequantized weight times code, times the activation's scale, group by group.
fn portable(task: &Task<'_, '_>, activations: &Activations<'_>) {
    let matrix = task.product.matrix;
    for panel in task.panels.clone() {
        for token in task.tokens.clone().step_by(PLANES) {
            let mut sums = [[0.0; PANEL_ROWS]; PLANES];
            for (plane, sums) in sums.iter_mut().enumerate() {
                for group in 0..activations.groups() {
                    let (d, codes) = activations.group(token + plane, group);
                    for (row, sum) in sums.iter_mut().enumerate() {
                        let mut weights = [0.0; GROUP];
                        unpack_group(matrix.weight_type(), matrix.panel(panel), row, group, &mut weights);
                        let dot: f32 = weights.iter().zip(codes).map(|(w, q)| w * f32::from(q)).sum();
                        *sum += d * dot;
                    }
                }
            }
            task.store(panel, token, &sums, task.product.accumulate);
        }
    }
}
