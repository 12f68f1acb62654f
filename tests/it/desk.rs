//! A backend without a window: a data folder of its own, a machine made of numbers, and the events it sent.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plimsoll_backend::{Backend, BackendConfig};
use plimsoll_device::FakeProbe;
use plimsoll_ipc::{
    AppEvent, ErrorCode, GenerationSnapshot, IpcError, MessageState, ModelEntry, ModelStatus, PromptCheck,
    PromptCheckRequest, SendRequest, Settings,
};
use plimsoll_plan::Bytes;
use plimsoll_tests::tiny::{Tiny, TinyFile};
use tempfile::TempDir;

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// Context of the models on the desk.
pub(crate) const CONTEXT: u32 = 512;

/// Their output limit.
pub(crate) const OUTPUT: u32 = 320;

pub(crate) struct Desk {
    pub(crate) backend: Backend,
    pub(crate) probe: Arc<FakeProbe>,
    events: Arc<Mutex<Vec<AppEvent>>>,
    folder: TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    /// A machine with 8 GiB, of which 6 GiB are free.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let probe = Arc::new(FakeProbe::new(Bytes(8 << 30), Bytes(6 << 30)));
        let events: Arc<Mutex<Vec<AppEvent>>> = Arc::default();
        let sink = Arc::clone(&events);
        let backend = Backend::new(BackendConfig {
            home: Some(folder.path().to_owned()),
            models_dirs: Vec::new(),
            probe: Arc::clone(&probe) as Arc<dyn plimsoll_device::Probe>,
            sink: Arc::new(move |event| sink.lock().unwrap().push(event)),
            locale: "en".to_owned(),
        })
        .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { backend, probe, events, folder, runtime }
    }

    /// A desk on which the tiny chat model `good` is loaded.
    pub(crate) fn ready() -> Self {
        let desk = Self::new();
        desk.put("good", &Tiny::llama().file());
        desk.load("good").unwrap();
        desk
    }

    /// A desk with a model that takes about a second for a long answer.
    pub(crate) fn slow() -> Self {
        let desk = Self::new();
        let wide = Tiny { layers: 10, embedding: 256, heads: 4, head_dim: 64, feed_forward: 1024, ..Tiny::llama() };
        desk.put("good", &wide.file());
        desk.load("good").unwrap();
        desk
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Where the model `id` lies.
    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.folder.path().join("models").join(format!("{id}.gguf"))
    }

    /// Installs a model file.
    pub(crate) fn put(&self, id: &str, file: &TinyFile) -> PathBuf {
        let path = self.path(id);
        file.write(&path);
        path
    }

    /// Loads a model with a context that all tiny models have.
    pub(crate) fn load(&self, id: &str) -> Result<ModelStatus, IpcError> {
        let settings = Settings {
            model: Some(id.to_owned()),
            context_tokens: CONTEXT,
            output_tokens: OUTPUT,
            temperature: 0.0,
            threads: 2,
            ..self.run(self.backend.settings_get()).unwrap()
        };
        self.run(self.backend.settings_apply(settings))
    }

    /// The entry of a model in the list.
    pub(crate) fn entry(&self, id: &str) -> ModelEntry {
        let entries = self.run(self.backend.models_list()).unwrap();
        entries.into_iter().find(|entry| entry.id == id).unwrap_or_else(|| panic!("{id} is not listed"))
    }

    /// Is this model ready?
    pub(crate) fn is_ready(&self, id: &str) -> bool {
        match self.run(self.backend.model_status()).unwrap() {
            ModelStatus::Ready { model, .. } => model.id == id,
            _ => false,
        }
    }

    /// What Send would do with this draft.
    pub(crate) fn check(&self, draft: &str) -> PromptCheck {
        let conversation = self.run(self.backend.conversation_get()).unwrap().id;
        let request = PromptCheckRequest { conversation, draft: draft.to_owned(), output_tokens: None, request: 7 };
        self.run(self.backend.prompt_check(request)).unwrap()
    }

    /// Sends a message; returns its generation.
    pub(crate) fn send(&self, text: &str, output_tokens: Option<u32>, completion: bool) -> Result<u64, IpcError> {
        let conversation = self.run(self.backend.conversation_get()).unwrap().id;
        let request = SendRequest {
            conversation,
            text: text.to_owned(),
            output_tokens,
            regenerate: None,
            edit: None,
            completion,
        };
        self.run(self.backend.generation_send(request)).map(|accepted| accepted.generation)
    }

    /// Waits until an answer has ended.
    pub(crate) fn wait(&self, generation: u64) -> GenerationSnapshot {
        let start = Instant::now();
        loop {
            let snapshot = self.run(self.backend.generation_snapshot(generation)).unwrap();
            if snapshot.state != MessageState::Streaming {
                return snapshot;
            }
            assert!(start.elapsed() < PATIENCE, "the answer does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The code with which sending is refused.
    pub(crate) fn refusal(&self, text: &str) -> IpcError {
        self.send(text, None, false).expect_err("refused")
    }

    /// A short question is answered: whatever happened before, the program still works.
    pub(crate) fn still_answers(&self) {
        let generation = self.send("Hello there", Some(6), false).expect("a short question is admitted");
        let snapshot = self.wait(generation);
        assert!(matches!(snapshot.state, MessageState::Done | MessageState::Length), "{snapshot:?}");
        assert!(snapshot.stats.prompt_tokens > 0, "{snapshot:?}");
    }

    /// Events so far.
    pub(crate) fn events(&self) -> Vec<AppEvent> {
        self.events.lock().unwrap().clone()
    }

    /// Gives the backend up, as a closed window does.
    pub(crate) fn close(self) -> TempDir {
        drop(self.backend);
        drop(self.runtime);
        self.folder
    }
}

/// A number of an error.
pub(crate) fn number(error: &IpcError, name: &str) -> u64 {
    *error.numbers.get(name).unwrap_or_else(|| panic!("no number `{name}` in {error:?}"))
}

/// Fails unless the error has this code and its detail names `detail`.
pub(crate) fn assert_error(error: &IpcError, code: ErrorCode, detail: &str) {
    assert_eq!(error.code, code, "{error:?}");
    let named = error.detail.as_deref().unwrap_or_default();
    assert!(named.contains(detail), "`{detail}` is not named in {error:?}");
    assert!(!error.message.is_empty());
}
