//! Tiny random models as GGUF files: every mapping of the engine without a download, and material for damaged files.
//!
//! Weights are drawn from a seeded generator, so that a test sees the same model on every run.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use plimsoll_engine::gguf::write::GgufWriter;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// GGML's number for 32-bit floats.
pub const F32: u32 = 0;

/// ChatML, as SmolLM2 uses it, without its default system message.
pub const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] \
    + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Which mapping the file asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Llama with interleaved rotary pairs and a byte-level BPE vocabulary.
    Llama,
    /// Gemma 3 with window layers and a SentencePiece vocabulary.
    Gemma3,
}

/// Sizes of a model. All widths are multiples of 32, the vocabularies are odd.
#[derive(Debug, Clone, Copy)]
pub struct Tiny {
    /// Mapping.
    pub architecture: Architecture,
    /// Layers.
    pub layers: usize,
    /// Width of the residual stream.
    pub embedding: usize,
    /// Query heads.
    pub heads: usize,
    /// KV heads.
    pub kv_heads: usize,
    /// Dimension of a head.
    pub head_dim: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Sliding window of Gemma's window layers.
    pub window: usize,
    /// Trained context.
    pub trained_context: usize,
    /// Seed of the weights.
    pub seed: u64,
}

impl Tiny {
    /// Two layers, three query heads to one KV head.
    pub fn llama() -> Self {
        Self {
            architecture: Architecture::Llama,
            layers: 2,
            embedding: 96,
            heads: 6,
            kv_heads: 2,
            head_dim: 16,
            feed_forward: 160,
            window: 0,
            trained_context: 1024,
            seed: 1,
        }
    }

    /// Seven layers, of which the sixth sees everything and the others look back 24 tokens.
    pub fn gemma3() -> Self {
        Self {
            architecture: Architecture::Gemma3,
            layers: 7,
            embedding: 64,
            heads: 4,
            kv_heads: 1,
            head_dim: 32,
            feed_forward: 96,
            window: 24,
            trained_context: 1024,
            seed: 2,
        }
    }

    /// The same architecture with every width a multiple of 256, as the K-quants need it.
    #[must_use]
    pub fn widened(self) -> Self {
        let head_dim = 256 / self.heads.next_power_of_two();
        Self { embedding: 256, heads: self.heads.next_power_of_two(), head_dim, feed_forward: 512, layers: 2, ..self }
    }

    /// The file in memory, with 32-bit weights and the chat template that goes with the architecture.
    pub fn file(&self) -> TinyFile {
        let name = match self.architecture {
            Architecture::Llama => "llama",
            Architecture::Gemma3 => "gemma3",
        };
        let mut metadata = vec![
            ("general.architecture".to_owned(), Value::Text(name.to_owned())),
            ("general.name".to_owned(), Value::Text(format!("tiny {name}"))),
        ];
        let mut number = |key: &str, value: usize| {
            metadata.push((format!("{name}.{key}"), Value::U32(u32::try_from(value).unwrap())));
        };
        number("block_count", self.layers);
        number("context_length", self.trained_context);
        number("embedding_length", self.embedding);
        number("feed_forward_length", self.feed_forward);
        number("attention.head_count", self.heads);
        number("attention.head_count_kv", self.kv_heads);
        number("attention.key_length", self.head_dim);
        number("attention.value_length", self.head_dim);
        if self.architecture == Architecture::Gemma3 {
            number("attention.sliding_window", self.window);
        }
        metadata.push((format!("{name}.attention.layer_norm_rms_epsilon"), Value::F32(1e-5)));
        let base = if self.architecture == Architecture::Llama { 10_000.0 } else { 1_000_000.0 };
        metadata.push((format!("{name}.rope.freq_base"), Value::F32(base)));
        let vocabulary = match self.architecture {
            Architecture::Llama => byte_level_vocabulary(&mut metadata),
            Architecture::Gemma3 => sentence_piece_vocabulary(&mut metadata),
        };
        TinyFile { metadata, tensors: self.tensors(vocabulary) }
    }

