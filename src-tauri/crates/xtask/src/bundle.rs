//! `cargo xtask bundle`: an optimised package.

use anyhow::Result;

use crate::icons::tauri_cli;
use crate::{process, setup, workspace};

/// Builds the Debian package.
pub(crate) fn bundle() -> Result<()> {
    setup::setup()?;
    process::run(&mut process::npm(&["run", "build"])?)?;
    let mut build = tauri_cli();
    process::run(build.args(["build", "--bundles", "deb"]).current_dir(workspace::root()?))?;
    println!("bundle: the package is in {}", workspace::target()?.join("release/bundle/deb").display());
    Ok(())
}
