//! Norms against f64.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::samples::{floats, seeded};

#[test]
fn rows_have_the_weighted_direction_and_unit_mean_square() {
    let mut rng = seeded(1);
    for (rows, dim) in [(1, 1), (1, 7), (3, 64), (2, 100), (9, 256), (2, 576)] {
        let x: Vec<f32> = floats(&mut rng, rows * dim).into_iter().map(|x| 30.0 * x).collect();
        let weight = floats(&mut rng, dim);
        let mut out = vec![f32::NAN; x.len()];
        rms_norm(&x, &weight, 1e-5, &mut out);
        let mut in_place = x.clone();
        rms_norm_in_place(&mut in_place, &weight, 1e-5);
        assert_eq!(in_place, out, "in place or not is the same");
        for (x, out) in x.chunks_exact(dim).zip(out.chunks_exact(dim)) {
            let mean = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>() / dim as f64;
            for ((x, weight), out) in x.iter().zip(&weight).zip(out) {
                let expected = f64::from(*x) / (mean + 1e-5).sqrt() * f64::from(*weight);
                assert!((f64::from(*out) - expected).abs() <= 2e-6 * expected.abs().max(1e-3), "{out} {expected}");
            }
        }
    }
}

#[test]
fn epsilon_keeps_zeros_finite() {
    let mut x = [0.0; 16];
    rms_norm_in_place(&mut x, &[2.0; 16], 1e-6);
    assert_eq!(x, [0.0; 16]);
}
