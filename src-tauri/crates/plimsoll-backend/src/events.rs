//! The one door for events to the host.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use plimsoll_ipc::AppEvent;

/// Where events go.
pub type EventSink = Arc<dyn Fn(AppEvent) + Send + Sync>;

/// Hands events to the host. A host that panics loses the event, not the backend.
#[derive(Clone)]
pub(crate) struct Events(EventSink);

impl Events {
    pub(crate) fn new(sink: EventSink) -> Self {
        Self(sink)
    }

    pub(crate) fn emit(&self, event: AppEvent) {
        let name = event.name();
        if catch_unwind(AssertUnwindSafe(|| (self.0)(event))).is_err() {
            tracing::error!(name, "the host's event sink panicked");
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}
