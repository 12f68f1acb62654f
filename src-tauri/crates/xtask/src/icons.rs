//! `cargo xtask icons`: the sets that tauri.conf.json names, from the one drawing.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// What Linux, macOS and Windows need; Tauri's tool makes many more.
const SETS: &[&str] = &["32x32.png", "128x128.png", "128x128@2x.png", "icon.png", "icon.icns", "icon.ico"];

/// Makes the icon sets.
pub(crate) fn icons() -> Result<()> {
    let icons = workspace::root()?.join("icons");
    let work = tempfile::tempdir()?;
    process::run(tauri_cli().arg("icon").arg(icons.join("plimsoll.svg")).arg("--output").arg(work.path()))?;
    for set in SETS {
        fs::copy(work.path().join(set), icons.join(set)).with_context(|| (*set).to_owned())?;
    }
    Ok(())
}

/// Tauri's own command-line tool, of the version that fits the crate.
pub(crate) fn tauri_cli() -> Command {
    let mut command = Command::new("npx");
    command.args(["--yes", "@tauri-apps/cli@2.12.5"]);
    command
}
