//! Sampling settings and their limits.

/// How to choose the next token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Divides the logits; 0 takes the most likely token, always.
    pub temperature: f32,
    /// Keep this many of the most likely tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the most likely tokens until their probabilities add up to this; 1 keeps all.
    pub top_p: f32,
    /// Keep tokens at least this times as likely as the most likely one; 0 keeps all.
    pub min_p: f32,
    /// Divides (or multiplies, below zero) the logits of tokens seen before; 1 changes nothing.
    pub repetition_penalty: f32,
    /// Subtracted once from the logits of tokens seen before; 0 changes nothing.
    pub presence_penalty: f32,
    /// Subtracted for each time a token was seen before; 0 changes nothing.
    pub frequency_penalty: f32,
    /// How many of the last tokens the penalties look at; 0 switches them off.
    pub penalty_last_n: u32,
    /// Start of the random numbers.
    pub seed: u64,
}

impl Default for Sampling {
    /// Plain sampling from the model's own distribution.
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            penalty_last_n: 64,
            seed: 0,
        }
    }
}

/// A setting out of its range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{setting} is {value}; it must be from {low} to {high}")]
pub struct SamplingError {
    /// Name of the setting.
    pub setting: &'static str,
    /// Value that was given.
    pub value: f32,
    /// Smallest value that is accepted.
    pub low: f32,
    /// Largest value that is accepted.
    pub high: f32,
}

impl Sampling {
    /// Takes the most likely token, always.
    pub fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::default() }
    }

    /// Checks every setting against its range.
    pub fn validate(&self) -> Result<(), SamplingError> {
        let ranges = [
            ("temperature", self.temperature, 0.0, 100.0),
            ("top_p", self.top_p, f32::MIN_POSITIVE, 1.0),
            ("min_p", self.min_p, 0.0, 1.0),
            ("repetition_penalty", self.repetition_penalty, 0.01, 100.0),
            ("presence_penalty", self.presence_penalty, -100.0, 100.0),
            ("frequency_penalty", self.frequency_penalty, -100.0, 100.0),
        ];
        for (setting, value, low, high) in ranges {
            // Not `value < low || value > high`: NaN must fail.
            if !(low..=high).contains(&value) {
                return Err(SamplingError { setting, value, low, high });
            }
        }
        Ok(())
    }

    /// Is the temperature so low that dividing by it would overflow? Then the most likely token is taken.
    pub(super) fn is_greedy(&self) -> bool {
        self.temperature < 1e-7
    }
}
