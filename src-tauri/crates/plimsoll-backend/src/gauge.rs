//! The gauge: every byte of the device in named parts that sum to its total, told at most four times a second.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use plimsoll_ipc::{AppEvent, MemoryGauge};
use plimsoll_plan::{Bytes, MemoryPlan, Segment, Tokens, budget};

use crate::core::Core;
use crate::locking::lock;
use crate::report::kv_bytes;
use crate::slot::Loaded;

/// Least time between two events.
const EVENT_EVERY: Duration = Duration::from_millis(250);
/// How often memory is read while a model is loaded: other programs change it.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// The gauge reads `tight` above this share of the context, in percent.
const TIGHT_CONTEXT_PERCENT: u64 = 85;

/// What the page last asked about sending: tokens that Send would reserve, and whether it would be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outlook {
    pub(crate) reserve: Tokens,
    pub(crate) blocked: bool,
}

/// Wakes the sampler, and holds the outlook.
#[derive(Debug, Default)]
pub(crate) struct GaugeSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    outlook: Outlook,
    changed: bool,
    closed: bool,
}

impl GaugeSignal {
    /// Something that the gauge shows has changed.
    pub(crate) fn touch(&self) {
        lock(&self.state).changed = true;
        self.changed.notify_all();
    }

    pub(crate) fn set_outlook(&self, outlook: Outlook) {
        let mut state = lock(&self.state);
        if state.outlook != outlook {
            state.outlook = outlook;
            state.changed = true;
            self.changed.notify_all();
        }
    }

    pub(crate) fn outlook(&self) -> Outlook {
        lock(&self.state).outlook
    }

    /// Ends the sampler.
    pub(crate) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Waits for a change, at most `patience`. False when closed.
    fn wait(&self, patience: Option<Duration>) -> bool {
        let mut state = lock(&self.state);
        let deadline = patience.map(|patience| Instant::now() + patience);
        while !state.changed && !state.closed {
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.changed = false;
        !state.closed
    }

    /// Waits until `deadline`, or until closed.
    fn pause_until(&self, deadline: Instant) {
        let mut state = lock(&self.state);
        while !state.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Tells the page how memory stands: on every change, and once a second while a model is loaded. The thread ends
/// when the backend goes.
pub(crate) fn spawn_sampler(signal: Arc<GaugeSignal>, core: Weak<Core>) -> std::io::Result<()> {
    let run = move || {
        let mut last: Option<MemoryGauge> = None;
        let mut patience = None;
        while signal.wait(patience) {
            let Some(core) = core.upgrade() else { return };
            patience = core.slot.loaded().is_some().then_some(SAMPLE_EVERY);
            let gauge = core.gauge_now();
            if last.as_ref() != Some(&gauge) {
                core.events.emit(AppEvent::Memory(gauge.clone()));
                last = Some(gauge);
            }
            drop(core);
            signal.pause_until(Instant::now() + EVENT_EVERY);
        }
    };
    std::thread::Builder::new().name("plimsoll-gauge".to_owned()).spawn(run).map(|_| ())
}

impl Core {
    /// How memory stands now.
    pub(crate) fn gauge_now(&self) -> MemoryGauge {
        let reading = self.probe.memory();
        let settings = self.settings.get();
        let loaded = self.slot.loaded();
        let total = reading.total.unwrap_or_default();
        let allowed = self.device().ok().and_then(|device| budget(&device, settings.memory_fraction).ok());
        let (blocked, tokens) = self.tokens_now(loaded.as_deref());
        let planned = loaded.as_ref().map(|loaded| Planned::of(&loaded.plan, &tokens));
        // What the process held before loading comes from the plan; growth since then shows among the others.
        let runtime = loaded.as_ref().map_or_else(
            || reading.process_resident.unwrap_or_default(),
            |loaded| loaded.plan.segment(Segment::Host).plus(loaded.plan.segment(Segment::Runtime)),
        );
        let parts = split(total, reading.available, planned.unwrap_or_default(), runtime);
        let tight = is_tight(&tokens) || reading.available.is_some_and(|free| free < plimsoll_device::headroom(total));
        let state = match (&loaded, blocked, tight) {
            (None, ..) => "empty",
            (_, true, _) => "blocked",
            (_, _, true) => "tight",
            _ => "ok",
        };
        MemoryGauge {
            device: self.device_name(),
            total_bytes: total.0,
            budget_bytes: allowed.unwrap_or_default().0,
            weights_bytes: parts.planned.weights.0,
            kv_used_bytes: parts.planned.kv_used.0,
            kv_reserved_bytes: parts.planned.kv_reserved.0,
            kv_idle_bytes: parts.planned.kv_idle.0,
            workspace_bytes: parts.planned.workspace.0,
            runtime_bytes: parts.runtime.0,
            other_bytes: parts.other.0,
            free_bytes: parts.free.0,
            kv_used_tokens: tokens.used.0,
            kv_reserved_tokens: tokens.reserved.0.saturating_sub(tokens.used.0),
            context_tokens: loaded.as_ref().map_or(settings.context_tokens, |loaded| loaded.plan.context.0),
            state: state.to_owned(),
        }
    }

    /// Tokens in the cache, and promised: to the running answer, else to what Send would reserve now.
    fn tokens_now(&self, loaded: Option<&Loaded>) -> (bool, TokensNow) {
        let Some(loaded) = loaded else { return (false, TokensNow::default()) };
        let usage = loaded.kv_usage();
        let outlook = self.gauge.outlook();
        let running = self.generations.gate().is_running();
        let promised = if running { usage.reserved } else { outlook.reserve };
        let reserved = promised.max(usage.used).min(usage.capacity);
        (outlook.blocked && !running, TokensNow { used: usage.used, reserved, capacity: usage.capacity })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TokensNow {
    used: Tokens,
    /// Including those used.
    reserved: Tokens,
    capacity: Tokens,
}

fn is_tight(tokens: &TokensNow) -> bool {
    tokens.reserved.wide() * 100 > tokens.capacity.wide() * TIGHT_CONTEXT_PERCENT
}

/// The loaded model's own bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Planned {
    weights: Bytes,
    kv_used: Bytes,
    kv_reserved: Bytes,
    kv_idle: Bytes,
    workspace: Bytes,
}

impl Planned {
    fn of(plan: &MemoryPlan, tokens: &TokensNow) -> Self {
        let used = kv_bytes(plan, tokens.used);
        let promised = kv_bytes(plan, tokens.reserved);
        Self {
            weights: plan.segment(Segment::Weights),
            kv_used: used,
            kv_reserved: promised.minus(used),
            kv_idle: plan.segment(Segment::Kv).minus(promised),
            workspace: plan.segment(Segment::Workspace),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Parts {
    planned: Planned,
    runtime: Bytes,
    other: Bytes,
    free: Bytes,
}

/// Divides `total`. A part never exceeds what the parts before it have left: the reading and the plan are of different
/// instants, and the sum must stay exact. Unknown free memory shows as free what nobody is known to hold.
fn split(total: Bytes, available: Option<Bytes>, planned: Planned, runtime: Bytes) -> Parts {
    let mut left = total;
    let mut take = |bytes: Bytes| {
        let taken = bytes.min(left);
        left = left.minus(taken);
        taken
    };
    let planned = Planned {
        weights: take(planned.weights),
        kv_used: take(planned.kv_used),
        kv_reserved: take(planned.kv_reserved),
        kv_idle: take(planned.kv_idle),
        workspace: take(planned.workspace),
    };
    let runtime = take(runtime);
    let free = take(available.unwrap_or(total));
    Parts { planned, runtime, other: left, free }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
