//! A log file per day in the data folder, and the same lines on stderr.

use std::io::IsTerminal as _;
use std::path::Path;

use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

/// Days of log that are kept.
const KEPT_FILES: usize = 7;

/// Starts logging. The log is flushed when the returned guard is dropped. `RUST_LOG` filters as usual.
pub(crate) fn start(home: &Path) -> Result<WorkerGuard, Box<dyn std::error::Error>> {
    let folder = home.join("logs");
    std::fs::create_dir_all(&folder)?;
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(KEPT_FILES)
        .filename_prefix("plimsoll")
        .filename_suffix("log")
        .build(folder)?;
    let (file, guard) = tracing_appender::non_blocking(file);
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::registry()
        .with(filter)
        .with(fmt::layer().with_ansi(false).with_writer(file))
        .with(fmt::layer().with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr))
        .init();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "Plimsoll starts");
    Ok(guard)
}
