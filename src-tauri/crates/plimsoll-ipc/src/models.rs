//! Models as the page lists them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::error::IpcError;
use crate::memory::PlanReport;

/// An installed model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    /// Stable id: the file's path for imported files, the file stem inside the models folder.
    pub id: String,
    /// Name from the file's metadata, else the file stem.
    pub name: String,
    /// Where it lies.
    pub path: String,
    /// Size of the file.
    pub file_bytes: u64,
    /// Architecture, for example `llama`.
    pub architecture: String,
    /// `int4`, `int8` or `fp16` class of the file, and its most frequent storage type, for example `Q4_1`.
    pub precision_class: String,
    /// Most frequent storage type.
    pub storage_type: String,
    /// Trained context in tokens.
    pub trained_context: u32,
    /// Does the file hold a chat template? Without one it is a base model.
    pub chat: bool,
    /// The model cannot be used, and why.
    pub problem: Option<IpcError>,
}

/// Load state of the model, sent as event `model_status` and returned by `model_status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "made a few times a second at most, then serialised at once")]
pub enum ModelStatus {
    /// Nothing is loaded.
    Empty,
    /// Loading.
    #[serde(rename_all = "camelCase")]
    Loading {
        /// Which.
        model: String,
        /// Bytes packed so far.
        done_bytes: u64,
        /// Bytes to pack.
        total_bytes: u64,
    },
    /// Ready to chat.
    #[serde(rename_all = "camelCase")]
    Ready {
        /// Which.
        model: ModelEntry,
        /// Its plan.
        plan: PlanReport,
        /// Load time.
        load_ms: u64,
    },
    /// Loading failed; nothing is loaded.
    Failed {
        /// Which.
        model: String,
        /// Why.
        error: IpcError,
    },
}

/// What the page needs at start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// Program version.
    pub version: String,
    /// Where data lies.
    pub data_dir: String,
    /// Where models are looked for.
    pub models_dir: String,
    /// Processor name.
    pub cpu: String,
    /// Instruction sets that the kernels use, for example `AVX2+FMA`.
    pub kernels: String,
    /// Total memory.
    pub memory_total_bytes: u64,
    /// Free memory.
    pub memory_free_bytes: u64,
    /// The operating system's language tag, for example `zh-CN`.
    pub locale: String,
}
