//! A data folder of the test's own.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_tests::models;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A data folder with models and settings. Gone when dropped.
pub struct Home {
    folder: TempDir,
}

impl Home {
    /// SmolLM2 is installed and chosen; answers are greedy; English, light.
    pub fn with_smollm2() -> Self {
        Self::with_model(&models::smollm2())
    }

    /// This model is installed and chosen.
    pub fn with_model(model: &Path) -> Self {
        let home = Self { folder: tempfile::Builder::new().prefix("plimsoll-e2e-").tempdir().unwrap() };
        fs::create_dir_all(home.models()).unwrap();
        home.add_link(model);
        let id = model.file_stem().unwrap().to_str().unwrap();
        home.set(&json!({"model": id, "temperature": 0.0, "language": "en", "theme": "light"}));
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Installs a model by a link.
    pub fn add_link(&self, model: &Path) {
        std::os::unix::fs::symlink(model, self.models().join(model.file_name().unwrap())).unwrap();
    }

    /// Installs a file with this content.
    pub fn add_file(&self, name: &str, content: &[u8]) {
        fs::write(self.models().join(name), content).unwrap();
    }

    /// Changes settings in the file; before the program starts.
    pub fn set(&self, changes: &Value) {
        let file = self.folder.path().join("settings.json");
        let mut settings: Value =
            fs::read(&file).map_or_else(|_| json!({}), |bytes| serde_json::from_slice(&bytes).unwrap());
        for (name, value) in changes.as_object().unwrap() {
            settings[name] = value.clone();
        }
        fs::write(file, settings.to_string()).unwrap();
    }

    /// Everything that the program has logged.
    pub fn log(&self) -> String {
        let Ok(files) = fs::read_dir(self.folder.path().join("logs")) else { return String::new() };
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    fn models(&self) -> PathBuf {
        self.folder.path().join("models")
    }
}