    fn tensors(&self, vocabulary: usize) -> Vec<TinyTensor> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut tensors = Vec::new();
        let gemma = self.architecture == Architecture::Gemma3;
        let (width, wide) = (self.embedding, self.feed_forward);
        let (queries, keys) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let mut matrix = |name: String, cols: usize, rows: usize| {
            // Variance 1 / cols keeps the residual stream near 1.
            let limit = (3.0 / cols as f32).sqrt();
            let values = (0..rows * cols).map(|_| random.random_range(-limit..limit)).collect();
            tensors.push(TinyTensor::new(name, &[cols, rows], values));
        };
        matrix("token_embd.weight".to_owned(), width, vocabulary);
        for layer in 0..self.layers {
            let name = |part: &str| format!("blk.{layer}.{part}.weight");
            matrix(name("attn_q"), width, queries);
            matrix(name("attn_k"), width, keys);
            matrix(name("attn_v"), width, keys);
            matrix(name("attn_output"), queries, width);
            matrix(name("ffn_gate"), width, wide);
            matrix(name("ffn_up"), width, wide);
            matrix(name("ffn_down"), wide, width);
        }
        let mut vector = |name: String, len: usize, scale: f32| {
            let values = (0..len).map(|_| scale * random.random_range(0.75..1.25)).collect();
            tensors.push(TinyTensor::new(name, &[len], values));
        };
        for layer in 0..self.layers {
            let name = |part: &str| format!("blk.{layer}.{part}.weight");
            vector(name("attn_norm"), width, 1.0);
            vector(name("ffn_norm"), width, 1.0);
            if gemma {
                vector(name("post_attention_norm"), width, 1.0);
                vector(name("post_ffw_norm"), width, 1.0);
                vector(name("attn_q_norm"), self.head_dim, 1.0);
                vector(name("attn_k_norm"), self.head_dim, 1.0);
            }
        }
        // The tied head multiplies normed rows of length sqrt(width) with embedding rows of length 1. Scaled so that
        // some words win but none wins everything: Gemma's scaled embedding leaves the input word far ahead.
        vector("output_norm.weight".to_owned(), width, if gemma { 1.0 } else { 4.0 });
        tensors
    }
}

/// A metadata value.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named after the types of the format")]
pub enum Value {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Integers(Vec<i32>),
}

/// A tensor and its bytes as the file stores them.
#[derive(Debug, Clone)]
pub struct TinyTensor {
    /// Name.
    pub name: String,
    /// Contiguous dimension first.
    pub dims: Vec<u64>,
    /// GGML's number of the storage type.
    pub ggml_type: u32,
    /// As stored.
    pub data: Vec<u8>,
    /// The 32-bit values behind `data` as they were drawn.
    pub values: Vec<f32>,
}

impl TinyTensor {
    fn new(name: String, dims: &[usize], values: Vec<f32>) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, dims: dims.iter().map(|&dim| dim as u64).collect(), ggml_type: F32, data, values }
    }

    /// Has it rows and columns?
    pub fn is_matrix(&self) -> bool {
        self.dims.len() == 2
    }
}

/// A file whose parts may be changed before it is written.
#[derive(Debug, Clone)]
pub struct TinyFile {
    /// Keys in order.
    pub metadata: Vec<(String, Value)>,
    /// Tensors in order.
    pub tensors: Vec<TinyTensor>,
}

impl TinyFile {
    /// Sets a metadata value, replacing one of the same key.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.metadata.retain(|(existing, _)| existing != key);
        self.metadata.push((key.to_owned(), value));
        self
    }

    /// Leaves out a metadata key or a tensor.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        let before = self.metadata.len() + self.tensors.len();
        self.metadata.retain(|(key, _)| key != name);
        self.tensors.retain(|tensor| tensor.name != name);
        assert!(self.metadata.len() + self.tensors.len() < before, "{name} is not in the file");
        self
    }

    /// The tensor of this name.
    pub fn tensor_mut(&mut self, name: &str) -> &mut TinyTensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) {
        let mut writer = GgufWriter::new();
        for (key, value) in &self.metadata {
            match value {
                Value::U32(value) => writer.u32(key, *value),
                Value::F32(value) => writer.f32(key, *value),
                Value::Bool(value) => writer.bool(key, *value),
                Value::Text(value) => writer.string(key, value),
                Value::Texts(values) => writer.array_strings(key, values),
                Value::Floats(values) => writer.array_f32(key, values),
                Value::Integers(values) => writer.array_i32(key, values),
            };
        }
        for tensor in &self.tensors {
            writer.tensor(&tensor.name, &tensor.dims, tensor.ggml_type).expect("a possible shape");
        }
        let out = BufWriter::new(File::create(path).expect("the file can be created"));
        let mut tensors = self.tensors.iter();
        writer
            .write(out, |name, out| {
                let tensor = tensors.next().expect("as many as were announced");
                assert_eq!(tensor.name, name);
                out.write_all(&tensor.data)
            })
            .expect("the file can be written");
    }
}

