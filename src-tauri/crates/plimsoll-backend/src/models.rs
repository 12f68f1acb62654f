//! Which models there are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use plimsoll_engine::{ModelFile, ModelInfo};
use plimsoll_ipc::{ErrorCode, IpcError, ModelEntry};
use plimsoll_plan::ModelShape;

use crate::errors::{ToIpc, not_found};
use crate::json_file::{self, Stored};
use crate::locking::lock;
use crate::paths::DataPaths;
use crate::report::precision_name;

/// Installed models: files in the models folders, and imported files that lie elsewhere.
#[derive(Debug)]
pub(crate) struct Library {
    folders: Vec<PathBuf>,
    imported_path: PathBuf,
    imported: Mutex<Vec<PathBuf>>,
    /// Opening a file reads its whole header; what was read is kept until the file changes.
    seen: Mutex<HashMap<PathBuf, Seen>>,
}

/// A model as listed, and what the planner needs of it; `None` for a file that cannot be used.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) entry: ModelEntry,
    pub(crate) shape: Option<Arc<ModelShape>>,
}

#[derive(Debug, Clone)]
struct Seen {
    bytes: u64,
    modified: Option<SystemTime>,
    listed: Listed,
}

impl Library {
    pub(crate) fn open(paths: &DataPaths, extra: Vec<PathBuf>) -> Self {
        let imported_path = paths.imported();
        let imported = match json_file::read(&imported_path) {
            Stored::Read(imported) => imported,
            Stored::Absent | Stored::Damaged => Vec::new(),
        };
        let mut folders = vec![paths.models()];
        folders.extend(extra);
        Self { folders, imported_path, imported: Mutex::new(imported), seen: Mutex::default() }
    }

    /// Every model file, readable or not, by name.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let mut found: Vec<Listed> = self.files().into_iter().map(|(id, path)| self.inspect(id, &path)).collect();
        found.sort_by(|a, b| {
            let key = |listed: &Listed| (listed.entry.name.to_lowercase(), listed.entry.id.clone());
            key(a).cmp(&key(b))
        });
        found
    }

    /// The model with this id.
    pub(crate) fn find(&self, id: &str) -> Result<Listed, IpcError> {
        let (id, path) =
            self.files().into_iter().find(|(known, _)| known == id).ok_or_else(|| not_found("model", id))?;
        Ok(self.inspect(id, &path))
    }

    /// Adds a file that lies elsewhere. A file that cannot be used is refused with its problem.
    pub(crate) fn import(&self, path: &Path) -> Result<ModelEntry, IpcError> {
        let path =
            std::fs::canonicalize(path).map_err(|error| error.to_ipc().with_detail(path.display().to_string()))?;
        if let Some((id, path)) = self.files().into_iter().find(|(_, known)| is_same_file(known, &path)) {
            let listed = self.inspect(id, &path);
            return match listed.entry.problem {
                Some(problem) => Err(problem),
                None => Ok(listed.entry),
            };
        }
        let listed = self.inspect(path.display().to_string(), &path);
        if let Some(problem) = listed.entry.problem {
            return Err(problem);
        }
        let mut imported = lock(&self.imported);
        let mut longer = imported.clone();
        longer.push(path);
        json_file::write(&self.imported_path, &longer).map_err(|error| error.to_ipc().with_detail("imported.json"))?;
        *imported = longer;
        Ok(listed.entry)
    }

    /// (id, path) of every model file. Ids are unique: a stem that an earlier folder has gives way to the path.
    fn files(&self) -> Vec<(String, PathBuf)> {
        let mut found: Vec<(String, PathBuf)> = Vec::new();
        for folder in &self.folders {
            for path in model_files(folder) {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                let taken = found.iter().any(|(id, _)| *id == stem);
                found.push((if taken { path.display().to_string() } else { stem }, path));
            }
        }
        for path in lock(&self.imported).iter() {
            if !found.iter().any(|(_, known)| known == path) {
                found.push((path.display().to_string(), path.clone()));
            }
        }
        found
    }

    fn inspect(&self, id: String, path: &Path) -> Listed {
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                let problem = error.to_ipc().with_detail(path.display().to_string());
                return Listed { entry: unusable(id, path, 0, problem), shape: None };
            }
        };
        let (bytes, modified) = (metadata.len(), metadata.modified().ok());
        if let Some(seen) = lock(&self.seen).get(path)
            && seen.bytes == bytes
            && seen.modified == modified
        {
            let mut listed = seen.listed.clone();
            listed.entry.id = id;
            return listed;
        }
        let listed = match ModelFile::open(path) {
            Ok(file) => Listed { entry: entry_of(id, &file), shape: Some(Arc::new(file.shape().clone())) },
            Err(error) => Listed { entry: unusable(id, path, bytes, error.to_ipc()), shape: None },
        };
        lock(&self.seen).insert(path.to_owned(), Seen { bytes, modified, listed: listed.clone() });
        listed
    }
}

impl Listed {
    /// The shape, or the reason why there is none.
    pub(crate) fn usable(&self) -> Result<&Arc<ModelShape>, IpcError> {
        self.shape.as_ref().ok_or_else(|| {
            let unknown = || IpcError::new(ErrorCode::Internal, "the model has no shape").with_detail(&self.entry.id);
            self.entry.problem.clone().unwrap_or_else(unknown)
        })
    }
}

/// An opened file as the page lists it.
pub(crate) fn entry_of(id: String, file: &ModelFile) -> ModelEntry {
    let ModelInfo { name, architecture, file_bytes, storage_type, precision, trained_context, .. } = file.info();
    ModelEntry {
        id,
        name: name.clone(),
        path: file.path().display().to_string(),
        file_bytes: file_bytes.0,
        architecture: architecture.clone(),
        precision_class: precision_name(*precision).to_owned(),
        storage_type: (*storage_type).to_owned(),
        trained_context: trained_context.0,
        chat: file.chat_template().is_some(),
        problem: None,
    }
}

fn unusable(id: String, path: &Path, bytes: u64, problem: IpcError) -> ModelEntry {
    ModelEntry {
        id,
        name: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        path: path.display().to_string(),
        file_bytes: bytes,
        architecture: String::new(),
        precision_class: String::new(),
        storage_type: String::new(),
        trained_context: 0,
        chat: false,
        problem: Some(problem),
    }
}

/// The .gguf files of a folder, links included, by name. An unreadable folder holds none.
fn model_files(folder: &Path) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "a models folder cannot be read");
            return Vec::new();
        }
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")))
        .filter(|path| !path.is_dir())
        .collect();
    files.sort();
    files
}

fn is_same_file(known: &Path, canonical: &Path) -> bool {
    known == canonical || std::fs::canonicalize(known).is_ok_and(|known| known == canonical)
}
