//! Rotations: angles against f64, both pairings, and what rotation preserves.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::samples::{floats, seeded};

#[test]
fn angles_are_exact_at_far_positions() {
    let (dim, base) = (64, 100_000.0_f32);
    for first in [0, 5, 8191, 131_071] {
        let mut table = vec![f32::NAN; 3 * dim];
        rope_table(first, 3, dim, base, 0.125, &[], &mut table);
        for token in 0..3 {
            for pair in 0..dim / 2 {
                let angle = (first + token) as f64 * 0.125 / f64::from(base).powf(2.0 * pair as f64 / dim as f64);
                let found = [table[token * dim + pair], table[token * dim + dim / 2 + pair]].map(f64::from);
                assert!((found[0] - angle.cos()).abs() < 1e-6 && (found[1] - angle.sin()).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn factors_divide_frequencies() {
    let (mut plain, mut halved) = ([0.0; 8], [0.0; 8]);
    rope_table(6, 1, 8, 10_000.0, 1.0, &[2.0; 4], &mut halved);
    rope_table(3, 1, 8, 10_000.0, 1.0, &[], &mut plain);
    assert_eq!(plain, halved);
}

#[test]
fn pairs_are_neighbours_or_halves() {
    // A quarter turn: (a, b) becomes (-b, a).
    let table = [0.0, 0.0, 1.0, 1.0];
    let mut x = [1.0, 2.0, 3.0, 4.0, 9.0];
    rope_interleaved(&mut x, 1, 5, 4, &table);
    assert_eq!(x, [-2.0, 1.0, -4.0, 3.0, 9.0], "values behind the rotated ones stay");
    let mut x = [1.0, 2.0, 3.0, 4.0, 9.0];
    rope_halves(&mut x, 1, 5, 4, &table);
    assert_eq!(x, [-3.0, -4.0, 1.0, 2.0, 9.0]);
}

/// Scores depend on the distance of two positions, not on the positions.
#[test]
fn rotated_dot_products_depend_on_the_distance_alone() {
    let mut rng = seeded(2);
    let (query, key) = (floats(&mut rng, 64), floats(&mut rng, 64));
    for rotate in [rope_interleaved, rope_halves] {
        let turned = |x: &[f32], position: usize| {
            let mut table = [0.0; 64];
            rope_table(position, 1, 64, 10_000.0, 1.0, &[], &mut table);
            let mut x = x.to_vec();
            rotate(&mut x, 1, 64, 64, &table);
            x
        };
        let score =
            |q: usize, k: usize| -> f32 { turned(&query, q).iter().zip(turned(&key, k)).map(|(q, k)| q * k).sum() };
        assert!((score(107, 100) - score(7, 0)).abs() < 1e-4);
        assert!((score(1007, 1000) - score(7, 0)).abs() < 1e-4);
    }
}

#[test]
fn every_token_takes_its_own_row_of_the_table() {
    let (tokens, heads, head_dim, dim) = (3, 2, 6, 4);
    let mut table = vec![0.0; tokens * dim];
    rope_table(11, tokens, dim, 100.0, 1.0, &[], &mut table);
    let x = floats(&mut seeded(6), tokens * heads * head_dim);
    let mut all = x.clone();
    rope_halves(&mut all, heads, head_dim, dim, &table);
    for token in 0..tokens {
        for head in 0..heads {
            let at = (token * heads + head) * head_dim;
            let mut one = x[at..at + head_dim].to_vec();
            rope_halves(&mut one, 1, head_dim, dim, &table[token * dim..]);
            assert_eq!(one, all[at..at + head_dim], "token {token} head {head}");
        }
    }
}
