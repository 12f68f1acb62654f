//! The plan: every byte by name.

use serde::Serialize;

use crate::error::DoesNotFit;
use crate::kv::KvClass;
use crate::shape::{DeviceMemory, KvType, Precision};
use crate::units::{Bytes, Tokens};

/// A part of the process's memory, as the gauge shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// The model's tensors. In the slab.
    Weights,
    /// KV pages. In the slab.
    Kv,
    /// Activations of one chunk, kernel scratch, logits, page tables. In the slab.
    Workspace,
    /// Structures outside the slab whose size the plan fixes; see [`HostItem`].
    Host,
    /// What the process held before loading: program, libraries, window.
    Runtime,
}

/// A place in the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionName {
    /// Tensor with this index in [`ModelShape::weights`](crate::ModelShape::weights).
    Weight(usize),
    /// Page pool of this layer: `pages x page_bytes(layer)`, for the pages of the layer's [`KvClass`].
    Kv(usize),
    /// Page table of this class in [`MemoryPlan::kv_classes`]: `u32[chats, pages_per_chat]`.
    PageTable(usize),
    /// Residual stream, `f32[chunk, embedding]`.
    Residual,
    /// Normed residual stream, `f32[chunk, embedding]`.
    Normed,
    /// Quantized input of a matrix product: `chunk` rows of the widest matrix's columns, in groups of 32.
    Activations,
    /// Queries, keys and values of the widest layer, `f32[chunk, h x dk + hk x dk + hk x dv]`.
    Qkv,
    /// Output of attention before its projection, `f32[chunk, h x dv]`.
    AttentionOut,
    /// Gate and up projections of the widest layer, `f32[chunk, 2 x feed_forward]`.
    GateUp,
    /// Output of a projection back to the residual width, `f32[chunk, embedding]`.
    Projected,
    /// Matrix product scratch, one part per thread, each at a multiple of 64 bytes.
    MatmulScratch,
    /// Attention scratch, one part per thread, each at a multiple of 64 bytes.
    AttentionScratch,
    /// Cosines and sines of a chunk's positions, `f32[rope_tables, chunk, key_dim]`.
    Rope,
    /// Logits, `f32[logits_rows, vocabulary]`.
    Logits,
    /// The sampler's candidates, `(u32, f32)[vocabulary]`.
    Candidates,
    /// Token ids of a chunk, `u32[chunk]`.
    Tokens,
    /// Where the loader packs rows before the workspace is in use. **Overlaps the workspace** from its start, so
    /// that loading needs no byte beyond the plan. See [`MemoryPlan::staging_per_thread`].
    LoadStaging,
}

/// A named range of the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The segment that it lies in.
    pub segment: Segment,
    /// Its name, unique in the plan.
    pub name: RegionName,
    /// From the start of the slab; a multiple of 64.
    pub offset: Bytes,
    /// Its size; the next region starts at the next multiple of 64.
    pub bytes: Bytes,
}

/// A segment's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SegmentBytes {
    /// Which.
    pub segment: Segment,
    /// From the start of the slab, a multiple of 4096; `None` outside the slab.
    pub offset: Option<Bytes>,
    /// Its size; in the slab a multiple of 4096.
    pub bytes: Bytes,
}

/// A structure outside the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostItem {
    /// The tokenizer's tables.
    Tokenizer,
    /// Token ids that each conversation's KV cache holds, `u32[chats, context]`.
    CachedTokens,
    /// Token ids of each running request's prompt, `u32[chats, context]`.
    PromptTokens,
}

/// A structure outside the slab and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HostPart {
    /// Which.
    pub item: HostItem,
    /// Its size.
    pub bytes: Bytes,
}

/// A row of the FP16/INT8/INT4 table: the best plan in one precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The row's precision.
    pub precision: Precision,
    /// Can the file give it? If not, the row says what another file of this model would take.
    pub available: bool,
    /// KV type of the row's plan.
    pub kv: KvType,
    /// Chunk of the row's plan.
    pub chunk: Tokens,
    /// Bytes of the weights segment.
    pub weights: Bytes,
    /// Bytes of the whole plan with the wanted context.
    pub total: Bytes,
    /// Largest context that fits the budget; 0 when none does.
    pub largest_context: Tokens,
    /// Does the wanted context fit?
    pub fits: bool,
}

/// Every byte of one loaded model on one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryPlan {
    /// The model's name.
    pub model: String,
    /// The device's memory when the plan was made. `free == None` means that only the share of the total was checked.
    pub device: DeviceMemory,
    /// What the plan may take: `min(total x utilization, free - headroom + resident)`.
    pub budget: Bytes,
    /// Sum of the segments.
    pub total: Bytes,
    /// Is `total` within `budget`?
    pub fits: bool,
    /// Bytes above the budget; 0 when the plan fits.
    pub shortfall: Bytes,
    /// Weights, KV, workspace, host, runtime.
    pub segments: Vec<SegmentBytes>,
    /// What the host segment consists of.
    pub host: Vec<HostPart>,
    /// Bytes of the one slab: weights, KV and workspace, in this order.
    pub slab: Bytes,
    /// The slab's layout, by ascending offset; [`RegionName::LoadStaging`] comes last.
    pub regions: Vec<Region>,
    /// Loader scratch of one thread within [`RegionName::LoadStaging`]: 8 rows of the widest matrix as the file
    /// stores them (at most 4 bytes a value), and the same rows decoded to f32.
    pub staging_per_thread: Bytes,
    /// KV bytes that one more token of context costs in the layers that see everything; window layers are bounded.
    pub kv_bytes_per_token: Bytes,
    /// Layers by page table.
    pub kv_classes: Vec<KvClass>,
    /// Weight precision in force.
    pub precision: Precision,
    /// KV type in force.
    pub kv: KvType,
    /// Context of each conversation.
    pub context: Tokens,
    /// Tokens computed at once: the prefill chunk, and the most rows of a decode step.
    pub chunk: Tokens,
    /// Conversations held at once.
    pub chats: u32,
    /// Compute threads.
    pub threads: u32,
    /// Rows of logits kept at once.
    pub logits_rows: u32,
    /// The model's trained context.
    pub trained_context: Tokens,
    /// Largest context that fits the budget with the same settings, up to the trained one; 0 when none does.
    pub largest_context: Tokens,
    /// FP16, INT8, INT4.
    pub candidates: Vec<Candidate>,
}

impl MemoryPlan {
    /// The region with this name.
    pub fn region(&self, name: RegionName) -> Option<Region> {
        self.regions.iter().find(|region| region.name == name).copied()
    }

    /// Bytes of a segment.
    pub fn segment(&self, segment: Segment) -> Bytes {
        self.segments.iter().filter(|part| part.segment == segment).map(|part| part.bytes).sum()
    }

    /// The class of this layer: its index in [`Self::kv_classes`] and the class.
    pub fn kv_class_of(&self, layer: usize) -> Option<(usize, &KvClass)> {
        self.kv_classes.iter().enumerate().find(|(_, class)| class.layers.contains(&layer))
    }

    /// Refuses a plan that is larger than its budget, with the numbers.
    pub fn require_fit(&self) -> Result<(), DoesNotFit> {
        if self.fits {
            return Ok(());
        }
        Err(DoesNotFit { needed: self.total, budget: self.budget, largest_context: self.largest_context })
    }
}
