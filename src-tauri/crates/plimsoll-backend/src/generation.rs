//! Running and ended answers.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_engine::CancelToken;
use plimsoll_ipc::{
    AppEvent, GenerationEvent, GenerationKind, GenerationSnapshot, IpcError, MessageState, MessageStats,
};

use crate::core::Core;
use crate::errors::not_found;
use crate::locking::lock;

/// Ended answers whose snapshots are kept for a page that was reloaded.
const KEPT: usize = 8;

/// One answer.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) id: u64,
    pub(crate) conversation: u64,
    pub(crate) message: u64,
    cancel: OnceLock<CancelToken>,
    record: Mutex<Record>,
}

/// What the page has been told. Text and sequence number change together.
#[derive(Debug)]
struct Record {
    next_seq: u64,
    text: String,
    state: MessageState,
    stats: MessageStats,
}

impl Generation {
    /// `text` is what the message holds already.
    pub(crate) fn new(id: u64, conversation: u64, message: u64, text: String) -> Self {
        let record = Record { next_seq: 0, text, state: MessageState::Streaming, stats: MessageStats::default() };
        Self { id, conversation, message, cancel: OnceLock::new(), record: Mutex::new(record) }
    }

    pub(crate) fn set_cancel(&self, token: CancelToken) {
        let _ = self.cancel.set(token);
    }

    pub(crate) fn cancel(&self) {
        if let Some(token) = self.cancel.get() {
            token.cancel();
        }
    }

    pub(crate) fn set_stats(&self, stats: MessageStats) {
        lock(&self.record).stats = stats;
    }

    /// The whole text and how it stands, with the number of the last event that is contained. Before the first event
    /// the number is 0, as is the first event's: it says nothing that the snapshot leaves out.
    pub(crate) fn snapshot(&self) -> GenerationSnapshot {
        let record = lock(&self.record);
        GenerationSnapshot {
            generation: self.id,
            message: self.message,
            seq: record.next_seq.saturating_sub(1),
            text: record.text.clone(),
            state: record.state,
            stats: record.stats,
        }
    }

    /// Numbers an event and writes what it says into the record.
    fn number(&self, kind: GenerationKind) -> GenerationEvent {
        let mut record = lock(&self.record);
        match &kind {
            GenerationKind::Delta { text, .. } => record.text.push_str(text),
            GenerationKind::Done { reason, stats } => {
                record.state = *reason;
                record.stats = *stats;
            }
            GenerationKind::Failed { .. } => record.state = MessageState::Failed,
            GenerationKind::Started { .. } | GenerationKind::Progress { .. } | GenerationKind::Usage { .. } => {}
        }
        let seq = record.next_seq;
        record.next_seq = seq.saturating_add(1);
        GenerationEvent { generation: self.id, conversation: self.conversation, message: self.message, seq, kind }
    }
}

/// All answers of this backend. Its lock is the gate between sending and unloading.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    gate: Mutex<Gate>,
    ended: Condvar,
}

/// What the gate guards.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    last_id: u64,
    running: Option<Arc<Generation>>,
    recent: Vec<Arc<Generation>>,
}

impl Gate {
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(crate) fn running(&self) -> Option<&Arc<Generation>> {
        self.running.as_ref()
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id = self.last_id.saturating_add(1);
        self.last_id
    }

    pub(crate) fn begin(&mut self, generation: Arc<Generation>) {
        if self.recent.len() >= KEPT {
            self.recent.remove(0);
        }
        self.recent.push(Arc::clone(&generation));
        self.running = Some(generation);
    }
}

impl Generations {
    pub(crate) fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    pub(crate) fn find(&self, id: u64) -> Result<Arc<Generation>, IpcError> {
        let gate = self.gate();
        gate.recent.iter().find(|known| known.id == id).cloned().ok_or_else(|| not_found("generation", id))
    }

    fn end(&self, id: u64) {
        let mut gate = self.gate();
        if gate.running.as_ref().is_some_and(|running| running.id == id) {
            gate.running = None;
        }
        self.ended.notify_all();
    }

    /// Cancels what runs and waits until it has ended. False when it has not within `patience`.
    pub(crate) fn stop_and_wait(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut gate = self.gate();
        while let Some(running) = &gate.running {
            running.cancel();
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            gate = self.ended.wait_timeout(gate, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Core {
    /// Numbers an event, keeps what it says, and tells the page.
    pub(crate) fn tell(&self, generation: &Generation, kind: GenerationKind) {
        if let GenerationKind::Delta { text, .. } = &kind {
            lock(&self.conversation).append(generation.conversation, generation.message, text);
        }
        self.events.emit(AppEvent::Generation(generation.number(kind)));
    }

    /// Ends an answer: the message first, then the gate, then the page, so that who hears of the end can send again.
    pub(crate) fn end_generation(
        &self,
        generation: &Generation,
        state: MessageState,
        stats: MessageStats,
        kind: GenerationKind,
    ) {
        lock(&self.conversation).finish(generation.conversation, generation.message, state, stats);
        self.generations.end(generation.id);
        self.tell(generation, kind);
        self.tell_conversation();
        self.gauge.touch();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
