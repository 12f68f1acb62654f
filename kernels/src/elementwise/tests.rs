//! Functions of one element against f64, over their whole range.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::samples::{floats, seeded};

/// Values over the whole range of interest, at a length that is not whole vectors.
fn range() -> Vec<f32> {
    let dense = (-2000..2000_i16).map(|i| f32::from(i) / 97.0);
    let far =
        [-1e30, -1000.0, -100.0, -88.0, -87.3, -20.0, -1e-6, 0.0, 1e-20, 1e-6, 20.0, 87.0, 88.5, 100.0, 1e30, 0.5, 3.0];
    dense.chain(far).collect()
}

fn pools() -> impl Iterator<Item = Pool> {
    Level::ALL.into_iter().filter(|level| level.is_available()).map(|level| Pool::with_level(2, level).unwrap())
}

/// Checks `found` against `expected(x) * up` with a relative error of 2e-6 or an absolute one of 1e-35.
fn check(pool: &Pool, gate: &[f32], up: &[f32], found: &[f32], expected: impl Fn(f64) -> f64) {
    for ((x, up), found) in gate.iter().zip(up).zip(found) {
        let expected = expected(f64::from(*x)) * f64::from(*up);
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 2e-6 * expected.abs() + 1e-35, "{:?} of {x}: {found}, expected {expected}", pool.level());
    }
}

#[test]
fn silu() {
    for pool in pools() {
        let gate = range();
        let up = floats(&mut seeded(1), gate.len());
        let mut found = gate.clone();
        silu_mul(&pool, &mut found, &up);
        check(&pool, &gate, &up, &found, |x| x / (1.0 + (-x).exp()));
    }
}

#[test]
fn gelu() {
    for pool in pools() {
        // Beyond 5 the tail of the portable definition is lost in `1 + tanh`; its exact value is below 1e-6.
        let gate: Vec<f32> = range().into_iter().filter(|x| x.abs() < 1e9).collect();
        let up = floats(&mut seeded(1), gate.len());
        let mut found = gate.clone();
        gelu_tanh_mul(&pool, &mut found, &up);
        for ((x, up), found) in gate.iter().zip(&up).zip(&found) {
            let (x, up) = (f64::from(*x), f64::from(*up));
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            let expected = 0.5 * x * (1.0 + inner.tanh()) * up;
            let error = (f64::from(*found) - expected).abs();
            assert!(error <= 1e-6 * (x * up).abs(), "{:?} of {x}: {found}, expected {expected}", pool.level());
        }
    }
}

#[test]
fn gates_of_every_length_and_across_chunks() {
    for pool in pools() {
        for len in [0, 1, 7, 8, 9, 31, CHUNK - 1, CHUNK, 2 * CHUNK + 5] {
            let gate = floats(&mut seeded(len as u64), len);
            let up = floats(&mut seeded(2), len);
            let mut found = gate.clone();
            silu_mul(&pool, &mut found, &up);
            check(&pool, &gate, &up, &found, |x| x / (1.0 + (-x).exp()));
        }
    }
}

#[test]
fn softcap_bounds_and_keeps_the_order() {
    let x = range();
    let mut found = x.clone();
    softcap(&mut found, 30.0);
    for (x, found) in x.iter().zip(&found) {
        let expected = 30.0 * (f64::from(*x) / 30.0).tanh();
        // 3e-7 of the cap.
        assert!((f64::from(*found) - expected).abs() <= 1e-5, "{x}: {found}, expected {expected}");
        assert!(found.abs() <= 30.0);
    }
}

#[test]
fn add_and_scale() {
    let mut x = [1.0, -2.0, 3.0];
    add(&mut x, &[0.5, 0.5, 0.5]);
    assert_eq!(x, [1.5, -1.5, 3.5]);
    scale(&mut x, -2.0);
    assert_eq!(x, [-3.0, 3.0, -7.0]);
}

#[test]
#[should_panic(expected = "assertion")]
fn lengths_must_agree() {
    add(&mut [0.0; 3], &[0.0; 4]);
}