/// Token kinds of the format.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const BYTE: i32 = 6;

/// GPT-2's alphabet: printable bytes stand for themselves, the others for U+0100 and up, in order.
fn byte_alphabet() -> Vec<char> {
    let printable = |byte: u32| (0x21..=0x7e).contains(&byte) || (0xa1..=0xac).contains(&byte) || byte >= 0xae;
    let mut next = 0x100;
    (0..256u32)
        .map(|byte| {
            let code = if printable(byte) {
                byte
            } else {
                next += 1;
                next - 1
            };
            char::from_u32(code).unwrap()
        })
        .collect()
}

/// Adds a byte-level BPE vocabulary with ChatML's special tokens; returns its size.
fn byte_level_vocabulary(metadata: &mut Vec<(String, Value)>) -> usize {
    let mut tokens: Vec<String> = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(str::to_owned).to_vec();
    let mut kinds = vec![CONTROL; tokens.len()];
    tokens.extend(byte_alphabet().into_iter().map(String::from));
    let merges = ["Ġ t", "h e", "Ġt he", "i n", "e r", "o n", "Ġ a", "r e", "Ġ w", "a n", "an d", "Ġ s"];
    tokens.extend(merges.iter().map(|merge| merge.replace(' ', "")));
    kinds.resize(tokens.len(), NORMAL);
    let size = tokens.len();
    let mut add = |key: &str, value: Value| metadata.push((format!("tokenizer.{key}"), value));
    add("ggml.model", Value::Text("gpt2".to_owned()));
    add("ggml.pre", Value::Text("smollm".to_owned()));
    add("ggml.tokens", Value::Texts(tokens));
    add("ggml.token_type", Value::Integers(kinds));
    add("ggml.merges", Value::Texts(merges.map(str::to_owned).to_vec()));
    add("ggml.bos_token_id", Value::U32(1));
    add("ggml.eos_token_id", Value::U32(2));
    add("ggml.add_bos_token", Value::Bool(false));
    add("chat_template", Value::Text(CHATML.to_owned()));
    size
}

/// Adds a SentencePiece vocabulary with Gemma's special tokens and no template; returns its size.
fn sentence_piece_vocabulary(metadata: &mut Vec<(String, Value)>) -> usize {
    let mut tokens: Vec<(String, f32, i32)> = Vec::new();
    for (token, kind) in [("<pad>", CONTROL), ("<eos>", CONTROL), ("<bos>", CONTROL), ("<unk>", UNKNOWN)] {
        tokens.push((token.to_owned(), -1000.0, kind));
    }
    for token in ["<start_of_turn>", "<end_of_turn>"] {
        tokens.push((token.to_owned(), -1000.0, CONTROL));
    }
    for token in ["\n", "\n\n"] {
        tokens.push((token.to_owned(), -1000.0, USER_DEFINED));
    }
    tokens.extend((0..256).map(|byte| (format!("<0x{byte:02X}>"), 0.0, BYTE)));
    let merged = ["▁t", "he", "▁the", "in", "er", "on", "▁a", "re", "▁w", "an", "and", "▁s"];
    let letters = std::iter::once('▁').chain(' '..='~').filter(|&c| c != ' ').map(String::from);
    for (rank, piece) in merged.into_iter().map(str::to_owned).chain(letters).enumerate() {
        tokens.push((piece, -(rank as f32), NORMAL));
    }
    let size = tokens.len();
    let mut add = |key: &str, value: Value| metadata.push((format!("tokenizer.ggml.{key}"), value));
    add("model", Value::Text("llama".to_owned()));
    add("scores", Value::Floats(tokens.iter().map(|token| token.1).collect()));
    add("token_type", Value::Integers(tokens.iter().map(|token| token.2).collect()));
    add("tokens", Value::Texts(tokens.into_iter().map(|token| token.0).collect()));
    add("bos_token_id", Value::U32(2));
    add("eos_token_id", Value::U32(1));
    add("unknown_token_id", Value::U32(3));
    add("add_bos_token", Value::Bool(true));
    add("add_space_prefix", Value::Bool(false));
    size
}
