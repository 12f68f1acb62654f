//! The window and nothing else.
//!
//! Every command is a one-line adapter to `plimsoll_backend::Backend`, every backend event goes to the page as it is.
//! This crate decides nothing about models, memory or conversations.
#![forbid(unsafe_code)]
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod commands;
mod dialog;
mod events;
mod instance;
mod links;
mod logging;
mod rendering;
mod window;

use std::process::ExitCode;
use std::sync::Arc;

use plimsoll_backend::paths::DataPaths;
use plimsoll_backend::{Backend, BackendConfig};
use plimsoll_device::SystemProbe;
use tauri::Manager as _;

fn main() -> ExitCode {
    rendering::choose_renderer();
    run().unwrap_or_else(|error| {
        // Logging itself may be what failed.
        eprintln!("Plimsoll cannot run: {error}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let paths = DataPaths::open(None)?;
    let _flush_on_exit = logging::start(paths.home())?;
    let home = paths.home().to_owned();
    let app = tauri::Builder::default()
        .plugin(instance::single(&home))
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(commands::handler())
        .setup(move |app| {
            let sink = events::sink(app.handle().clone());
            let backend = Backend::new(BackendConfig {
                home: Some(home.clone()),
                models_dirs: Vec::new(),
                probe: Arc::new(SystemProbe::new()),
                sink,
                locale: sys_locale::get_locale().unwrap_or_default(),
            })?;
            app.manage(backend.clone());
            window::open(app.handle(), &home)?;
            // The window is there while the model loads; the page hears of both outcomes through `model_status`.
            tauri::async_runtime::spawn(async move { backend.model_load_chosen().await });
            Ok(())
        })
        .build(tauri::generate_context!())?;
    // Unlike `run`, this returns, so that the log is flushed.
    let code = app.run_return(window::on_event);
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}
