//! Int8 activations: the vector code against the definition bit for bit, and the error of rounding.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::level::Level;
use crate::samples::{floats, seeded};

fn quantized(level: Level, x: &[f32], tokens: usize, cols: usize) -> Vec<u8> {
    let mut out = vec![0xAA; activation_bytes(tokens, cols)];
    quantize_activations(&Pool::with_level(2, level).unwrap(), x, tokens, cols, &mut out);
    out
}

#[test]
fn every_level_computes_the_same_bits() {
    let mut rng = seeded(4);
    for (tokens, cols) in [(1, 32), (2, 96), (3, 576), (4, 64), (5, 64), (7, 128), (8, 32), (33, 64), (70, 96)] {
        let mut x = floats(&mut rng, tokens * cols);
        x[..32].fill(0.0);
        let portable = quantized(Level::Scalar, &x, tokens, cols);
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            assert_eq!(quantized(level, &x, tokens, cols), portable, "{level:?} {tokens} x {cols}");
        }
    }
}

#[test]
fn a_tile_of_one_token_is_two_headers_and_two_rows_of_codes() {
    let x: Vec<f32> = (0..32_u8).map(|k| f32::from(k) - 15.0).collect();
    let bytes = quantized(Level::detected(), &x, 1, 32);
    let field = |i: usize| f32::from_le_bytes(bytes[4 * PLANES * i..][..4].try_into().unwrap());
    let d = 16.0 / 127.0;
    assert_eq!(field(0), d);
    let first_plane = bytes[16 * PLANES..].chunks(4).step_by(PLANES).flatten();
    let codes: Vec<i32> = first_plane.map(|&b| i32::from(b.cast_signed())).collect();
    assert_eq!(codes, x.iter().map(|x| (x * 127.0 / 16.0).round_ties_even() as i32).collect::<Vec<_>>());
    let sum = |codes: &[i32]| d * codes.iter().sum::<i32>() as f32;
    assert_eq!([field(1), field(2), field(3)], [sum(&codes), sum(&codes[..16]), sum(&codes[16..])]);
}

#[test]
fn zeros_and_tiny_values_stay_finite() {
    for value in [0.0, -0.0, 1e-38, -3e-31, f32::MIN_POSITIVE] {
        let bytes = quantized(Level::detected(), &[value; 32], 1, 32);
        assert_eq!(bytes, [0; ACTIVATION_GROUP_BYTES], "{value}");
    }
    let view = quantized(Level::detected(), &[1e30; 32], 1, 32);
    let (d, codes) = Activations::new(&view, 1, 32).group(0, 0);
    assert!((d * 127.0 / 1e30 - 1.0).abs() < 1e-6 && codes == [127; 32]);
}

#[test]
#[should_panic(expected = "not whole groups")]
fn columns_must_be_whole_groups() {
    quantized(Level::detected(), &[0.0; 48], 1, 48);
}

proptest! {
    #[test]
    fn rounding_errs_by_half_a_step_of_the_second_plane(x in prop::collection::vec(-1e3_f32..1e3, 32 * 5), shift in -20_i32..20) {
        let factor = 2_f32.powi(shift);
        let x: Vec<f32> = x.into_iter().map(|x| x * factor).collect();
        let bytes = quantized(Level::detected(), &x, 5, 32);
        let view = Activations::new(&bytes, 5, 32);
        for (token, x) in x.chunks_exact(32).enumerate() {
            let ((d, codes), (d2, left)) = (view.group(token * PLANES, 0), view.group(token * PLANES + 1, 0));
            prop_assert!(d2 <= d / 253.0, "the remainder is at most half a step of the first plane: {} {}", d, d2);
            for ((x, code), left) in x.iter().zip(codes).zip(left) {
                let error = (f64::from(*x) - f64::from(d) * f64::from(code) - f64::from(d2) * f64::from(left)).abs();
                let bound = f64::from(d2) * 0.5001 + f64::from(d) * 1e-5;
                prop_assert!(error <= bound, "{} with steps {} and {}: off by {}", x, d, d2, error);
            }
        }
    }
}
