//! Where things lie.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The repository's root.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).map(Path::to_owned).context("xtask lies three folders below the root")
}

/// The page's folder.
pub(crate) fn ui() -> Result<PathBuf> {
    Ok(root()?.join("ui"))
}

/// Cargo's target folder.
pub(crate) fn target() -> Result<PathBuf> {
    match std::env::var_os("CARGO_TARGET_DIR") {
        // Cargo takes a relative folder from where it is called; xtask calls it from the root.
        Some(folder) => Ok(root()?.join(folder)),
        None => Ok(root()?.join("target")),
    }
}

/// A program that cargo built.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    Ok(target()?.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// What survives `cargo clean`: `$PLIMSOLL_CACHE`, else the user's cache folder.
pub(crate) fn cache() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("PLIMSOLL_CACHE").filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).context("PLIMSOLL_CACHE");
    }
    let folders = directories::ProjectDirs::from("", "", "plimsoll").context("no cache folder; set PLIMSOLL_CACHE")?;
    Ok(folders.cache_dir().to_owned())
}

/// The test models' folder.
pub(crate) fn models() -> Result<PathBuf> {
    Ok(cache()?.join("models"))
}
