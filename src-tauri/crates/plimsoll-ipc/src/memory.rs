//! Memory as the page shows it: the plan, the gauge, the doctor.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::settings::{KvChoice, PrecisionChoice};

/// One planned region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SegmentReport {
    /// `weights`, `kv`, `workspace`, `host` or `runtime`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A row of the FP16/INT8/INT4 table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CandidateReport {
    /// The row's precision.
    pub precision: PrecisionChoice,
    /// Can the source give it?
    pub available: bool,
    /// Bytes of the weights in it.
    pub weights_bytes: u64,
    /// Bytes of the whole plan with the wanted context.
    pub total_bytes: u64,
    /// Largest context that fits the budget with it; 0 when none does.
    pub largest_context: u32,
    /// Does the wanted context fit?
    pub fits: bool,
}

/// A memory plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// Model id or path.
    pub model: String,
    /// Device name.
    pub device: String,
    /// Total memory of the device.
    pub device_total_bytes: u64,
    /// Free memory when the plan was made.
    pub device_free_bytes: u64,
    /// What the plan may take.
    pub budget_bytes: u64,
    /// Segments, in the order of the gauge.
    pub segments: Vec<SegmentReport>,
    /// Sum of the segments.
    pub total_bytes: u64,
    /// KV bytes that one more token of context costs (global layers; window layers are bounded).
    pub kv_bytes_per_token: u64,
    /// Precision in force.
    pub precision: PrecisionChoice,
    /// KV type in force.
    pub kv: KvChoice,
    /// Context in tokens.
    pub context_tokens: u32,
    /// The model's trained context.
    pub trained_context: u32,
    /// Largest context that fits the budget.
    pub largest_context: u32,
    /// Prefill chunk in tokens.
    pub chunk_tokens: u32,
    /// Does it fit the budget?
    pub fits: bool,
    /// FP16, INT8, INT4.
    pub candidates: Vec<CandidateReport>,
}

/// The gauge: everything on the device, in bytes and tokens. The parts sum to `total_bytes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MemoryGauge {
    /// Device name.
    pub device: String,
    /// Total memory.
    pub total_bytes: u64,
    /// What Plimsoll may take.
    pub budget_bytes: u64,
    /// Model weights.
    pub weights_bytes: u64,
    /// KV pages that hold tokens of the conversation.
    pub kv_used_bytes: u64,
    /// KV pages promised to the prompt and answer at hand (running, or what Send would reserve now).
    pub kv_reserved_bytes: u64,
    /// KV pages that exist and are free.
    pub kv_idle_bytes: u64,
    /// Activations of one prefill chunk, attention partials, logits.
    pub workspace_bytes: u64,
    /// Program, tokenizer, window.
    pub runtime_bytes: u64,
    /// Other programs.
    pub other_bytes: u64,
    /// Left free.
    pub free_bytes: u64,
    /// Tokens in the KV cache.
    pub kv_used_tokens: u32,
    /// Tokens reserved for prompt + answer at hand beyond those used.
    pub kv_reserved_tokens: u32,
    /// Context limit in force.
    pub context_tokens: u32,
    /// `empty` (nothing loaded), `ok`, `tight` or `blocked`.
    pub state: String,
}

/// One line of the doctor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DoctorItem {
    /// `memory`, `prompt`, `output`, `concurrency`, `quantization`, `kv`, `cpu`, `kernels`, `gpu`, `version`.
    pub id: String,
    /// `ok`, `warn` or `bad`.
    pub state: String,
    /// The question, in English.
    pub question: String,
    /// The live answer, in English.
    pub answer: String,
}

/// Devices, kernels and the six questions, with live values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// Program version.
    pub version: String,
    /// The lines.
    pub items: Vec<DoctorItem>,
}
