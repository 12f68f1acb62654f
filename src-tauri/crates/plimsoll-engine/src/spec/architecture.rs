//! The mappings from GGUF metadata (keys as in the GGUF specification, `docs/gguf.md` of ggml) to [`ModelSpec`].

use plimsoll_plan::Tokens;

use super::metadata::Metadata;
use super::{Activation, LayerSpec, ModelSpec, RopeLayout, RopeSpec};
use crate::error::ModelError;
use crate::gguf::GgufFile;

/// Architectures with a mapping.
pub const SUPPORTED: &[&str] = &["llama", "gemma3"];

/// Gemma 3 interleaves five window layers with one global layer (Gemma 3 technical report, arXiv 2503.19786).
const GEMMA3_PATTERN: usize = 6;

/// Rotary base of Gemma 3's window layers (same report); files do not carry it.
const GEMMA3_WINDOW_ROPE_BASE: f32 = 10_000.0;

/// Layer count of Gemma 3 27B, which scales its scores by `embedding / heads` instead of by the head dimension.
const GEMMA3_27B_LAYERS: usize = 62;

/// Reads the architecture's description.
pub fn read_spec(file: &GgufFile) -> Result<ModelSpec, ModelError> {
    let name = file.architecture()?;
    let metadata = Metadata::new(file, name);
    match name {
        "llama" => llama(file, &metadata, name),
        "gemma3" => gemma3(file, &metadata, name),
        _ => Err(ModelError::UnknownArchitecture { name: name.to_owned() }),
    }
}

/// What every mapping starts from.
struct Common {
    embedding: usize,
    vocabulary: usize,
    trained_context: Tokens,
    norm_eps: f32,
    layers: usize,
    heads: usize,
    kv_heads: usize,
    key_dim: usize,
    value_dim: usize,
    feed_forward: usize,
}

impl Common {
    fn read(file: &GgufFile, metadata: &Metadata<'_>) -> Result<Self, ModelError> {
        let embedding = metadata.count("embedding_length")?;
        let heads = metadata.count("attention.head_count")?;
        let kv_heads = metadata.optional_count("attention.head_count_kv")?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(metadata.refuse("attention.head_count_kv", kv_heads, "a divisor of attention.head_count"));
        }
        let whole_heads = embedding / heads;
        let key_dim = metadata.optional_count("attention.key_length")?.unwrap_or(whole_heads);
        let value_dim = metadata.optional_count("attention.value_length")?.unwrap_or(whole_heads);
        if key_dim == 0 || !key_dim.is_multiple_of(2) || value_dim == 0 {
            return Err(metadata.refuse("attention.key_length", key_dim, "an even number of at least 2"));
        }
        let trained = metadata.count("context_length")?;
        let vocabulary = file
            .tensor("token_embd.weight")
            .ok_or_else(|| ModelError::MissingTensor { name: "token_embd.weight".to_owned() })?
            .dims()
            .get(1)
            .and_then(|&rows| usize::try_from(rows).ok())
            .unwrap_or(0);
        Ok(Self {
            embedding,
            vocabulary,
            trained_context: Tokens(u32::try_from(trained).unwrap_or(u32::MAX)),
            norm_eps: metadata.positive("attention.layer_norm_rms_epsilon")?,
            layers: metadata.count("block_count")?,
            heads,
            kv_heads,
            key_dim,
            value_dim,
            feed_forward: metadata.count("feed_forward_length")?,
        })
    }

    fn layer(&self, window: Option<Tokens>, rope: usize, attention_scale: f32) -> LayerSpec {
        LayerSpec {
            heads: self.heads,
            kv_heads: self.kv_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            feed_forward: self.feed_forward,
            window,
            rope,
            attention_scale,
        }
    }
}

/// Linear position scaling, or none. Other kinds change the frequencies themselves and are refused.
fn linear_scale(metadata: &Metadata<'_>) -> Result<f32, ModelError> {
    match metadata.text("rope.scaling.type")? {
        None | Some("none") => Ok(1.0),
        Some("linear") => Ok(1.0 / metadata.positive("rope.scaling.factor")?),
        Some(other) => Err(metadata.refuse("rope.scaling.type", other, "none or linear")),
    }
}

