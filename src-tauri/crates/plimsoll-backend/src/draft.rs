//! What the user is writing, on disk soon after each pause, so that a crash does not take it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::json_file::{self, Stored};
use crate::locking::lock;

/// A pause in typing of this length writes the draft.
const AFTER_PAUSE: Duration = Duration::from_millis(200);
/// Without a pause it is written this often.
const AT_LATEST: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Draft {
    text: String,
}

/// The draft's file and the thread that writes it.
#[derive(Debug)]
pub(crate) struct DraftFile {
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Text that is not on disk yet.
    unwritten: Option<String>,
    first_change: Option<Instant>,
    last_change: Option<Instant>,
    closed: bool,
}

impl DraftFile {
    /// Reads the draft of the last run and starts the writer.
    pub(crate) fn open(path: &Path) -> std::io::Result<(Self, String)> {
        let text = match json_file::read::<Draft>(path) {
            Stored::Read(draft) => draft.text,
            Stored::Absent | Stored::Damaged => String::new(),
        };
        let shared = Arc::new(Shared { path: path.to_owned(), state: Mutex::default(), changed: Condvar::new() });
        let writer = std::thread::Builder::new().name("plimsoll-draft".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_changes()
        })?;
        Ok((Self { shared, writer: Mutex::new(Some(writer)) }, text))
    }

    /// Keeps `text`; returns at once.
    pub(crate) fn save(&self, text: String) {
        let mut state = lock(&self.shared.state);
        let now = Instant::now();
        state.unwritten = Some(text);
        state.first_change.get_or_insert(now);
        state.last_change = Some(now);
        self.shared.changed.notify_all();
    }

    /// Writes what is not on disk yet, before the process ends.
    pub(crate) fn flush(&self) {
        // The lock is held while writing: the writer must not come in with an older text.
        let mut state = lock(&self.shared.state);
        if let Some(text) = state.unwritten.take() {
            self.shared.write(text);
        }
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        lock(&self.shared.state).closed = true;
        self.shared.changed.notify_all();
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn write_changes(&self) {
        while let Some(text) = self.next() {
            self.write(text);
        }
    }

    fn write(&self, text: String) {
        if let Err(error) = json_file::write(&self.path, &Draft { text }) {
            tracing::warn!(path = %self.path.display(), %error, "the draft was not written");
        }
    }

    /// The next text to write; `None` when closed and nothing is left.
    fn next(&self) -> Option<String> {
        let mut state = lock(&self.state);
        loop {
            let due = state.last_change.map(|last| last + AFTER_PAUSE);
            let due = match (due, state.first_change) {
                (Some(due), Some(first)) => Some(due.min(first + AT_LATEST)),
                (due, _) => due,
            };
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if state.closed || left.is_some_and(|left| left.is_zero()) {
                let text = state.unwritten.take();
                *state = State { closed: state.closed, ..State::default() };
                if text.is_some() || state.closed {
                    return text;
                }
            }
            state = match left.filter(|left| !left.is_zero()) {
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
