//! Stop strings: finds them across pieces of text and holds back what may become one.

use super::Progress;

/// The stop strings of one answer, and the text that is not emitted yet.
#[derive(Debug)]
pub(super) struct StopStrings {
    stops: Vec<String>,
    held: String,
    stopped: bool,
}

impl StopStrings {
    pub(super) fn new(stops: &[String]) -> Self {
        let stops: Vec<String> = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        let longest = stops.iter().map(String::len).max().unwrap_or(0);
        // Room for what is held and for a token, so that streaming does not allocate.
        Self { stops, held: String::with_capacity(longest.saturating_add(256)), stopped: false }
    }

    /// The text that is held back; new text is appended here.
    pub(super) fn held(&mut self) -> &mut String {
        &mut self.held
    }

    /// Moves to `out` what cannot be part of a stop string. After a stop string nothing is emitted any more.
    pub(super) fn release(&mut self, out: &mut String) -> Progress {
        let found = self.first_stop();
        if !self.stopped {
            let end = found.unwrap_or_else(|| self.held.len().saturating_sub(self.partial_match()));
            out.extend(self.held.drain(..end));
        }
        if found.is_some() || self.stopped {
            self.stopped = true;
            self.held.clear();
            return Progress::Stopped;
        }
        Progress::Open
    }

    /// Moves all that is held to `out`.
    pub(super) fn flush(&mut self, out: &mut String) {
        out.push_str(&self.held);
        self.held.clear();
    }

    /// Start of the stop string that is complete first, and of those the one that starts first: this does not depend on
    /// how the text is cut into pieces.
    fn first_stop(&self) -> Option<usize> {
        let found = self.stops.iter().filter_map(|stop| {
            let start = self.held.find(stop.as_str())?;
            Some((start.saturating_add(stop.len()), start))
        });
        found.min().map(|(_, start)| start)
    }

    /// Bytes at the end of the held text that begin a stop string.
    fn partial_match(&self) -> usize {
        let longest = self.stops.iter().map(|stop| stop.len().saturating_sub(1)).max().unwrap_or(0);
        let from = self.held.len().saturating_sub(longest);
        let starts = (from..self.held.len()).filter_map(|start| self.held.get(start..));
        starts.filter(|tail| self.stops.iter().any(|stop| stop.starts_with(tail))).map(str::len).next().unwrap_or(0)
    }
}
