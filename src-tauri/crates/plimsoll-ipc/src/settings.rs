//! The user's settings, and what each possible value would cost or free.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::memory::PlanReport;

/// Weight precision class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionChoice {
    /// The planner chooses.
    Auto,
    /// 4-bit weights.
    Int4,
    /// 8-bit weights.
    Int8,
    /// 16-bit weights.
    Fp16,
}

/// KV cache element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KvChoice {
    /// The planner chooses.
    Auto,
    /// 16-bit.
    Fp16,
    /// 8-bit with row scales.
    Int8,
    /// 4-bit with group scales.
    Int4,
}

/// Everything that the user can set. Persisted by the backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Id of the model to use; `None` until one is chosen.
    pub model: Option<String>,
    /// Context limit in tokens (prompt + answer).
    pub context_tokens: u32,
    /// Longest answer in tokens; reserved before Send, enforced while decoding.
    pub output_tokens: u32,
    /// Fraction of total memory that the plan may use, 0.05 to 0.95.
    pub memory_fraction: f64,
    /// Weight precision.
    pub precision: PrecisionChoice,
    /// KV cache type.
    pub kv: KvChoice,
    /// Compute threads; 0 = physical cores.
    pub threads: u32,
    /// 0 is greedy.
    pub temperature: f64,
    /// Nucleus sampling; 1 is off.
    pub top_p: f64,
    /// 0 is off.
    pub top_k: u32,
    /// 0 is off.
    pub min_p: f64,
    /// 1 is off.
    pub repetition_penalty: f64,
    /// System prompt; empty = the template's own default.
    pub system_prompt: String,
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// `auto`, `en` or `zh-CN`.
    pub language: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: None,
            context_tokens: 4096,
            output_tokens: 512,
            memory_fraction: 0.75,
            precision: PrecisionChoice::Auto,
            kv: KvChoice::Auto,
            threads: 0,
            temperature: 0.2,
            top_p: 0.9,
            top_k: 0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            system_prompt: String::new(),
            theme: "system".to_owned(),
            language: "auto".to_owned(),
        }
    }
}

/// One value of one setting, priced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingOption {
    /// The value as it would be set, for example `int8`, `8192` or `0.75`.
    pub value: String,
    /// Bytes the plan would take with this value.
    pub total_bytes: u64,
    /// Bytes that the value adds (positive) or frees (negative) against what is in force now.
    pub delta_bytes: i64,
    /// Context in tokens that the plan would have with this value.
    pub context_tokens: u32,
    /// Tokens of context that the value adds or takes.
    pub delta_tokens: i64,
    /// Does the plan fit with it?
    pub fits: bool,
    /// Can it be chosen at all (a GGUF file keeps its precision)?
    pub available: bool,
    /// Why not, as a code for words: `file_precision`, `above_trained`, `over_budget`, `not_built`.
    pub reason: Option<String>,
}

/// Every choice of the settings panel, priced against the plan in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsPreview {
    /// The plan that the previewed settings would give.
    pub plan: PlanReport,
    /// Bytes against the plan in force (0 when nothing is loaded).
    pub delta_bytes: i64,
    /// Must the model be loaded again for the previewed settings?
    pub needs_reload: bool,
    /// INT4, INT8, FP16.
    pub precision: Vec<SettingOption>,
    /// FP16, INT8, INT4.
    pub kv: Vec<SettingOption>,
    /// 512, 1024, ... up to the trained context, with the previewed value among them.
    pub context: Vec<SettingOption>,
    /// 128, 256, ... up to the context. `total_bytes` counts the KV bytes that one answer reserves.
    pub output: Vec<SettingOption>,
    /// 0.25 ... 0.9; `total_bytes` is the budget, `context_tokens` the largest context in it.
    pub memory_fraction: Vec<SettingOption>,
}
