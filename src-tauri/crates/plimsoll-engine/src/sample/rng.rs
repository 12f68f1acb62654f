//! Random numbers that stay the same: xoshiro256++ 1.0 by Blackman and Vigna, seeded with SplitMix64.
//!
//! `rand` promises no stable sequence for its small and standard generators; a seed that a user noted must keep its
//! meaning. Source: <https://prng.di.unimi.it/>.

/// The generator's state, never all zero.
#[derive(Debug, Clone)]
pub(super) struct Xoshiro256(pub(super) [u64; 4]);

impl Xoshiro256 {
    pub(super) fn from_seed(seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self([next(), next(), next(), next()])
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.0;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Uniform in [0, 1), 53 bits.
    pub(super) fn next_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in f64")]
        let whole = (self.next_u64() >> 11) as f64;
        whole * STEP
    }
}
