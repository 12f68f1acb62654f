//! `plimsoll list` and `plimsoll doctor`: what the backend knows without a loaded model.

use std::sync::Arc;

use plimsoll_backend::{Backend, BackendConfig};
use plimsoll_device::SystemProbe;
use plimsoll_ipc::{ErrorCode, IpcError};

use crate::args::ListArguments;
use crate::failure::Failure;
use crate::print;

pub(crate) fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let models = with_backend(async |backend| backend.models_list().await)?;
    if arguments.json {
        return print::json(&models);
    }
    for model in models {
        let state = match &model.problem {
            Some(problem) => format!("cannot be used: {}", problem.message),
            None => format!(
                "{} {}, {}, context {}{}",
                model.architecture,
                model.storage_type,
                print::bytes(model.file_bytes),
                model.trained_context,
                if model.chat { "" } else { ", base model" },
            ),
        };
        print::line(&format!("{}  {state}", model.id));
    }
    Ok(())
}

pub(crate) fn doctor(arguments: &ListArguments) -> Result<(), Failure> {
    let report = with_backend(async |backend| backend.doctor().await)?;
    if arguments.json {
        return print::json(&report);
    }
    print::line(&format!("Plimsoll {}", report.version));
    for item in report.items {
        print::line(&format!("[{:<4}] {}\n       {}", item.state, item.question, item.answer));
    }
    Ok(())
}

fn with_backend<T>(call: impl AsyncFnOnce(&Backend) -> Result<T, IpcError>) -> Result<T, Failure> {
    let config = BackendConfig {
        home: None,
        models_dirs: Vec::new(),
        probe: Arc::new(SystemProbe::new()),
        sink: Arc::new(|_| ()),
        locale: std::env::var("LANG").unwrap_or_default(),
    };
    let backend = Backend::new(config).map_err(Failure::new)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::new(IpcError::new(ErrorCode::Io, error.to_string())))?;
    runtime.block_on(call(&backend)).map_err(Failure::new)
}
