//! The exponential function for weights: the same bits on every machine, and simple enough to be vectorised.
//!
//! A platform's own `expf` differs in the last bit between systems, and a seed that a user noted would then mean another
//! answer on another machine.

/// e^x for x <= 0, within 2e-7 of the true value relatively; 0 below -87 and for NaN.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    // x = n ln 2 + r with |r| <= ln 2 / 2; e^x = 2^n e^r. Adding 1.5 * 2^23 rounds to a whole number, which then stands
    // in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 355.0 / 512.0;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    // Taylor, 1/k!: the first term left out is below 2e-8.
    let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    if x >= -87.0 { series * power } else { 0.0 }
}
