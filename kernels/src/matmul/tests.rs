//! Products against sums in f64 of the dequantized operands, for every type, level, width and shape.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::activations::{Activations, PLANES};
use crate::level::Level;
use crate::samples::{Pattern, Rows, floats, seeded};
use crate::weight_type::{GROUP, WeightType};
use crate::{activation_bytes, quantize_activations};

/// Every product is within this part of the sum of the magnitudes of its terms: some f32 roundings for each group.
const BOUND: f64 = 2e-6;

struct Case {
    rows: Vec<Rows>,
    packed: Vec<Vec<u8>>,
    x: Vec<f32>,
    q8: Vec<u8>,
    tokens: usize,
    cols: usize,
}

impl Case {
    fn new(ty: WeightType, row_counts: &[usize], tokens: usize, cols: usize, pattern: Pattern) -> Self {
        let rows: Vec<Rows> =
            row_counts.iter().zip(1..).map(|(&rows, seed)| Rows::new(ty, rows, cols, pattern, seed)).collect();
        let packed = rows.iter().map(Rows::pack).collect();
        let mut rng = seeded(tokens as u64);
        let mut x = floats(&mut rng, tokens * cols);
        if pattern != Pattern::Random {
            x = x.into_iter().map(|x| if x > 0.3 { -5.0 } else { 5.0 }).collect();
            x[..cols].fill(5.0);
        }
        let mut q8 = vec![0; activation_bytes(tokens, cols)];
        quantize_activations(&Pool::new(1).unwrap(), &x, tokens, cols, &mut q8);
        Self { rows, packed, x, q8, tokens, cols }
    }

    /// Activations as the products see them.
    fn activation(&self, token: usize) -> Vec<f64> {
        if !self.rows[0].ty.accepts_q8() {
            return self.x[token * self.cols..][..self.cols].iter().map(|&x| f64::from(x)).collect();
        }
        let activations = Activations::new(&self.q8, self.tokens, self.cols);
        let values = |group| {
            let mut sums = [0.0; GROUP];
            for row in token * PLANES..(token + 1) * PLANES {
                let (d, codes) = activations.group(row, group);
                sums.iter_mut().zip(codes).for_each(|(sum, code)| *sum += f64::from(d) * f64::from(code));
            }
            sums
        };
        (0..self.cols / GROUP).flat_map(values).collect()
    }

    fn check(&self, pool: &Pool, accumulate: bool) {
        let before = if accumulate { 3.0 } else { f32::NAN };
        let mut outs: Vec<Vec<f32>> =
            self.rows.iter().map(|rows| vec![before; self.tokens * rows.values.len()]).collect();
        let mut products: Vec<Product<'_>> = (self.rows.iter().zip(&self.packed).zip(&mut outs))
            .map(|((rows, packed), out)| Product {
                matrix: Matrix::new(rows.ty, rows.values.len(), self.cols, packed).unwrap(),
                out,
                accumulate,
            })
            .collect();
        let input = if self.rows[0].ty.accepts_q8() { Input::Q8(&self.q8) } else { Input::F32(&self.x) };
        let mut scratch = vec![0; pool.threads() * matmul_scratch_per_thread()];
        matmul(pool, input, self.tokens, &mut products, &mut scratch);
        for token in 0..self.tokens {
            let activation = self.activation(token);
            for (rows, out) in self.rows.iter().zip(&outs) {
                for (row, values) in rows.values.iter().enumerate() {
                    let terms = || values.iter().zip(&activation).map(|(&w, a)| f64::from(w) * a);
                    let expected = terms().sum::<f64>() + if accumulate { 3.0 } else { 0.0 };
                    let magnitude = terms().map(f64::abs).sum::<f64>() + 3.0;
                    let found = f64::from(out[token * rows.values.len() + row]);
                    assert!(
                        (found - expected).abs() <= BOUND * magnitude * offset_factor(rows.ty),
                        "{:?} {:?} {} x {} token {token} of {} row {row}: {found}, expected {expected} of {magnitude}",
                        pool.level(),
                        rows.ty,
                        rows.values.len(),
                        self.cols,
                        self.tokens
                    );
                }
            }
        }
    }
}

/// Codes with an offset are multiplied before it is taken away, so their roundings are those of larger numbers.
fn offset_factor(ty: WeightType) -> f64 {
    if ty.accepts_q8() { 8.0 } else { 1.0 }
}

fn levels() -> impl Iterator<Item = Pool> {
    Level::ALL.into_iter().filter(|level| level.is_available()).map(|level| Pool::with_level(2, level).unwrap())
}

#[test]
fn products_equal_the_definition() {
    for pool in levels() {
        for ty in WeightType::ALL {
            for (rows, tokens, cols) in [(1, 1, 256), (8, 2, 256), (13, 3, 512), (40, 5, 768), (21, 7, 256)] {
                Case::new(ty, &[rows], tokens, cols, Pattern::Random).check(&pool, false);
            }
            for tokens in [4, 6, 8, 9, 11, 12, 13, 33] {
                Case::new(ty, &[19], tokens, 1280, Pattern::Random).check(&pool, tokens % 2 == 0);
            }
        }
    }
}

#[test]
fn columns_need_only_be_whole_groups() {
    for pool in levels() {
        for ty in WeightType::ALL.into_iter().filter(|ty| ty.block_elements() <= 32) {
            for tokens in [1, 5, 17] {
                Case::new(ty, &[9], tokens, 576, Pattern::Random).check(&pool, false);
                Case::new(ty, &[33], tokens, 32, Pattern::Random).check(&pool, true);
            }
        }
    }
}

/// The largest codes times the largest activations: nothing overflows on the way.
#[test]
fn extreme_values_do_not_overflow() {
    for pool in levels() {
        for ty in WeightType::ALL {
            for pattern in [Pattern::Largest, Pattern::Smallest] {
                for tokens in [1, 4, 16] {
                    Case::new(ty, &[16], tokens, 512, pattern).check(&pool, false);
                }
            }
        }
    }
}

#[test]
fn products_of_a_region_do_not_mix() {
    for pool in levels() {
        for ty in [WeightType::Q4_1, WeightType::Q8_0, WeightType::Q6K, WeightType::F16] {
            for tokens in [1, 7, 130] {
                Case::new(ty, &[64, 24, 9], tokens, 512, Pattern::Random).check(&pool, false);
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let case = Case::new(WeightType::Q4K, &[100], 70, 512, Pattern::Random);
    let run = |threads| {
        let pool = Pool::new(threads).unwrap();
        let mut out = vec![0.0; 70 * 100];
        let matrix = Matrix::new(WeightType::Q4K, 100, 512, &case.packed[0]).unwrap();
        let mut scratch = vec![0; threads * matmul_scratch_per_thread()];
        let mut product = [Product { matrix, out: &mut out, accumulate: false }];
        matmul(&pool, Input::Q8(&case.q8), 70, &mut product, &mut scratch);
        out
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
#[should_panic(expected = "input of")]
fn floats_are_refused_for_quantized_weights() {
    let case = Case::new(WeightType::Q4_0, &[8], 1, 32, Pattern::Random);
    let mut out = [0.0; 8];
    let matrix = Matrix::new(WeightType::Q4_0, 8, 32, &case.packed[0]).unwrap();
    let mut scratch = vec![0; matmul_scratch_per_thread()];
    let mut product = [Product { matrix, out: &mut out, accumulate: false }];
    matmul(&Pool::new(1).unwrap(), Input::F32(&case.x), 1, &mut product, &mut scratch);
}
