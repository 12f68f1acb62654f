//! What all commands share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use plimsoll_device::Probe;
use plimsoll_ipc::{AppInfo, ErrorCode, IpcError};

use crate::conversation::OpenConversation;
use crate::draft::DraftFile;
use crate::errors::ToIpc;
use crate::events::{EventSink, Events};
use crate::gauge::GaugeSignal;
use crate::generation::Generations;
use crate::models::Library;
use crate::paths::DataPaths;
use crate::settings::SettingsStore;
use crate::slot::ModelSlot;

/// What a host gives the backend.
pub struct BackendConfig {
    /// Data folder; `None` = the environment's `PLIMSOLL_HOME`, else the platform's.
    pub home: Option<PathBuf>,
    /// More folders with models.
    pub models_dirs: Vec<PathBuf>,
    /// Reads the machine.
    pub probe: Arc<dyn Probe>,
    /// Where events go.
    pub sink: EventSink,
    /// The operating system's language tag.
    pub locale: String,
}

impl std::fmt::Debug for BackendConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackendConfig").field("home", &self.home).field("locale", &self.locale).finish_non_exhaustive()
    }
}

/// What all commands share.
pub(crate) struct Core {
    pub(crate) paths: DataPaths,
    pub(crate) probe: Arc<dyn Probe>,
    pub(crate) events: Events,
    pub(crate) settings: SettingsStore,
    pub(crate) library: Library,
    pub(crate) slot: ModelSlot,
    /// Held while a model is loaded or unloaded: one at a time.
    pub(crate) loads: Mutex<()>,
    pub(crate) generations: Generations,
    pub(crate) conversation: Mutex<OpenConversation>,
    pub(crate) draft: DraftFile,
    pub(crate) gauge: Arc<GaugeSignal>,
    locale: String,
}

impl Core {
    pub(crate) fn open(config: BackendConfig) -> Result<Arc<Self>, IpcError> {
        let paths = DataPaths::open(config.home)?;
        let (draft, text) = DraftFile::open(&paths.draft()).map_err(|error| error.to_ipc())?;
        let core = Arc::new(Self {
            settings: SettingsStore::open(&paths.settings()),
            library: Library::open(&paths, config.models_dirs),
            slot: ModelSlot::empty(),
            loads: Mutex::new(()),
            generations: Generations::default(),
            conversation: Mutex::new(OpenConversation::new(1, text)),
            draft,
            gauge: Arc::default(),
            locale: config.locale,
            events: Events::new(config.sink),
            probe: config.probe,
            paths,
        });
        crate::gauge::spawn_sampler(Arc::clone(&core.gauge), Arc::downgrade(&core))
            .map_err(|error| IpcError::new(ErrorCode::Io, error.to_string()).with_detail("thread"))?;
        Ok(core)
    }

    pub(crate) fn app_info(&self) -> AppInfo {
        let (memory, cpu) = (self.probe.memory(), self.probe.cpu());
        AppInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_dir: self.paths.home().display().to_string(),
            models_dir: self.paths.models().display().to_string(),
            cpu: cpu.name.clone().unwrap_or_else(|| "unknown".to_owned()),
            kernels: crate::doctor::kernels(&cpu),
            memory_total_bytes: memory.total.unwrap_or_default().0,
            memory_free_bytes: memory.available.unwrap_or_default().0,
            locale: self.locale.clone(),
        }
    }

    /// The name under which plans and the gauge show main memory.
    pub(crate) fn device_name(&self) -> String {
        self.probe.cpu().name.unwrap_or_else(|| "CPU".to_owned())
    }

    /// Compute threads when the settings name none.
    pub(crate) fn compute_threads(&self) -> u32 {
        self.probe.cpu().compute_threads()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.gauge.close();
    }
}
