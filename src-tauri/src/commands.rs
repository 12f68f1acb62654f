//! One adapter per row of `plimsoll_ipc::COMMANDS`. All are async, so none runs on the window's thread.

use plimsoll_backend::Backend;
use plimsoll_ipc::{
    Accepted, AppInfo, ConversationView, DoctorReport, DraftSave, DropMessages, GenerationSnapshot, IpcError,
    MemoryGauge, ModelEntry, ModelStatus, PromptCheck, PromptCheckRequest, SelectSibling, SendRequest, Settings,
    SettingsPreview,
};
use tauri::ipc::Invoke;
use tauri::{AppHandle, State, Wry};

use crate::{dialog, links};

type Reply<T> = Result<T, IpcError>;

/// Lists the adapters once: for Tauri, and by name for the test that compares them with the contract.
macro_rules! adapters {
    ($($name:ident),* $(,)?) => {
        /// What the page may call.
        pub(crate) fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name),*]
        }

        #[cfg(test)]
        const ADAPTERS: &[&str] = &[$(stringify!($name)),*];
    };
}

adapters!(
    app_info,
    doctor,
    models_list,
    model_import_dialog,
    model_import,
    model_load,
    model_unload,
    model_status,
    settings_get,
    settings_preview,
    settings_apply,
    memory_gauge,
    conversation_get,
    conversation_new,
    conversation_select_sibling,
    conversation_drop_messages,
    draft_save,
    prompt_check,
    generation_send,
    generation_stop,
    generation_snapshot,
    log_ui,
    open_link,
);

#[tauri::command]
async fn app_info(backend: State<'_, Backend>) -> Reply<AppInfo> {
    backend.app_info().await
}

#[tauri::command]
async fn doctor(backend: State<'_, Backend>) -> Reply<DoctorReport> {
    backend.doctor().await
}

#[tauri::command]
async fn models_list(backend: State<'_, Backend>) -> Reply<Vec<ModelEntry>> {
    backend.models_list().await
}

#[tauri::command]
async fn model_import_dialog(app: AppHandle, backend: State<'_, Backend>) -> Reply<Option<ModelEntry>> {
    match dialog::pick_model(&app).await? {
        Some(path) => backend.model_import(path).await.map(Some),
        None => Ok(None),
    }
}

#[tauri::command]
async fn model_import(backend: State<'_, Backend>, args: String) -> Reply<ModelEntry> {
    backend.model_import(args).await
}

#[tauri::command]
async fn model_load(backend: State<'_, Backend>, args: String) -> Reply<ModelStatus> {
    backend.model_load(args).await
}

#[tauri::command]
async fn model_unload(backend: State<'_, Backend>) -> Reply<ModelStatus> {
    backend.model_unload().await
}

#[tauri::command]
async fn model_status(backend: State<'_, Backend>) -> Reply<ModelStatus> {
    backend.model_status().await
}

#[tauri::command]
async fn settings_get(backend: State<'_, Backend>) -> Reply<Settings> {
    backend.settings_get().await
}

#[tauri::command]
async fn settings_preview(backend: State<'_, Backend>, args: Settings) -> Reply<SettingsPreview> {
    backend.settings_preview(args).await
}

#[tauri::command]
async fn settings_apply(backend: State<'_, Backend>, args: Settings) -> Reply<ModelStatus> {
    backend.settings_apply(args).await
}

#[tauri::command]
async fn memory_gauge(backend: State<'_, Backend>) -> Reply<MemoryGauge> {
    backend.memory_gauge().await
}

#[tauri::command]
async fn conversation_get(backend: State<'_, Backend>) -> Reply<ConversationView> {
    backend.conversation_get().await
}

#[tauri::command]
async fn conversation_new(backend: State<'_, Backend>) -> Reply<ConversationView> {
    backend.conversation_new().await
}

#[tauri::command]
async fn conversation_select_sibling(backend: State<'_, Backend>, args: SelectSibling) -> Reply<ConversationView> {
    backend.conversation_select_sibling(args).await
}

#[tauri::command]
async fn conversation_drop_messages(backend: State<'_, Backend>, args: DropMessages) -> Reply<ConversationView> {
    backend.conversation_drop_messages(args).await
}

#[tauri::command]
async fn draft_save(backend: State<'_, Backend>, args: DraftSave) -> Reply<()> {
    backend.draft_save(args).await
}

#[tauri::command]
async fn prompt_check(backend: State<'_, Backend>, args: PromptCheckRequest) -> Reply<PromptCheck> {
    backend.prompt_check(args).await
}

#[tauri::command]
async fn generation_send(backend: State<'_, Backend>, args: SendRequest) -> Reply<Accepted> {
    backend.generation_send(args).await
}

#[tauri::command]
async fn generation_stop(backend: State<'_, Backend>, args: u64) -> Reply<()> {
    backend.generation_stop(args).await
}

#[tauri::command]
async fn generation_snapshot(backend: State<'_, Backend>, args: u64) -> Reply<GenerationSnapshot> {
    backend.generation_snapshot(args).await
}

#[tauri::command]
async fn log_ui(backend: State<'_, Backend>, args: String) -> Reply<()> {
    backend.log_ui(args).await
}

#[tauri::command]
async fn open_link(args: String) -> Reply<()> {
    links::open(&args)
}

#[cfg(test)]
mod tests;