/// `sqrt(dim)`.
fn root(dim: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "widths are at most 2^24, see LARGEST_COUNT")]
    let dim = dim as f32;
    dim.sqrt()
}

/// Llama (arXiv 2302.13971) and models of the same shape: SmolLM2, TinyLlama, Mistral.
fn llama(file: &GgufFile, metadata: &Metadata<'_>, name: &str) -> Result<ModelSpec, ModelError> {
    let common = Common::read(file, metadata)?;
    if let Some(experts) = metadata.optional_count("expert_count")? {
        return Err(metadata.refuse("expert_count", experts, "absent: mixtures of experts have no mapping here"));
    }
    if file.tensor("rope_freqs.weight").is_some() {
        return Err(ModelError::BadKey {
            key: "rope_freqs.weight".to_owned(),
            value: "present".to_owned(),
            expected: "absent: per-frequency rotary factors have no mapping here",
        });
    }
    let dim = metadata.optional_count("rope.dimension_count")?.unwrap_or(common.key_dim);
    if dim > common.key_dim || !dim.is_multiple_of(2) {
        return Err(metadata.refuse("rope.dimension_count", dim, "even and at most the head dimension"));
    }
    let rope = RopeSpec {
        base: metadata.optional_positive("rope.freq_base")?.unwrap_or(10_000.0),
        scale: linear_scale(metadata)?,
        dim,
        factors: Vec::new(),
    };
    let window = sliding_window(metadata)?;
    let scale = root(common.key_dim).recip();
    Ok(ModelSpec {
        architecture: name.to_owned(),
        embedding: common.embedding,
        vocabulary: common.vocabulary,
        trained_context: common.trained_context,
        norm_eps: common.norm_eps,
        embedding_scale: 1.0,
        activation: Activation::Silu,
        rope_layout: RopeLayout::Interleaved,
        ropes: vec![rope],
        attention_softcap: None,
        logit_softcap: None,
        head_norms: false,
        post_norms: false,
        layers: vec![common.layer(window, 0, scale); common.layers],
    })
}

/// Gemma 3 (arXiv 2503.19786).
fn gemma3(file: &GgufFile, metadata: &Metadata<'_>, name: &str) -> Result<ModelSpec, ModelError> {
    let common = Common::read(file, metadata)?;
    let window = sliding_window(metadata)?
        .ok_or_else(|| ModelError::MissingKey { key: format!("{name}.attention.sliding_window") })?;
    let global = RopeSpec {
        base: metadata.optional_positive("rope.freq_base")?.unwrap_or(1_000_000.0),
        scale: linear_scale(metadata)?,
        dim: common.key_dim,
        factors: Vec::new(),
    };
    let local = RopeSpec { base: GEMMA3_WINDOW_ROPE_BASE, scale: 1.0, dim: common.key_dim, factors: Vec::new() };
    let attention_scale = if common.layers == GEMMA3_27B_LAYERS {
        root(common.embedding / common.heads).recip()
    } else {
        root(common.key_dim).recip()
    };
    let layers = (0..common.layers)
        .map(|index| {
            let is_global = index % GEMMA3_PATTERN == GEMMA3_PATTERN - 1;
            let window = (!is_global).then_some(window);
            common.layer(window, usize::from(!is_global), attention_scale)
        })
        .collect();
    Ok(ModelSpec {
        architecture: name.to_owned(),
        embedding: common.embedding,
        vocabulary: common.vocabulary,
        trained_context: common.trained_context,
        norm_eps: common.norm_eps,
        embedding_scale: root(common.embedding),
        activation: Activation::GeluTanh,
        rope_layout: RopeLayout::Halves,
        ropes: vec![global, local],
        attention_softcap: metadata.optional_positive("attn_logit_softcapping")?,
        logit_softcap: metadata.optional_positive("final_logit_softcapping")?,
        head_norms: true,
        post_norms: true,
        layers,
    })
}

/// The window in tokens, or none.
fn sliding_window(metadata: &Metadata<'_>) -> Result<Option<Tokens>, ModelError> {
    Ok(metadata.optional_count("attention.sliding_window")?.and_then(|w| u32::try_from(w).ok()).map(Tokens))
}
