//! What of an answer goes to the page when: the first token at once, then at most one event per 16 ms and 8 kB.
//!
//! Pure: time is a duration that the caller reads from its own clock.

use std::time::Duration;

/// Least time between two pieces of text: one frame at 60 Hz.
pub(crate) const FRAME: Duration = Duration::from_millis(16);
/// Most bytes of one piece.
pub(crate) const MOST_BYTES: usize = 8 << 10;
/// Least time between two reports of progress or usage.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// A piece of text, and when the engine produced its first token (milliseconds since the Unix epoch).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) engine_ms: f64,
}

/// What is due now, in order: progress, text, then whether numbers are due as well.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Due {
    /// Prompt tokens done, and in all.
    pub(crate) progress: Option<(u32, u32)>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) usage: bool,
}

/// Text and progress that wait.
#[derive(Debug, Default)]
pub(crate) struct Coalescer {
    text: String,
    engine_ms: f64,
    progress: Option<(u32, u32)>,
    text_sent: Option<Duration>,
    progress_sent: Option<Duration>,
    usage_sent: Option<Duration>,
    /// A token came since usage was last reported.
    usage_stale: bool,
}

impl Coalescer {
    /// The engine produced a token. Its text may be empty: half of a character.
    pub(crate) fn token(&mut self, text: &str, engine_ms: f64) {
        self.usage_stale = true;
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.engine_ms = engine_ms;
        }
        self.text.push_str(text);
    }

    /// Prefill went on. Only the newest count is kept.
    pub(crate) fn progress(&mut self, done: u32, total: u32) {
        self.progress = Some((done, total));
    }

    /// When [`Self::take`] will next have something; `None` = not before more comes in.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        let text = (!self.text.is_empty()).then(|| after(self.text_sent, FRAME));
        let progress = self.progress.map(|_| after(self.progress_sent, REPORT_EVERY));
        [text, progress].into_iter().flatten().min()
    }

    /// What is due at `now`.
    pub(crate) fn take(&mut self, now: Duration) -> Due {
        let mut due = Due::default();
        let text_due = !self.text.is_empty() && (now >= after(self.text_sent, FRAME) || self.text.len() >= MOST_BYTES);
        if self.progress.is_some() && (text_due || now >= after(self.progress_sent, REPORT_EVERY)) {
            due.progress = self.progress.take();
            self.progress_sent = Some(now);
        }
        if text_due {
            due.pieces = self.take_text();
            self.text_sent = Some(now);
            if self.usage_stale && now >= after(self.usage_sent, REPORT_EVERY) {
                due.usage = true;
                self.usage_stale = false;
                self.usage_sent = Some(now);
            }
        }
        due
    }

    /// Everything that waits: the answer has ended.
    pub(crate) fn take_all(&mut self) -> Due {
        Due { progress: self.progress.take(), pieces: self.take_text(), usage: false }
    }

    fn take_text(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = std::mem::take(&mut self.text);
        while !rest.is_empty() {
            let tail = rest.split_off(rest.floor_char_boundary(MOST_BYTES));
            pieces.push(Piece { text: rest, engine_ms: self.engine_ms });
            rest = tail;
        }
        pieces
    }
}

fn after(last: Option<Duration>, pause: Duration) -> Duration {
    last.map_or(Duration::ZERO, |last| last + pause)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
