//! Where Plimsoll keeps its data.

use std::path::{Path, PathBuf};

use plimsoll_ipc::{ErrorCode, IpcError};

use crate::errors::ToIpc;

/// The environment variable that moves all data.
pub const HOME_VARIABLE: &str = "PLIMSOLL_HOME";

/// The data folder and what lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataPaths {
    home: PathBuf,
}

impl DataPaths {
    /// The folder named by the caller, else by `PLIMSOLL_HOME`, else the platform's own data folder. Creates it and
    /// the models folder inside.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] when the platform names no data folder, or a folder cannot be created.
    pub fn open(home: Option<PathBuf>) -> Result<Self, IpcError> {
        let home = home
            .or_else(|| std::env::var_os(HOME_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from))
            .or_else(|| directories::ProjectDirs::from("", "", "plimsoll").map(|dirs| dirs.data_dir().to_owned()))
            .ok_or_else(|| IpcError::new(ErrorCode::Io, "this system names no data folder; set PLIMSOLL_HOME"))?;
        let paths = Self { home };
        let models = paths.models();
        std::fs::create_dir_all(&models).map_err(|error| error.to_ipc().with_detail(models.display().to_string()))?;
        Ok(paths)
    }

    /// The data folder itself.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where models are looked for.
    pub fn models(&self) -> PathBuf {
        self.home.join("models")
    }

    /// The user's settings.
    pub(crate) fn settings(&self) -> PathBuf {
        self.home.join("settings.json")
    }

    /// Model files that lie elsewhere.
    pub(crate) fn imported(&self) -> PathBuf {
        self.home.join("imported.json")
    }

    /// What the user was writing.
    pub(crate) fn draft(&self) -> PathBuf {
        self.home.join("draft.json")
    }
}
