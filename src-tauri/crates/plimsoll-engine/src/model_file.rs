//! An opened model file: its description, tokenizer and template. No weights are in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_kernels::WeightType;
use plimsoll_plan::{Bytes, KernelCosts, KvType, LayerShape, ModelShape, Precision, Tokens, WeightShape};

use crate::error::ModelError;
use crate::gguf::GgufFile;
use crate::spec::{Binding, ModelSpec, TensorRole, bind_tensors, read_spec};
use crate::tokenizer::Tokenizer;

/// What people want to know of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// From the metadata, else the file stem.
    pub name: String,
    /// Architecture, for example `llama`.
    pub architecture: String,
    /// Size of the file.
    pub file_bytes: Bytes,
    /// Storage type of most layer weights, for example `Q4_1`.
    pub storage_type: &'static str,
    /// Its class.
    pub precision: Precision,
    /// Context that the model was trained for.
    pub trained_context: Tokens,
    /// Weights counted one by one.
    pub parameters: u64,
}

/// An opened, checked model file.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    info: ModelInfo,
    spec: ModelSpec,
    binding: Binding,
    shape: ModelShape,
    tokenizer: Arc<Tokenizer>,
    chat_template: Option<String>,
}

impl ModelFile {
    /// Reads and checks the header of a GGUF file. Nothing of the file stays in memory but what this type offers.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let file = GgufFile::open(path)?;
        let spec = read_spec(&file)?;
        let binding = bind_tensors(&file, &spec)?;
        let tokenizer = Arc::new(Tokenizer::from_gguf(&file)?);
        let words = usize::try_from(tokenizer.vocabulary()).unwrap_or(usize::MAX);
        if words > spec.vocabulary {
            return Err(ModelError::WrongShape {
                name: "token_embd.weight".to_owned(),
                found: vec![spec.embedding as u64, spec.vocabulary as u64],
                expected: vec![spec.embedding as u64, words as u64],
            });
        }
        let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let storage = main_storage_type(&binding);
        let info = ModelInfo {
            name: file.string("general.name")?.map_or_else(stem, str::to_owned),
            architecture: spec.architecture.clone(),
            file_bytes: file.file_len(),
            storage_type: storage.ggml_name(),
            precision: class_of(storage),
            trained_context: spec.trained_context,
            parameters: binding.weights.iter().map(|weight| (weight.rows * weight.cols) as u64).sum(),
        };
        let shape = shape_of(&info, &spec, &binding, tokenizer.memory());
        let chat_template = file.string("tokenizer.chat_template")?.map(str::to_owned);
        Ok(Self { path: path.to_owned(), info, spec, binding, shape, tokenizer, chat_template })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What people want to know of it.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The planner's input.
    pub fn shape(&self) -> &ModelShape {
        &self.shape
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// Its chat template; base models have none.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }

    /// The decoder's description.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    pub(crate) fn binding(&self) -> &Binding {
        &self.binding
    }
}

/// The storage type that holds most of the layers' weights (embedding and head are often kept finer).
fn main_storage_type(binding: &Binding) -> WeightType {
    let mut totals: Vec<(WeightType, usize)> = Vec::new();
    for (index, weight) in binding.weights.iter().enumerate() {
        if weight.role != TensorRole::Matrix || index == binding.embedding || index == binding.output {
            continue;
        }
        let elements = weight.rows * weight.cols;
        match totals.iter_mut().find(|(kind, _)| *kind == weight.weight_type) {
            Some((_, total)) => *total += elements,
            None => totals.push((weight.weight_type, elements)),
        }
    }
    totals.into_iter().max_by_key(|&(_, total)| total).map_or(WeightType::F32, |(kind, _)| kind)
}

fn class_of(storage: WeightType) -> Precision {
    match storage {
        WeightType::F32 | WeightType::F16 | WeightType::Bf16 => Precision::Fp16,
        WeightType::Q8_0 | WeightType::Q6K => Precision::Int8,
        WeightType::Q4_0
        | WeightType::Q4_1
        | WeightType::Q5_0
        | WeightType::Q5_1
        | WeightType::Q4K
        | WeightType::Q5K => Precision::Int4,
    }
}

fn shape_of(info: &ModelInfo, spec: &ModelSpec, binding: &Binding, tokenizer: Bytes) -> ModelShape {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let attention_scratch = spec
        .layers
        .iter()
        .map(|layer| {
            let group = layer.heads / layer.kv_heads.max(1);
            plimsoll_kernels::attention_scratch_per_thread(group, layer.key_dim, layer.value_dim)
        })
        .max()
        .unwrap_or(0);
    ModelShape {
        name: info.name.clone(),
        architecture: info.architecture.clone(),
        vocabulary: narrow(spec.vocabulary),
        embedding: narrow(spec.embedding),
        layers: spec
            .layers
            .iter()
            .map(|layer| LayerShape {
                heads: narrow(layer.heads),
                kv_heads: narrow(layer.kv_heads),
                key_dim: narrow(layer.key_dim),
                value_dim: narrow(layer.value_dim),
                feed_forward: narrow(layer.feed_forward),
                window: layer.window,
            })
            .collect(),
        trained_context: spec.trained_context,
        weights: binding
            .weights
            .iter()
            .map(|weight| WeightShape {
                name: weight.name.clone(),
                rows: weight.rows as u64,
                cols: weight.cols as u64,
                bytes: Bytes(weight.resident_bytes as u64),
            })
            .collect(),
        precision: info.precision,
        requantizable: false,
        tokenizer,
        kernels: KernelCosts {
            activation_group_bytes: plimsoll_kernels::ACTIVATION_GROUP_BYTES as u64,
            matmul_scratch_per_thread: Bytes(plimsoll_kernels::matmul_scratch_per_thread() as u64),
            attention_scratch_per_thread: Bytes(attention_scratch as u64),
        },
        rope_tables: narrow(spec.ropes.len()),
        supported_kv: vec![KvType::Fp16],
    }
}
