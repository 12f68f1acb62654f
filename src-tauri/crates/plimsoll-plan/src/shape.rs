//! What the planner is given: the model's shape, the device's memory, the user's settings.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Tokens};

/// Tokens in one KV page.
pub const PAGE_TOKENS: u32 = 64;

/// Every region of a slab starts at a multiple of this: one cache line, and the widest vector load.
pub const REGION_ALIGNMENT: u64 = 64;

/// Weight precision class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 4-bit weights with group scales.
    Int4,
    /// 8-bit weights with group scales.
    Int8,
    /// 16-bit weights.
    Fp16,
}

/// KV cache element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KvType {
    /// Group-32 4-bit with Hadamard rotation.
    Int4,
    /// 8-bit with one f16 scale per row and head.
    Int8,
    /// IEEE half precision.
    Fp16,
}

/// One weight tensor in the slab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightShape {
    /// Name in the file.
    pub name: String,
    /// Output features.
    pub rows: u64,
    /// Input features.
    pub cols: u64,
    /// Resident bytes in the kernel's layout, in the precision that the file has.
    pub bytes: Bytes,
}

/// One decoder layer, as far as memory is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerShape {
    /// Query heads.
    pub heads: u32,
    /// KV heads (GQA: heads / kv_heads queries share one).
    pub kv_heads: u32,
    /// Dimension of a key head.
    pub key_dim: u32,
    /// Dimension of a value head.
    pub value_dim: u32,
    /// Width of the feed-forward part.
    pub feed_forward: u32,
    /// Sliding window in tokens; `None` = sees everything.
    pub window: Option<Tokens>,
}

/// What the compute kernels need beside the tensors themselves. Filled by the engine from `plimsoll-kernels`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCosts {
    /// Bytes of one quantized activation group of 32 values.
    pub activation_group_bytes: u64,
    /// Scratch of one thread in a matrix product.
    pub matmul_scratch_per_thread: Bytes,
    /// Scratch of one thread in attention, for this model's largest layer.
    pub attention_scratch_per_thread: Bytes,
}

/// A model's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelShape {
    /// Name for messages.
    pub name: String,
    /// Architecture, for example `llama`.
    pub architecture: String,
    /// Words in the vocabulary.
    pub vocabulary: u32,
    /// Width of the residual stream.
    pub embedding: u32,
    /// Layers, first to last.
    pub layers: Vec<LayerShape>,
    /// Context the model was trained for.
    pub trained_context: Tokens,
    /// Tensors in slab order. A tied head appears once.
    pub weights: Vec<WeightShape>,
    /// Precision class of the file.
    pub precision: Precision,
    /// Can other precisions be made from it while loading (16- or 32-bit source)?
    pub requantizable: bool,
    /// Host bytes of the tokenizer's tables.
    pub tokenizer: Bytes,
    /// What the kernels need.
    pub kernels: KernelCosts,
    /// Distinct rotary tables (gemma3 has one for window layers and one for global layers).
    pub rope_tables: u32,
    /// KV types that the engine can run for this model. The planner never picks another one.
    pub supported_kv: Vec<KvType>,
}

/// A device's memory at one instant.
///
/// To price other settings while a model is loaded, add what unloading it gives back (its slab and host bytes) to
/// `free`: a plan replaces the plan in force, it does not stand beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Name for messages.
    pub name: String,
    /// Physical memory, or the tightest limit above this process.
    pub total: Bytes,
    /// Free for this process now; `None` = unknown.
    pub free: Option<Bytes>,
    /// Kept free for what draws the screen and for the system.
    pub headroom: Bytes,
    /// What this process already holds and will keep while a model is loaded (program, libraries, window).
    pub resident: Bytes,
}

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// Wanted context; `None` = the largest that fits, up to the trained one.
    pub context: Option<Tokens>,
    /// Explicit precision; `None` = choose.
    pub precision: Option<Precision>,
    /// Explicit KV type; `None` = choose.
    pub kv: Option<KvType>,
    /// Explicit prefill chunk; `None` = choose.
    pub chunk: Option<Tokens>,
    /// Fraction of the total that the plan may use, 0.05 to 0.95.
    pub utilization: f64,
    /// Conversations held at once.
    pub chats: u32,
    /// Compute threads.
    pub threads: u32,
    /// Rows of logits kept at once: 1 for chat; more only for tools that ask for every position.
    pub logits_rows: u32,
}
