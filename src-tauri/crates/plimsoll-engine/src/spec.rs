//! A decoder described by data. An architecture is a mapping from metadata to this, not a new forward pass.

mod architecture;
mod metadata;
mod tensors;

pub use architecture::{SUPPORTED, read_spec};
pub use tensors::{Binding, HeadNorms, LayerBinding, TensorRole, WeightSource, bind_tensors};

use plimsoll_plan::Tokens;

/// How a rotary embedding pairs the elements of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeLayout {
    /// Element 2i turns with 2i + 1 (the order in which GGUF files store llama's query and key rows).
    Interleaved,
    /// Element i turns with i + dim/2 (GPT-NeoX order).
    Halves,
}

/// One rotary table (RoFormer, arXiv 2104.09864).
#[derive(Debug, Clone, PartialEq)]
pub struct RopeSpec {
    /// Frequency base.
    pub base: f32,
    /// Positions are multiplied by this (linear scaling by `factor` is `1 / factor`).
    pub scale: f32,
    /// Elements of a head that turn; the rest passes through.
    pub dim: usize,
    /// Per-frequency divisors, `dim / 2` of them; empty = all 1.
    pub factors: Vec<f32>,
}

/// The gate's activation in the feed-forward part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x * sigmoid(x), as in SwiGLU.
    Silu,
    /// GELU by its tanh form, as in GeGLU.
    GeluTanh,
}

/// One decoder layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerSpec {
    /// Query heads.
    pub heads: usize,
    /// KV heads.
    pub kv_heads: usize,
    /// Dimension of a key head.
    pub key_dim: usize,
    /// Dimension of a value head.
    pub value_dim: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Sliding window in tokens; `None` sees everything.
    pub window: Option<Tokens>,
    /// Which of [`ModelSpec::ropes`] turns this layer's heads.
    pub rope: usize,
    /// Scores are multiplied by this.
    pub attention_scale: f32,
}

/// A decoder-only transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// Name as in the file, for example `gemma3`.
    pub architecture: String,
    /// Width of the residual stream.
    pub embedding: usize,
    /// Words.
    pub vocabulary: usize,
    /// Trained context.
    pub trained_context: Tokens,
    /// Epsilon of every RMS norm.
    pub norm_eps: f32,
    /// Embedding rows are multiplied by this.
    pub embedding_scale: f32,
    /// The gate's activation.
    pub activation: Activation,
    /// How heads are paired.
    pub rope_layout: RopeLayout,
    /// Rotary tables.
    pub ropes: Vec<RopeSpec>,
    /// `cap * tanh(score / cap)` on attention scores.
    pub attention_softcap: Option<f32>,
    /// The same on logits.
    pub logit_softcap: Option<f32>,
    /// RMS norm on each query and key head before the rotation.
    pub head_norms: bool,
    /// RMS norms after attention and after feed-forward, before their residual adds.
    pub post_norms: bool,
    /// Layers, first to last.
    pub layers: Vec<LayerSpec>,
}
