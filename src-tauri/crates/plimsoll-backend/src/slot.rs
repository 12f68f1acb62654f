//! The one loaded model, and its load state.

use std::sync::{Arc, Mutex};

use plimsoll_engine::{Allocation, Engine, KvUsage, ModelFile};
use plimsoll_ipc::{ModelEntry, ModelStatus};
use plimsoll_plan::{Bytes, MemoryPlan, Tokens};

use crate::locking::lock;
use crate::prompt::{Prompter, TextMemo};

/// A loaded model. Others may hold it for a moment while it is taken away: the engine itself goes at once.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) entry: ModelEntry,
    pub(crate) file: ModelFile,
    pub(crate) plan: MemoryPlan,
    pub(crate) prompter: Prompter,
    /// Token ids of the texts in recent prompts.
    pub(crate) memo: TextMemo,
    engine: Mutex<Option<Engine>>,
    allocation: Allocation,
}

impl Loaded {
    pub(crate) fn new(entry: ModelEntry, file: ModelFile, plan: MemoryPlan, engine: Engine) -> Self {
        let allocation = engine.allocated();
        let prompter = Prompter::new(&file);
        let memo = TextMemo::default();
        Self { entry, file, plan, prompter, memo, engine: Mutex::new(Some(engine)), allocation }
    }

    /// Runs `call` on the engine; `None` when it was taken away. `call` must be short.
    pub(crate) fn with_engine<T>(&self, call: impl FnOnce(&Engine) -> T) -> Option<T> {
        lock(&self.engine).as_ref().map(call)
    }

    /// Leading tokens of `prompt` that would not be computed again.
    pub(crate) fn cached_prefix(&self, prompt: &[u32]) -> Tokens {
        self.with_engine(|engine| engine.cached_prefix(prompt)).unwrap_or_default()
    }

    /// Tokens in the KV cache.
    pub(crate) fn kv_usage(&self) -> KvUsage {
        self.with_engine(Engine::kv_usage).unwrap_or_default()
    }

    /// Bytes that unloading gives back.
    pub(crate) fn held(&self) -> Bytes {
        self.allocation.slab.plus(self.allocation.host)
    }

    /// Ends the engine and gives its memory back before returning.
    pub(crate) fn close(&self) {
        // The lock is released before the engine's thread is joined.
        let engine = lock(&self.engine).take();
        drop(engine);
    }
}

/// The load state and, when it is ready, the model.
#[derive(Debug)]
pub(crate) struct ModelSlot(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    status: ModelStatus,
    loaded: Option<Arc<Loaded>>,
}

impl ModelSlot {
    pub(crate) fn empty() -> Self {
        Self(Mutex::new(Inner { status: ModelStatus::Empty, loaded: None }))
    }

    pub(crate) fn status(&self) -> ModelStatus {
        lock(&self.0).status.clone()
    }

    pub(crate) fn loaded(&self) -> Option<Arc<Loaded>> {
        lock(&self.0).loaded.clone()
    }

    /// Sets the state without touching the model.
    pub(crate) fn set_status(&self, status: ModelStatus) {
        lock(&self.0).status = status;
    }

    /// Takes the model away.
    pub(crate) fn take(&self, status: ModelStatus) -> Option<Arc<Loaded>> {
        let mut inner = lock(&self.0);
        inner.status = status;
        inner.loaded.take()
    }

    /// Puts a model in.
    pub(crate) fn fill(&self, loaded: Arc<Loaded>, status: ModelStatus) {
        let mut inner = lock(&self.0);
        inner.status = status;
        inner.loaded = Some(loaded);
    }
}
