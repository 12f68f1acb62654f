//! Activations of the feed-forward part, and other functions of one element.

use crate::level::Level;
use crate::pool::Pool;
use crate::shared::SharedMut;

/// Elements of one task.
const CHUNK: usize = 16 << 10;

/// `gate[i] = silu(gate[i]) * up[i]`, with `silu(x) = x / (1 + exp(-x))`.
///
/// # Panics
/// When the lengths differ.
pub fn silu_mul(pool: &Pool, gate: &mut [f32], up: &[f32]) {
    gated(pool, gate, up, |level, gate, up| {
        #[cfg(target_arch = "x86_64")]
        if level >= Level::Avx2 {
            // SAFETY: the level says that the instructions exist; the lengths are equal.
            return unsafe { crate::cpu::avx2::silu_mul(gate, up) };
        }
        let _ = level;
        for (gate, up) in gate.iter_mut().zip(up) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
    });
}

/// `gate[i] = gelu(gate[i]) * up[i]`, with the tanh form of GELU:
/// `gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))`.
///
/// # Panics
/// When the lengths differ.
pub fn gelu_tanh_mul(pool: &Pool, gate: &mut [f32], up: &[f32]) {
    gated(pool, gate, up, |level, gate, up| {
        #[cfg(target_arch = "x86_64")]
        if level >= Level::Avx2 {
            // SAFETY: the level says that the instructions exist; the lengths are equal.
            return unsafe { crate::cpu::avx2::gelu_tanh_mul(gate, up) };
        }
        let _ = level;
        for (gate, up) in gate.iter_mut().zip(up) {
            let x = *gate;
            let inner = SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x);
            *gate = 0.5 * x * (1.0 + inner.tanh()) * up;
        }
    });
}

/// `sqrt(2 / pi)`.
pub(crate) const SQRT_2_OVER_PI: f32 = 0.797_884_6;

/// Factor of the cube in the tanh form of GELU.
pub(crate) const GELU_CUBIC: f32 = 0.044_715;

/// `x[i] += y[i]`.
///
/// # Panics
/// When the lengths differ.
pub fn add(x: &mut [f32], y: &[f32]) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// `x[i] *= factor`.
pub fn scale(x: &mut [f32], factor: f32) {
    for x in x {
        *x *= factor;
    }
}

/// `x[i] = cap * tanh(x[i] / cap)`.
pub fn softcap(x: &mut [f32], cap: f32) {
    #[cfg(target_arch = "x86_64")]
    if Level::detected() >= Level::Avx2 {
        // SAFETY: the level says that the instructions exist.
        return unsafe { crate::cpu::avx2::softcap(x, cap) };
    }
    for x in x {
        *x = cap * (*x / cap).tanh();
    }
}

/// Runs `apply` over chunks of both slices.
fn gated(pool: &Pool, gate: &mut [f32], up: &[f32], apply: impl Fn(Level, &mut [f32], &[f32]) + Sync) {
    assert_eq!(gate.len(), up.len());
    let len = gate.len();
    let gate = SharedMut::new(gate);
    pool.run(len.div_ceil(CHUNK), &|task, _| {
        let first = task * CHUNK;
        let count = CHUNK.min(len - first);
        // SAFETY: chunks do not overlap.
        apply(pool.level(), unsafe { gate.slice(first, count) }, &up[first..first + count]);
    });
}

#[cfg(test)]
mod tests;
