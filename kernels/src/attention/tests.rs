//! Attention against a softmax in f64, for windows, caps, groups, positions and page orders.
#![allow(clippy::unwrap_used, reason = "tests")]

use half::f16;
use proptest::prelude::*;

use super::*;
use crate::kv::{KV_PAGE_TOKENS, KvLayout, kv_append};
use crate::samples::{floats, seeded};

/// Every output is a mean of values in -1..1; f32 sums and the exponential err by less than this.
const BOUND: f64 = 3e-6;

#[derive(Debug, Clone, Copy)]
struct Case {
    kv_heads: usize,
    group: usize,
    key_dim: usize,
    value_dim: usize,
    first: usize,
    tokens: usize,
    window: Option<usize>,
    softcap: Option<f32>,
}

const CASE: Case =
    Case { kv_heads: 2, group: 3, key_dim: 64, value_dim: 64, first: 0, tokens: 1, window: None, softcap: None };

/// What the pages hold, and the queries.
struct Data {
    keys: Vec<f32>,
    values: Vec<f32>,
    query: Vec<f32>,
}

impl Case {
    fn data(&self) -> Data {
        let mut rng = seeded(self.first as u64 + 7);
        let positions = self.first + self.tokens;
        // Queries up to 4 in magnitude, so that the softmax is far from flat.
        let query = floats(&mut rng, self.tokens * self.kv_heads * self.group * self.key_dim);
        Data {
            keys: floats(&mut rng, positions * self.kv_heads * self.key_dim),
            values: floats(&mut rng, positions * self.kv_heads * self.value_dim),
            query: query.into_iter().map(|q| 4.0 * q).collect(),
        }
    }

    fn spec(&self) -> AttentionSpec {
        AttentionSpec {
            heads: self.kv_heads * self.group,
            first_position: self.first,
            tokens: self.tokens,
            window: self.window,
            scale: 0.2,
            softcap: self.softcap,
        }
    }

    /// The outputs at `level`. Pages are in reverse order, surplus slots hold NaN, unseen pages do not exist.
    fn run(&self, data: &Data, threads: usize, level: Level) -> Vec<f32> {
        let pool = Pool::with_level(threads, level).unwrap();
        let layout = KvLayout { kv_heads: self.kv_heads, key_dim: self.key_dim, value_dim: self.value_dim };
        let spec = self.spec();
        let first_page = spec.first_seen(self.first) / KV_PAGE_TOKENS;
        let pages = (self.first + self.tokens).div_ceil(KV_PAGE_TOKENS) - first_page;
        let table: Vec<u32> = (0..pages as u32).rev().collect();
        let mut bytes = f16::NAN.to_le_bytes().repeat(pages * layout.page_bytes() / 2);
        let start = first_page * KV_PAGE_TOKENS;
        kv_append(
            &mut bytes,
            layout,
            &table,
            first_page,
            start,
            &data.keys[start * self.kv_heads * self.key_dim..],
            &data.values[start * self.kv_heads * self.value_dim..],
        );
        let view = KvView { pages: &bytes, table: &table, first_page, layout };
        let mut out = vec![f32::NAN; self.tokens * spec.heads * self.value_dim];
        let per_thread = attention_scratch_per_thread(self.group, self.key_dim, self.value_dim);
        // What an earlier op left in the scratch must not matter.
        let mut scratch = vec![f32::NAN; threads * per_thread / 4];
        // SAFETY: any floats are bytes.
        let (_, scratch, _) = unsafe { scratch.align_to_mut::<u8>() };
        attention(&pool, &data.query, &view, &spec, &mut out, scratch);
        out
    }

