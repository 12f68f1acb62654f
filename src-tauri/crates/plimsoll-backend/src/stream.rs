//! The way of an answer from the engine's thread to the page and into the conversation.
//!
//! The engine's thread only appends to an [`Outbox`]; one thread per answer takes what is due, numbers it, tells the
//! page and writes it into the message. Nothing that a host does there can stop the engine.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plimsoll_engine::{EngineError, StepEvent, StopReason, Timings};
use plimsoll_ipc::{GenerationKind, IpcError, MessageState, MessageStats};

use crate::coalesce::{Coalescer, Due};
use crate::core::Core;
use crate::errors::ToIpc;
use crate::generation::Generation;
use crate::locking::lock;

/// Events of one answer that wait for its stream.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// When Send was asked for.
    begin: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    started: Option<(u32, u32)>,
    waiting: Coalescer,
    stats: MessageStats,
    first_token: Option<Instant>,
    end: Option<End>,
    /// The engine has let go of the sink: its reservation is freed and it takes the next request.
    closed: bool,
}

/// How an answer ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// By itself, at a limit, or by Stop.
    Finished(MessageState),
    /// By a fault.
    Failed(IpcError),
}

/// What the stream sends next.
#[derive(Debug)]
struct Batch {
    started: Option<(u32, u32)>,
    due: Due,
    stats: MessageStats,
    end: Option<End>,
}

impl Outbox {
    pub(crate) fn new(begin: Instant) -> Arc<Self> {
        Arc::new(Self { begin, state: Mutex::default(), changed: Condvar::new() })
    }

    /// The engine's sink. When the engine drops it, the answer has ended; without a word about how, it has failed.
    pub(crate) fn sink(self: &Arc<Self>) -> Box<dyn for<'a> FnMut(StepEvent<'a>) + Send> {
        let guard = SinkGuard(Arc::clone(self));
        Box::new(move |event| guard.0.receive(event))
    }

    fn receive(&self, event: StepEvent<'_>) {
        let now = Instant::now();
        let mut state = lock(&self.state);
        match event {
            StepEvent::Started { prompt, cached } => {
                state.started = Some((prompt.0, cached.0));
                state.stats.prompt_tokens = prompt.0;
                state.stats.cached_tokens = cached.0;
            }
            StepEvent::Prefill { done, total } => state.waiting.progress(done.0, total.0),
            StepEvent::Token { text, .. } => {
                state.count_token(now, self.begin);
                state.waiting.token(text, unix_ms());
            }
            StepEvent::Finished { reason, text, timings } => {
                if !text.is_empty() {
                    state.waiting.token(text, unix_ms());
                }
                state.settle(&timings);
                state.end.get_or_insert(End::Finished(message_state(reason)));
            }
            StepEvent::Failed(error) => {
                state.end.get_or_insert_with(|| End::Failed(error.to_ipc()));
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits until something is due.
    fn next(&self) -> Batch {
        let mut state = lock(&self.state);
        loop {
            let now = self.begin.elapsed();
            let next = state.waiting.next_due();
            if state.closed {
                // The end is told only now: who sends again at once must not find the engine busy.
                let stopped = || End::Failed(EngineError::Stopped("it was unloaded".to_owned()).to_ipc());
                let end = state.end.take().unwrap_or_else(stopped);
                let due = state.waiting.take_all();
                return Batch { started: state.started.take(), due, stats: state.stats, end: Some(end) };
            }
            if state.started.is_some() || next.is_some_and(|due| due <= now) {
                let due = state.waiting.take(now);
                return Batch { started: state.started.take(), due, stats: state.stats, end: None };
            }
            state = match next {
                Some(due) => {
                    let left = due.saturating_sub(now);
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl State {
    fn count_token(&mut self, now: Instant, begin: Instant) {
        let first = *self.first_token.get_or_insert(now);
        let stats = &mut self.stats;
        if stats.output_tokens == 0 {
            stats.first_token_ms = milliseconds(now.duration_since(begin));
        }
        stats.tokens_per_second = per_second(stats.output_tokens, now.duration_since(first));
        stats.output_tokens = stats.output_tokens.saturating_add(1);
    }

    /// The engine's own numbers replace what was counted on the way.
    fn settle(&mut self, timings: &Timings) {
        let stats = &mut self.stats;
        stats.prompt_tokens = timings.prompt.0;
        stats.cached_tokens = timings.cached.0;
        stats.output_tokens = timings.output.0;
        stats.tokens_per_second = per_second(timings.output.0.saturating_sub(1), timings.decode);
        let computed = timings.prompt.0.saturating_sub(timings.cached.0);
        stats.prefill_tokens_per_second = per_second(computed, timings.prefill);
    }
}

struct SinkGuard(Arc<Outbox>);

impl Drop for SinkGuard {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.changed.notify_one();
    }
}

/// Runs the stream of one answer until it ends. The backend may go away meanwhile.
pub(crate) fn spawn_stream(generation: Arc<Generation>, outbox: Arc<Outbox>, core: Weak<Core>) -> std::io::Result<()> {
    let run = move || {
        loop {
            let batch = outbox.next();
            let Some(core) = core.upgrade() else { return };
            let ended = batch.end.is_some();
            core.deliver(&generation, batch);
            if ended {
                return;
            }
        }
    };
    std::thread::Builder::new().name("plimsoll-stream".to_owned()).spawn(run).map(|_| ())
}

impl Core {
    fn deliver(&self, generation: &Generation, batch: Batch) {
        let Batch { started, due, stats, end } = batch;
        generation.set_stats(stats);
        if let Some((prompt_tokens, cached_tokens)) = started {
            self.tell(generation, GenerationKind::Started { prompt_tokens, cached_tokens });
        }
        if let Some((done_tokens, total_tokens)) = due.progress {
            self.tell(generation, GenerationKind::Progress { done_tokens, total_tokens });
        }
        for piece in due.pieces {
            self.tell(generation, GenerationKind::Delta { text: piece.text, engine_ms: piece.engine_ms });
        }
        if due.usage {
            self.tell(generation, GenerationKind::Usage { stats });
        }
        self.gauge.touch();
        match end {
            None => {}
            Some(End::Finished(reason)) => {
                self.end_generation(generation, reason, stats, GenerationKind::Done { reason, stats });
            }
            Some(End::Failed(error)) => {
                tracing::warn!(generation = generation.id, %error, "an answer failed");
                self.end_generation(generation, MessageState::Failed, stats, GenerationKind::Failed { error });
            }
        }
    }
}

fn message_state(reason: StopReason) -> MessageState {
    match reason {
        StopReason::EndOfTurn | StopReason::StopString => MessageState::Done,
        StopReason::Length => MessageState::Length,
        StopReason::Cancelled => MessageState::Stopped,
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn per_second(count: u32, duration: Duration) -> f64 {
    let seconds = duration.as_secs_f64();
    if seconds > 0.0 { f64::from(count) / seconds } else { 0.0 }
}

fn unix_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, milliseconds)
}
