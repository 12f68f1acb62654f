//! Choosing the next token from the logits.
//!
//! Order: penalties, temperature, then what stays is the intersection of top-k, top-p and min-p. The semantics of
//! temperature, top-k and top-p are those of candle-transformers' `LogitsProcessor`: top-p adds up probabilities of the
//! whole vocabulary, also after top-k. Nothing is allocated and the vocabulary is never sorted as a whole.

mod exp;
mod penalties;
mod rng;
mod select;
mod settings;

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "tests"
)]
mod tests;

use rng::Xoshiro256;

pub use settings::{Sampling, SamplingError};

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// No logit is a number above minus infinity.
    #[error("none of the {vocabulary} logits is usable; {nan} of them are not numbers")]
    NoUsableLogit {
        /// Count of logits.
        vocabulary: usize,
        /// How many are NaN.
        nan: usize,
    },
    /// The scratch is shorter than the logits.
    #[error("the scratch has {scratch} places, {vocabulary} are needed")]
    ScratchTooSmall {
        /// Places in the scratch.
        scratch: usize,
        /// Count of logits.
        vocabulary: usize,
    },
}

/// Chooses tokens for one answer. The same settings, logits and history give the same tokens on every machine and in
/// every version.
#[derive(Debug, Clone)]
pub struct Sampler {
    settings: Sampling,
    rng: Xoshiro256,
}

impl Sampler {
    /// A sampler at the start of its seed's sequence.
    pub fn new(settings: Sampling) -> Result<Self, SamplingError> {
        settings.validate()?;
        Ok(Self { rng: Xoshiro256::from_seed(settings.seed), settings })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Sampling {
        &self.settings
    }

    /// Chooses the next token. `logits` has one value for each token and is changed by the penalties; `scratch` has at
    /// least as many places and what it holds does not matter; `history` is the sequence so far, prompt included.
    pub fn sample(
        &mut self,
        logits: &mut [f32],
        scratch: &mut [(u32, f32)],
        history: &[u32],
    ) -> Result<u32, SampleError> {
        let vocabulary = logits.len();
        let too_small = SampleError::ScratchTooSmall { scratch: scratch.len(), vocabulary };
        let scratch = scratch.get_mut(..vocabulary).ok_or(too_small)?;
        penalties::apply(&self.settings, logits, scratch, history);
        let best = select::argmax(logits).ok_or_else(|| SampleError::NoUsableLogit {
            vocabulary,
            nan: logits.iter().filter(|logit| logit.is_nan()).count(),
        })?;
        if self.settings.is_greedy() {
            return Ok(best.0);
        }
        let kept = select::candidates(&self.settings, logits, best.1, scratch);
        Ok(select::draw(kept, self.rng.next_f64()).unwrap_or(best.0))
    }
}
