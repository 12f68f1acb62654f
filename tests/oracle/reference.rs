//! The float reference: a GGUF file's weights dequantized by candle, run by candle's 32-bit Llama and Gemma 3.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use candle_core::quantized::gguf_file::Content;
use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Activation, VarBuilder};
use candle_transformers::models::{gemma3, llama};

/// Positions that the rotary tables hold.
const LONGEST: usize = 2048;

/// A reference model with an empty cache.
pub(crate) enum Reference {
    Llama(llama::Llama, llama::Cache),
    Gemma3(gemma3::Model),
}

impl Reference {
    /// Reads the file at `path` with candle's own reader.
    pub(crate) fn open(path: &Path) -> Self {
        Source::open(path).and_then(|mut source| source.model()).unwrap()
    }

    /// Logits of every position, `[position][word]`. Token by token: the models give the last position only.
    pub(crate) fn logits(mut self, ids: &[u32]) -> Vec<Vec<f32>> {
        assert!(ids.len() <= LONGEST);
        ids.iter().enumerate().map(|(position, &id)| self.step(id, position).unwrap()).collect()
    }

    fn step(&mut self, id: u32, position: usize) -> Result<Vec<f32>> {
        let input = Tensor::new(&[[id]], &Device::Cpu)?;
        let logits = match self {
            Self::Llama(model, cache) => model.forward(&input, position, cache)?,
            Self::Gemma3(model) => model.forward(&input, position)?,
        };
        logits.flatten_all()?.to_vec1()
    }
}

