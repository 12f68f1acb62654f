//! The system's file dialog. The page never sees a path that the user did not choose here.

use plimsoll_ipc::{ErrorCode, IpcError};
use tauri::AppHandle;
use tauri_plugin_dialog::DialogExt as _;
use tokio::sync::oneshot;

/// Lets the user pick a .gguf file. `None` when the dialog is dismissed.
pub(crate) async fn pick_model(app: &AppHandle) -> Result<Option<String>, IpcError> {
    let (chosen, choice) = oneshot::channel();
    app.dialog().file().add_filter("GGUF", &["gguf"]).pick_file(move |file| {
        // The receiver is gone only when the window is closing.
        let _ = chosen.send(file);
    });
    let Some(file) = choice.await.ok().flatten() else { return Ok(None) };
    let path = file.into_path().map_err(|error| IpcError::new(ErrorCode::Io, error.to_string()))?;
    path.into_os_string().into_string().map(Some).map_err(|path| {
        IpcError::new(ErrorCode::Io, "the file's name is not UTF-8").with_detail(path.to_string_lossy())
    })
}
