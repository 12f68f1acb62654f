//! Token ids to text, as they come.
//!
//! What was emitted is never taken back: a character is emitted once all its bytes are there, and text that may become
//! a stop string is held until it is clear that it does not. All deltas and the tail together are exactly the text that
//! the whole sequence of ids stands for, up to the first stop string.

mod stop;
mod utf8;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
mod tests;

use std::sync::Arc;

use crate::tokenizer::Tokenizer;
use stop::StopStrings;
use utf8::LossyUtf8;

/// What a token did to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Text goes on.
    Open,
    /// A stop string is complete. It is not emitted, nor is what follows.
    Stopped,
}

/// Turns the ids of one answer into text.
#[derive(Debug)]
pub struct Detokenizer {
    tokenizer: Arc<Tokenizer>,
    bytes: LossyUtf8,
    stop: StopStrings,
    /// The next visible token begins the text, and the tokenizer puts a space before text.
    drop_space: bool,
}

impl Detokenizer {
    /// For an answer that begins where `encode` would begin a text: after a special token, or at the very start. Empty
    /// stop strings are ignored.
    pub fn new(tokenizer: Arc<Tokenizer>, stop: &[String]) -> Self {
        let drop_space = tokenizer.adds_leading_space();
        Self { tokenizer, bytes: LossyUtf8::new(), stop: StopStrings::new(stop), drop_space }
    }

    /// Appends to `out` what the token `id` makes certain. Control tokens have no text.
    pub fn push(&mut self, id: u32, out: &mut String) -> Progress {
        if self.tokenizer.is_control(id) {
            return self.stop.release(out);
        }
        let mut bytes = self.tokenizer.token_bytes(id);
        if self.drop_space && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b" ").unwrap_or(bytes);
            self.drop_space = false;
        }
        self.bytes.push(bytes, self.stop.held());
        self.stop.release(out)
    }

    /// Appends what is held back: the answer has ended. An unfinished character becomes U+FFFD.
    pub fn finish(mut self, out: &mut String) -> Progress {
        self.bytes.finish(self.stop.held());
        let progress = self.stop.release(out);
        self.stop.flush(out);
        progress
    }
}
