//! Shapes of real models, from their config files, and devices of round sizes.

use crate::{
    Bytes, DeviceMemory, KernelCosts, KvType, LayerShape, ModelShape, PlanSettings, Precision, Tokens, WeightShape,
};

pub(super) const MIB: u64 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;

/// Dimensions of a dense decoder, enough to list its tensors.
pub(super) struct Dense {
    pub(super) name: &'static str,
    pub(super) architecture: &'static str,
    pub(super) layers: u32,
    pub(super) embedding: u32,
    pub(super) heads: u32,
    pub(super) kv_heads: u32,
    pub(super) head_dim: u32,
    pub(super) feed_forward: u32,
    pub(super) vocabulary: u32,
    pub(super) trained: u32,
    pub(super) tied: bool,
    pub(super) precision: Precision,
    /// Bytes of 32 values in the matrices, and in the embedding table.
    pub(super) group_bytes: (u64, u64),
    /// Window of layer `index`.
    pub(super) window: fn(u32) -> Option<Tokens>,
}

impl Dense {
    pub(super) fn shape(&self) -> ModelShape {
        let matrix = |name: String, rows: u32, cols: u32, group: u64| WeightShape {
            name,
            rows: rows.into(),
            cols: cols.into(),
            bytes: Bytes(u64::from(rows) * u64::from(cols) / 32 * group),
        };
        let norm = |name: String, width: u32| WeightShape {
            name,
            rows: 1,
            cols: width.into(),
            bytes: Bytes(u64::from(width) * 4),
        };
        let (group, embedding_group) = self.group_bytes;
        let d = self.embedding;
        let mut weights = vec![matrix("token_embd".into(), self.vocabulary, d, embedding_group)];
        for layer in 0..self.layers {
            let named = |part: &str| format!("blk.{layer}.{part}");
            weights.push(norm(named("attn_norm"), d));
            weights.push(matrix(named("attn_q"), self.heads * self.head_dim, d, group));
            weights.push(matrix(named("attn_k"), self.kv_heads * self.head_dim, d, group));
            weights.push(matrix(named("attn_v"), self.kv_heads * self.head_dim, d, group));
            weights.push(matrix(named("attn_output"), d, self.heads * self.head_dim, group));
            weights.push(norm(named("ffn_norm"), d));
            weights.push(matrix(named("ffn_gate"), self.feed_forward, d, group));
            weights.push(matrix(named("ffn_up"), self.feed_forward, d, group));
            weights.push(matrix(named("ffn_down"), d, self.feed_forward, group));
        }
        weights.push(norm("output_norm".into(), d));
        if !self.tied {
            weights.push(matrix("output".into(), self.vocabulary, d, embedding_group));
        }
        let layers = (0..self.layers)
            .map(|index| LayerShape {
                heads: self.heads,
                kv_heads: self.kv_heads,
                key_dim: self.head_dim,
                value_dim: self.head_dim,
                feed_forward: self.feed_forward,
                window: (self.window)(index),
            })
            .collect::<Vec<_>>();
        let rope_tables = if layers.iter().any(|layer| layer.window != layers[0].window) { 2 } else { 1 };
        ModelShape {
            name: self.name.into(),
            architecture: self.architecture.into(),
            vocabulary: self.vocabulary,
            embedding: d,
            layers,
            trained_context: Tokens(self.trained),
            weights,
            precision: self.precision,
            requantizable: self.precision == Precision::Fp16,
            tokenizer: Bytes(u64::from(self.vocabulary) * 48),
            kernels: KernelCosts {
                activation_group_bytes: 40,
                matmul_scratch_per_thread: Bytes(4096),
                attention_scratch_per_thread: Bytes(64 * u64::from(self.heads) * u64::from(self.head_dim) + 100),
            },
            rope_tables,
            supported_kv: vec![KvType::Fp16, KvType::Int8, KvType::Int4],
        }
    }
}

fn everything(_: u32) -> Option<Tokens> {
    None
}

pub(super) fn smollm2_135m() -> ModelShape {
    let mut shape = Dense {
        name: "SmolLM2-135M-Instruct Q4_1",
        architecture: "llama",
        layers: 30,
        embedding: 576,
        heads: 9,
        kv_heads: 3,
        head_dim: 64,
        feed_forward: 1536,
        vocabulary: 49152,
        trained: 8192,
        tied: true,
        precision: Precision::Int4,
        group_bytes: (20, 34),
        window: everything,
    }
    .shape();
    shape.supported_kv = vec![KvType::Fp16];
    shape
}

pub(super) fn gemma3_270m() -> ModelShape {
    let mut shape = Dense {
        name: "Gemma 3 270M Q4_K_M",
        architecture: "gemma3",
        layers: 18,
        embedding: 640,
        heads: 4,
        kv_heads: 1,
        head_dim: 256,
        feed_forward: 2048,
        vocabulary: 262_144,
        trained: 32768,
        tied: true,
        precision: Precision::Int4,
        group_bytes: (22, 34),
        window: |layer| if layer % 6 == 5 { None } else { Some(Tokens(512)) },
    }
    .shape();
    shape.supported_kv = vec![KvType::Fp16];
    shape
}

pub(super) fn llama31_8b() -> ModelShape {
    Dense {
        name: "Llama 3.1 8B F16",
        architecture: "llama",
        layers: 32,
        embedding: 4096,
        heads: 32,
        kv_heads: 8,
        head_dim: 128,
        feed_forward: 14336,
        vocabulary: 128_256,
        trained: 131_072,
        tied: false,
        precision: Precision::Fp16,
        group_bytes: (64, 64),
        window: everything,
    }
    .shape()
}

pub(super) fn qwen25_7b() -> ModelShape {
    Dense {
        name: "Qwen2.5 7B Q8_0",
        architecture: "qwen2",
        layers: 28,
        embedding: 3584,
        heads: 28,
        kv_heads: 4,
        head_dim: 128,
        feed_forward: 18944,
        vocabulary: 152_064,
        trained: 32768,
        tied: false,
        precision: Precision::Int8,
        group_bytes: (34, 34),
        window: everything,
    }
    .shape()
}

pub(super) fn mistral_7b() -> ModelShape {
    Dense {
        name: "Mistral 7B v0.1 Q4_0",
        architecture: "llama",
        layers: 32,
        embedding: 4096,
        heads: 32,
        kv_heads: 8,
        head_dim: 128,
        feed_forward: 14336,
        vocabulary: 32000,
        trained: 32768,
        tied: false,
        precision: Precision::Int4,
        group_bytes: (18, 18),
        window: |_| Some(Tokens(4096)),
    }
    .shape()
}

pub(super) fn all() -> Vec<ModelShape> {
    vec![smollm2_135m(), gemma3_270m(), llama31_8b(), qwen25_7b(), mistral_7b()]
}

/// A machine of which the system uses a quarter.
pub(super) fn device(total: u64) -> DeviceMemory {
    DeviceMemory {
        name: format!("{} GiB RAM", total / GIB),
        total: Bytes(total),
        free: Some(Bytes(total / 4 * 3)),
        headroom: Bytes((total / 16).clamp(256 * MIB, 2 * GIB)),
        resident: Bytes(40 * MIB),
    }
}

pub(super) fn settings() -> PlanSettings {
    PlanSettings {
        context: Some(Tokens(4096)),
        precision: None,
        kv: None,
        chunk: None,
        utilization: 0.75,
        chats: 1,
        threads: 4,
        logits_rows: 1,
    }
}
