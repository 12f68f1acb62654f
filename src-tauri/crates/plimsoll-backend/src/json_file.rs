//! Small JSON files that are either the old or the new content, never half of one.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Damaged files that are kept; after that the first is overwritten.
const MOST_BACKUPS: u32 = 16;

/// What reading a file gave.
#[derive(Debug)]
pub(crate) enum Stored<T> {
    /// There is no such file.
    Absent,
    /// Its content.
    Read(T),
    /// It cannot be read or understood. It was kept under another name where that was possible.
    Damaged,
}

/// Moves a file aside, under a name that is free.
pub(crate) fn set_aside(path: &Path) -> std::io::Result<()> {
    std::fs::rename(path, backup_path(path))
}

/// Reads a file; a damaged one is moved aside, so that the next write does not destroy what may be repaired by hand.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Stored<T> {
    let reason = match std::fs::read(path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => return Stored::Read(value),
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Stored::Absent,
        Err(error) => error.to_string(),
    };
    let kept = set_aside(path).is_ok();
    tracing::warn!(path = %path.display(), %reason, kept, "a damaged file was set aside");
    Stored::Damaged
}

/// Writes a file beside the old one and puts it in its place in one step.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> std::io::Result<()> {
    let bytes = serde_json::to_vec_pretty(value).map_err(std::io::Error::other)?;
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| std::fs::rename(&beside, path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    placed
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension(format!("json.new{}", std::process::id()))
}

fn backup_path(path: &Path) -> PathBuf {
    let first = path.with_extension("json.bad");
    let numbered = (1..=MOST_BACKUPS).map(|number| path.with_extension(format!("json.bad{number}")));
    let free = std::iter::once(first.clone()).chain(numbered).find(|candidate| !candidate.exists());
    free.unwrap_or(first)
}