struct Source {
    content: Content,
    file: BufReader<File>,
    tensors: HashMap<String, Tensor>,
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let content = Content::read(&mut file)?;
        Ok(Self { content, file, tensors: HashMap::new() })
    }

    fn text(&self, key: &str) -> String {
        self.content.metadata[key].to_string().unwrap().clone()
    }

    fn count(&self, key: &str) -> usize {
        self.content.metadata[key].to_u32().unwrap() as usize
    }

    fn float(&self, key: &str) -> f64 {
        f64::from(self.content.metadata[key].to_f32().unwrap())
    }

    fn dequantized(&mut self, name: &str) -> Result<Tensor> {
        self.content.tensor(&mut self.file, name, &Device::Cpu)?.dequantize(&Device::Cpu)
    }

    /// Takes a tensor over under the name that candle's model asks for.
    fn keep(&mut self, gguf: &str, candle: &str) -> Result<()> {
        let tensor = self.dequantized(gguf)?;
        self.tensors.insert(candle.to_owned(), tensor);
        Ok(())
    }

    fn model(&mut self) -> Result<Reference> {
        match self.text("general.architecture").as_str() {
            "llama" => self.llama(),
            "gemma3" => self.gemma3(),
            other => panic!("no reference for {other}"),
        }
    }

    /// What both architectures name alike.
    fn keep_layer(&mut self, layer: usize) -> Result<()> {
        for (gguf, candle) in [
            ("attn_v", "self_attn.v_proj"),
            ("attn_output", "self_attn.o_proj"),
            ("ffn_gate", "mlp.gate_proj"),
            ("ffn_up", "mlp.up_proj"),
            ("ffn_down", "mlp.down_proj"),
        ] {
            self.keep(&format!("blk.{layer}.{gguf}.weight"), &format!("model.layers.{layer}.{candle}.weight"))?;
        }
        Ok(())
    }

    fn llama(&mut self) -> Result<Reference> {
        let layers = self.count("llama.block_count");
        let heads = self.count("llama.attention.head_count");
        let kv_heads = self.count("llama.attention.head_count_kv");
        self.keep("token_embd.weight", "model.embed_tokens.weight")?;
        self.keep("output_norm.weight", "model.norm.weight")?;
        for layer in 0..layers {
            self.keep_layer(layer)?;
            let to = |part: &str| format!("model.layers.{layer}.{part}.weight");
            self.keep(&format!("blk.{layer}.attn_norm.weight"), &to("input_layernorm"))?;
            self.keep(&format!("blk.{layer}.ffn_norm.weight"), &to("post_attention_layernorm"))?;
            for (gguf, candle, heads) in [("attn_q", "q_proj", heads), ("attn_k", "k_proj", kv_heads)] {
                let rows = self.dequantized(&format!("blk.{layer}.{gguf}.weight"))?;
                self.tensors.insert(to(&format!("self_attn.{candle}")), pairs_to_halves(&rows, heads)?);
            }
        }
        let embedding = &self.tensors["model.embed_tokens.weight"];
        let config = llama::Config {
            hidden_size: embedding.dim(1)?,
            intermediate_size: self.count("llama.feed_forward_length"),
            vocab_size: embedding.dim(0)?,
            num_hidden_layers: layers,
            num_attention_heads: heads,
            num_key_value_heads: kv_heads,
            use_flash_attn: false,
            rms_norm_eps: self.float("llama.attention.layer_norm_rms_epsilon"),
            rope_theta: self.content.metadata["llama.rope.freq_base"].to_f32()?,
            bos_token_id: None,
            eos_token_id: None,
            rope_scaling: None,
            max_position_embeddings: LONGEST,
            tie_word_embeddings: true,
        };
        let cache = llama::Cache::new(true, DType::F32, &config, &Device::Cpu)?;
        Ok(Reference::Llama(llama::Llama::load(self.builder(), &config)?, cache))
    }

    fn gemma3(&mut self) -> Result<Reference> {
        let layers = self.count("gemma3.block_count");
        self.keep("token_embd.weight", "model.embed_tokens.weight")?;
        self.keep_norm("output_norm.weight", "model.norm.weight")?;
        for layer in 0..layers {
            self.keep_layer(layer)?;
            let from = |part: &str| format!("blk.{layer}.{part}.weight");
            let to = |part: &str| format!("model.layers.{layer}.{part}.weight");
            self.keep(&from("attn_q"), &to("self_attn.q_proj"))?;
            self.keep(&from("attn_k"), &to("self_attn.k_proj"))?;
            for (gguf, candle) in [
                ("attn_norm", "input_layernorm"),
                ("post_attention_norm", "post_attention_layernorm"),
                ("ffn_norm", "pre_feedforward_layernorm"),
                ("post_ffw_norm", "post_feedforward_layernorm"),
                ("attn_q_norm", "self_attn.q_norm"),
                ("attn_k_norm", "self_attn.k_norm"),
            ] {
                self.keep_norm(&from(gguf), &to(candle))?;
            }
        }
        let embedding = &self.tensors["model.embed_tokens.weight"];
        let head_dim = self.count("gemma3.attention.key_length");
        let config = gemma3::Config {
            attention_bias: false,
            head_dim,
            hidden_activation: Activation::GeluPytorchTanh,
            hidden_size: embedding.dim(1)?,
            intermediate_size: self.count("gemma3.feed_forward_length"),
            num_attention_heads: self.count("gemma3.attention.head_count"),
            num_hidden_layers: layers,
            num_key_value_heads: self.count("gemma3.attention.head_count_kv"),
            rms_norm_eps: self.float("gemma3.attention.layer_norm_rms_epsilon"),
            rope_theta: self.float("gemma3.rope.freq_base"),
            rope_local_base_freq: 10_000.0,
            vocab_size: embedding.dim(0)?,
            final_logit_softcapping: None,
            attn_logit_softcapping: None,
            query_pre_attn_scalar: head_dim,
            sliding_window: self.count("gemma3.attention.sliding_window"),
            sliding_window_pattern: 6,
            max_position_embeddings: LONGEST,
        };
        Ok(Reference::Gemma3(gemma3::Model::new(false, &config, self.builder())?))
    }

    /// Gemma's norms multiply by 1 + weight; the file holds the sum.
    fn keep_norm(&mut self, gguf: &str, candle: &str) -> Result<()> {
        let weight = (self.dequantized(gguf)? - 1.0)?;
        self.tensors.insert(candle.to_owned(), weight);
        Ok(())
    }

    fn builder(&mut self) -> VarBuilder<'static> {
        VarBuilder::from_tensors(std::mem::take(&mut self.tensors), DType::F32, &Device::Cpu)
    }
}

/// Reorders the rows of query and key weights: GGUF files of the llama architecture pair neighbouring rows of a head,
/// candle pairs row i with row i + dim / 2.
fn pairs_to_halves(rows: &Tensor, heads: usize) -> Result<Tensor> {
    let (out, width) = rows.dims2()?;
    rows.reshape((heads, out / heads / 2, 2, width))?.transpose(1, 2)?.contiguous()?.reshape((out, width))
}