    /// The definition in f64, over the f16 values that the pages hold.
    fn expected(&self, data: &Data) -> Vec<f64> {
        let half = |value: f32| f16::from_f32(value).to_f64();
        let spec = self.spec();
        let mut out = Vec::new();
        for token in 0..self.tokens {
            for h in 0..spec.heads {
                let query = &data.query[(token * spec.heads + h) * self.key_dim..][..self.key_dim];
                let row = |position: usize| position * self.kv_heads + h / self.group;
                let position = self.first + token;
                let seen = self.window.map_or(0, |window| (position + 1).saturating_sub(window))..=position;
                let scores: Vec<f64> = seen
                    .clone()
                    .map(|p| {
                        let key = &data.keys[row(p) * self.key_dim..][..self.key_dim];
                        let dot: f64 = query.iter().zip(key).map(|(&q, &k)| f64::from(q) * half(k)).sum();
                        let score = dot * f64::from(spec.scale);
                        self.softcap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh())
                    })
                    .collect();
                let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
                let total: f64 = weights.iter().sum();
                for i in 0..self.value_dim {
                    let value = |p: usize| half(data.values[row(p) * self.value_dim + i]);
                    out.push(weights.iter().zip(seen.clone()).map(|(w, p)| w * value(p)).sum::<f64>() / total);
                }
            }
        }
        out
    }

    fn check(&self) {
        let data = self.data();
        let expected = self.expected(&data);
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for threads in [1, 3] {
                let found = self.run(&data, threads, level);
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let error = (f64::from(*found) - expected).abs();
                    assert!(error <= BOUND, "{self:?} {level:?} {threads} threads, {i}: {found}, expected {expected}");
                }
            }
        }
    }
}

#[test]
fn one_query_at_every_kind_of_position() {
    for first in [0, 1, 62, 63, 64, 65, 200, 1000] {
        Case { first, ..CASE }.check();
    }
}

#[test]
fn many_queries() {
    for (first, tokens) in [(0, 2), (0, 7), (0, 8), (0, 9), (0, 33), (0, 130), (63, 2), (100, 64), (190, 70)] {
        Case { first, tokens, ..CASE }.check();
    }
}

#[test]
fn windows_hide_what_is_behind_them() {
    for window in [1, 5, 64, 65, 100] {
        for (first, tokens) in [(0, 1), (63, 1), (150, 1), (0, 100), (130, 75)] {
            Case { first, tokens, window: Some(window), ..CASE }.check();
        }
    }
}

#[test]
fn scores_are_capped() {
    for (first, tokens) in [(90, 1), (90, 20)] {
        Case { first, tokens, softcap: Some(1.5), ..CASE }.check();
        Case { first, tokens, softcap: Some(50.0), window: Some(70), ..CASE }.check();
    }
}

#[test]
fn shapes_of_heads() {
    let shapes = [
        (1, 4, 256, 256),
        (1, 1, 64, 64),
        (8, 4, 128, 128),
        (3, 3, 64, 64),
        (1, 9, 96, 112),
        (2, 2, 12, 20),
        (1, 71, 16, 16),
    ];
    for (kv_heads, group, key_dim, value_dim) in shapes {
        for (first, tokens) in [(70, 1), (300, 1), (60, 17)] {
            Case { kv_heads, group, key_dim, value_dim, first, tokens, ..CASE }.check();
        }
    }
}

/// Scores so far apart that all but one weight underflow, and growing, so that every page rescales.
#[test]
fn steep_scores_stay_finite() {
    let case = Case { tokens: 70, first: 70, ..CASE };
    for tokens in [1, 70] {
        let case = Case { tokens, ..case };
        let mut data = case.data();
        data.query.iter_mut().for_each(|q| *q *= 500.0);
        let expected = case.expected(&data);
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for (found, expected) in case.run(&data, 2, level).iter().zip(&expected) {
                // Rounding of a score of some thousands changes its weight by as much.
                assert!((f64::from(*found) - expected).abs() < 5e-3, "{level:?}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn scratch_is_a_multiple_of_a_cache_line() {
    for (group, key_dim, value_dim) in [(1, 64, 64), (3, 64, 64), (4, 256, 256), (5, 80, 96), (128, 64, 64)] {
        assert_eq!(attention_scratch_per_thread(group, key_dim, value_dim) % 64, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_shape_equals_the_definition(
        kv_heads in 1usize..4, group in 1usize..6, wide in 1usize..5, first in 0usize..150, tokens in 1usize..40,
        window in prop::option::of(1usize..120),
    ) {
        Case { kv_heads, group, key_dim: 8 * wide, value_dim: 16 * wide, first, tokens, window, softcap: None }.check();
    }
}
