//! The commands: one async method for each row of [`plimsoll_ipc::COMMANDS`], with its name.
//!
//! What takes longer than a moment runs on a thread of its own, so that the host's executor goes on.

use std::path::Path;
use std::sync::Arc;

use plimsoll_ipc::{
    Accepted, AppInfo, ConversationView, DoctorReport, DraftSave, DropMessages, ErrorCode, GenerationSnapshot,
    IpcError, MemoryGauge, ModelEntry, ModelStatus, PromptCheck, PromptCheckRequest, SelectSibling, SendRequest,
    Settings, SettingsPreview,
};

use crate::core::{BackendConfig, Core};

/// Longest line of the page's log.
const LONGEST_LOG_LINE: usize = 8 << 10;

/// The program without a host. Cheap to clone; when the last clone goes, what runs is cancelled and the model's
/// memory is given back.
#[derive(Clone)]
pub struct Backend {
    core: Arc<Core>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("home", &self.core.paths.home()).finish_non_exhaustive()
    }
}

#[expect(clippy::unused_async, reason = "every command has the same form for its host, quick or not")]
impl Backend {
    /// Opens the data folder, the settings and the draft. Loads nothing.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] when there is no place for data.
    pub fn new(config: BackendConfig) -> Result<Self, IpcError> {
        Ok(Self { core: Core::open(config)? })
    }

    /// The program, the machine and the folders.
    pub async fn app_info(&self) -> Result<AppInfo, IpcError> {
        self.blocking(|core| Ok(core.app_info())).await
    }

    /// The machine and the six questions, with live values.
    pub async fn doctor(&self) -> Result<DoctorReport, IpcError> {
        self.blocking(|core| Ok(core.doctor())).await
    }

    /// Every model file, by name; those that cannot be used say why.
    pub async fn models_list(&self) -> Result<Vec<ModelEntry>, IpcError> {
        self.blocking(|core| Ok(core.library.list().into_iter().map(|listed| listed.entry).collect())).await
    }

    /// Adds a model file that lies elsewhere. It is not copied.
    pub async fn model_import(&self, path: String) -> Result<ModelEntry, IpcError> {
        self.blocking(move |core| core.library.import(Path::new(&path))).await
    }

    /// Loads a model in place of the one that is loaded. Refused with the numbers when it does not fit.
    pub async fn model_load(&self, id: String) -> Result<ModelStatus, IpcError> {
        self.blocking(move |core| core.load(&id, core.settings.get())).await
    }

    /// Loads the model that the settings name; without one, the only usable model that there is. `Empty` when there
    /// is no such model. For a host's start.
    pub async fn model_load_chosen(&self) -> Result<ModelStatus, IpcError> {
        self.blocking(|core| match core.chosen_model() {
            Some(id) => core.load(&id, core.settings.get()),
            None => Ok(core.slot.status()),
        })
        .await
    }

    /// Gives the loaded model's memory back.
    pub async fn model_unload(&self) -> Result<ModelStatus, IpcError> {
        self.blocking(Core::unload).await
    }

    /// The load state.
    pub async fn model_status(&self) -> Result<ModelStatus, IpcError> {
        Ok(self.core.slot.status())
    }

    /// The settings in force.
    pub async fn settings_get(&self) -> Result<Settings, IpcError> {
        Ok(self.core.settings.get())
    }

    /// What settings would cost. Changes nothing.
    pub async fn settings_preview(&self, settings: Settings) -> Result<SettingsPreview, IpcError> {
        self.blocking(move |core| core.preview(settings)).await
    }

    /// Applies and saves settings, whole or not at all.
    pub async fn settings_apply(&self, settings: Settings) -> Result<ModelStatus, IpcError> {
        self.blocking(move |core| core.apply(settings)).await
    }

    /// How memory stands.
    pub async fn memory_gauge(&self) -> Result<MemoryGauge, IpcError> {
        self.blocking(|core| Ok(core.gauge_now())).await
    }

    /// The conversation.
    pub async fn conversation_get(&self) -> Result<ConversationView, IpcError> {
        Ok(self.core.conversation_view())
    }

    /// An empty conversation that keeps the draft. What runs is stopped.
    pub async fn conversation_new(&self) -> Result<ConversationView, IpcError> {
        self.blocking(Core::new_conversation).await
    }

    /// Shows another sibling of a message.
    pub async fn conversation_select_sibling(&self, request: SelectSibling) -> Result<ConversationView, IpcError> {
        self.core.select_sibling(&request)
    }

    /// Leaves messages out of the prompt, or takes them back.
    pub async fn conversation_drop_messages(&self, request: DropMessages) -> Result<ConversationView, IpcError> {
        self.core.drop_messages(&request)
    }

    /// Writes what is still in memory only, before the process ends.
    pub fn flush(&self) {
        self.core.draft.flush();
    }

    /// Keeps what the user is writing, also across a crash.
    pub async fn draft_save(&self, draft: DraftSave) -> Result<(), IpcError> {
        self.core.save_draft(draft)
    }

    /// What Send would do now.
    pub async fn prompt_check(&self, request: PromptCheckRequest) -> Result<PromptCheck, IpcError> {
        self.blocking(move |core| core.check(&request)).await
    }

    /// Sends a message: admitted and started, or refused with the numbers and nothing changed.
    pub async fn generation_send(&self, request: SendRequest) -> Result<Accepted, IpcError> {
        let core = Arc::clone(&self.core);
        self.blocking(move |_| core.send(request)).await
    }

    /// Stops an answer; its text is kept. An answer that has ended already stays as it is.
    pub async fn generation_stop(&self, generation: u64) -> Result<(), IpcError> {
        self.core.generations.find(generation)?.cancel();
        Ok(())
    }

    /// The whole of an answer so far.
    pub async fn generation_snapshot(&self, generation: u64) -> Result<GenerationSnapshot, IpcError> {
        Ok(self.core.generations.find(generation)?.snapshot())
    }

    /// Writes a line of the page's own log.
    pub async fn log_ui(&self, line: String) -> Result<(), IpcError> {
        let line = line.get(..line.floor_char_boundary(LONGEST_LOG_LINE)).unwrap_or_default();
        // One line stays one line, whatever the page puts into it.
        tracing::info!(target: "plimsoll::ui", line = %line.escape_debug());
        Ok(())
    }

    /// Runs `call` where it may take its time. A panic in it is an error of this one command.
    async fn blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Core) -> Result<T, IpcError> + Send + 'static,
    ) -> Result<T, IpcError> {
        let core = Arc::clone(&self.core);
        match tokio::task::spawn_blocking(move || call(&core)).await {
            Ok(result) => result,
            Err(error) => {
                tracing::error!(%error, "a command panicked");
                Err(IpcError::new(ErrorCode::Internal, "a command failed inside Plimsoll")
                    .with_detail(error.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
