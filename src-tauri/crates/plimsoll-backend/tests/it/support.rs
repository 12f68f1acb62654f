//! A backend in a folder of its own, and what it told.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plimsoll_backend::{Backend, BackendConfig};
use plimsoll_device::FakeProbe;
use plimsoll_ipc::{
    Accepted, AppEvent, ConversationView, GenerationEvent, GenerationKind, IpcError, ModelStatus, PromptCheck,
    PromptCheckRequest, SendRequest, Settings,
};
use plimsoll_plan::Bytes;
use tempfile::TempDir;

pub(crate) const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1";
pub(crate) const GEMMA: &str = "gemma-3-270m-Q4_K_M";

pub(crate) const GIB: u64 = 1 << 30;

/// The folder of the real models, which `cargo xtask setup` fills.
fn real_models() -> PathBuf {
    let named = std::env::var_os("PLIMSOLL_MODELS").map(PathBuf::from);
    let cached = || Path::new(&std::env::var_os("HOME").expect("HOME")).join(".cache/plimsoll/models");
    named.unwrap_or_else(cached)
}

pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) backend: Backend,
    pub(crate) probe: Arc<FakeProbe>,
    events: Arc<Mutex<Vec<AppEvent>>>,
}

impl World {
    /// An empty data folder on a machine with 16 GiB, 12 of them free.
    pub(crate) fn new() -> Self {
        Self::in_folder(TempDir::new().unwrap())
    }

    pub(crate) fn in_folder(home: TempDir) -> Self {
        Self::with_sink(home, |_, _| ())
    }

    /// `also` sees every event before it is kept.
    pub(crate) fn with_sink(home: TempDir, also: impl Fn(&FakeProbe, &AppEvent) + Send + Sync + 'static) -> Self {
        let probe = Arc::new(FakeProbe::new(Bytes(16 * GIB), Bytes(12 * GIB)));
        let events: Arc<Mutex<Vec<AppEvent>>> = Arc::default();
        let kept = Arc::clone(&events);
        let seen = Arc::clone(&probe);
        let backend = Backend::new(BackendConfig {
            home: Some(home.path().to_owned()),
            models_dirs: Vec::new(),
            probe: Arc::clone(&probe) as _,
            sink: Arc::new(move |event| {
                also(&seen, &event);
                kept.lock().unwrap().push(event);
            }),
            locale: "en".to_owned(),
        })
        .unwrap();
        Self { home, backend, probe, events }
    }

    /// With a real model in the models folder, as a link.
    #[cfg(unix)]
    pub(crate) fn add_model(&self, id: &str) {
        let file = format!("{id}.gguf");
        let source = real_models().join(&file);
        assert!(source.is_file(), "{} is missing; `cargo xtask setup` installs it", source.display());
        std::os::unix::fs::symlink(source, self.home.path().join("models").join(file)).unwrap();
    }

    /// SmolLM2 loaded under these settings.
    pub(crate) async fn ready(change: impl FnOnce(&mut Settings)) -> Self {
        let world = Self::new();
        world.load(SMOLLM2, change).await;
        world
    }

    pub(crate) async fn load(&self, model: &str, change: impl FnOnce(&mut Settings)) {
        self.add_model(model);
        let mut settings = Settings { model: Some(model.to_owned()), temperature: 0.0, ..Settings::default() };
        change(&mut settings);
        let status = self.backend.settings_apply(settings).await.unwrap();
        assert!(matches!(status, ModelStatus::Ready { .. }), "{status:?}");
    }

    pub(crate) fn events(&self) -> Vec<AppEvent> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) async fn view(&self) -> ConversationView {
        self.backend.conversation_get().await.unwrap()
    }

    pub(crate) async fn check(&self, draft: &str) -> PromptCheck {
        self.check_with(draft, None).await
    }

    pub(crate) async fn check_with(&self, draft: &str, output_tokens: Option<u32>) -> PromptCheck {
        let conversation = self.view().await.id;
        let request = PromptCheckRequest { conversation, draft: draft.to_owned(), output_tokens, request: 7 };
        let check = self.backend.prompt_check(request).await.unwrap();
        assert_eq!(check.request, 7, "the question's number comes back");
        check
    }

    pub(crate) async fn send(&self, text: &str, change: impl FnOnce(&mut SendRequest)) -> Result<Accepted, IpcError> {
        let mut request = SendRequest {
            conversation: self.view().await.id,
            text: text.to_owned(),
            output_tokens: None,
            regenerate: None,
            edit: None,
            completion: false,
        };
        change(&mut request);
        self.backend.generation_send(request).await
    }

    /// Sends and waits for the end.
    pub(crate) async fn ask(&self, text: &str, output_tokens: u32) -> Accepted {
        let accepted = self.send(text, |request| request.output_tokens = Some(output_tokens)).await.unwrap();
        self.end_of(accepted.generation).await;
        accepted
    }

    /// The events of one answer so far, checked for gaps.
    pub(crate) fn generation(&self, id: u64) -> Vec<GenerationEvent> {
        let events: Vec<GenerationEvent> = self
            .events()
            .into_iter()
            .filter_map(|event| match event {
                AppEvent::Generation(event) if event.generation == id => Some(event),
                _ => None,
            })
            .collect();
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.seq, index as u64, "events are numbered without gaps");
        }
        events
    }

    /// Waits for the last event of an answer.
    pub(crate) async fn end_of(&self, id: u64) -> Vec<GenerationEvent> {
        self.wait_for(id, |kind| matches!(kind, GenerationKind::Done { .. } | GenerationKind::Failed { .. })).await
    }

    /// Waits until an event of this answer is such a one.
    pub(crate) async fn wait_for(&self, id: u64, wanted: impl Fn(&GenerationKind) -> bool) -> Vec<GenerationEvent> {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            let events = self.generation(id);
            if events.iter().any(|event| wanted(&event.kind)) {
                return events;
            }
            assert!(Instant::now() < deadline, "generation {id} did not get there: {events:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The text of an answer's deltas.
pub(crate) fn text_of(events: &[GenerationEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match &event.kind {
        GenerationKind::Delta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    deltas.collect()
}
