//! Binds the file's tensors to their places in the decoder, and checks every name and shape.

use std::collections::BTreeSet;

use plimsoll_kernels::WeightType;

use super::ModelSpec;
use crate::error::ModelError;
use crate::gguf::{GgufFile, TensorInfo};

/// A tensor's place in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// A matrix `[rows, cols]` that multiplies activations.
    Matrix,
    /// A vector of `cols` floats (norm weights), kept as f32.
    Vector,
}

/// One tensor: where it comes from and how it lies in the slab.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightSource {
    /// Name in the file.
    pub name: String,
    /// Matrix or vector.
    pub role: TensorRole,
    /// Storage type in the file.
    pub weight_type: WeightType,
    /// Output features (1 for vectors).
    pub rows: usize,
    /// Input features.
    pub cols: usize,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes of one row in the file.
    pub source_row_bytes: usize,
    /// Bytes in the slab.
    pub resident_bytes: usize,
}

/// Indices into [`Binding::weights`] for one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerBinding {
    pub(crate) attention_norm: usize,
    pub(crate) query: usize,
    pub(crate) key: usize,
    pub(crate) value: usize,
    pub(crate) head_norms: Option<HeadNorms>,
    pub(crate) attention_out: usize,
    pub(crate) post_attention_norm: Option<usize>,
    pub(crate) feed_forward_norm: usize,
    pub(crate) gate: usize,
    pub(crate) up: usize,
    pub(crate) down: usize,
    pub(crate) post_feed_forward_norm: Option<usize>,
}

/// Norms of each query and key head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadNorms {
    pub(crate) query: usize,
    pub(crate) key: usize,
}

/// Every tensor of a model, bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// In slab order.
    pub weights: Vec<WeightSource>,
    /// First to last.
    pub layers: Vec<LayerBinding>,
    /// Embedding matrix `[vocabulary, embedding]`.
    pub embedding: usize,
    /// Head; the same index as the embedding when tied.
    pub output: usize,
    /// Final norm.
    pub output_norm: usize,
}

/// Binds every tensor of `file`; refuses missing, misshapen, unsupported and unexpected ones.
pub fn bind_tensors(file: &GgufFile, spec: &ModelSpec) -> Result<Binding, ModelError> {
    let mut binder = Binder { file, weights: Vec::new(), used: BTreeSet::new() };
    let width = spec.embedding;
    let embedding = binder.matrix("token_embd.weight", width, spec.vocabulary)?;
    let mut layers = Vec::with_capacity(spec.layers.len());
    for (index, layer) in spec.layers.iter().enumerate() {
        let name = |part: &str| format!("blk.{index}.{part}.weight");
        let (queries, keys) = (layer.heads * layer.key_dim, layer.kv_heads * layer.key_dim);
        let values = layer.kv_heads * layer.value_dim;
        layers.push(LayerBinding {
            attention_norm: binder.vector(&name("attn_norm"), width)?,
            query: binder.matrix(&name("attn_q"), width, queries)?,
            key: binder.matrix(&name("attn_k"), width, keys)?,
            value: binder.matrix(&name("attn_v"), width, values)?,
            head_norms: if spec.head_norms {
                Some(HeadNorms {
                    query: binder.vector(&name("attn_q_norm"), layer.key_dim)?,
                    key: binder.vector(&name("attn_k_norm"), layer.key_dim)?,
                })
            } else {
                None
            },
            attention_out: binder.matrix(&name("attn_output"), layer.heads * layer.value_dim, width)?,
            post_attention_norm: if spec.post_norms {
                Some(binder.vector(&name("post_attention_norm"), width)?)
            } else {
                None
            },
            feed_forward_norm: binder.vector(&name("ffn_norm"), width)?,
            gate: binder.matrix(&name("ffn_gate"), width, layer.feed_forward)?,
            up: binder.matrix(&name("ffn_up"), width, layer.feed_forward)?,
            down: binder.matrix(&name("ffn_down"), layer.feed_forward, width)?,
            post_feed_forward_norm: if spec.post_norms {
                Some(binder.vector(&name("post_ffw_norm"), width)?)
            } else {
                None
            },
        });
    }
    let output_norm = binder.vector("output_norm.weight", width)?;
    let output = if file.tensor("output.weight").is_some() {
        binder.matrix("output.weight", width, spec.vocabulary)?
    } else {
        embedding
    };
    if let Some(extra) = file.tensors().iter().find(|tensor| !binder.used.contains(&*tensor.name)) {
        return Err(ModelError::UnexpectedTensor {
            name: extra.name.to_string(),
            architecture: spec.architecture.clone(),
        });
    }
    Ok(Binding { weights: binder.weights, layers, embedding, output, output_norm })
}

struct Binder<'a> {
    file: &'a GgufFile,
    weights: Vec<WeightSource>,
    used: BTreeSet<String>,
}

impl Binder<'_> {
    fn matrix(&mut self, name: &str, cols: usize, rows: usize) -> Result<usize, ModelError> {
        let info = self.shaped(name, &[cols, rows])?;
        let weight_type = weight_type(&info)?;
        let resident = weight_type.packed_bytes(rows, cols);
        self.push(info, TensorRole::Matrix, weight_type, rows, cols, resident)
    }

    fn vector(&mut self, name: &str, cols: usize) -> Result<usize, ModelError> {
        let info = self.shaped(name, &[cols])?;
        let weight_type = weight_type(&info)?;
        let resident = cols.checked_mul(size_of::<f32>());
        self.push(info, TensorRole::Vector, weight_type, 1, cols, resident)
    }

    fn shaped(&mut self, name: &str, expected: &[usize]) -> Result<TensorInfo, ModelError> {
        let info = self.file.tensor(name).ok_or_else(|| ModelError::MissingTensor { name: name.to_owned() })?;
        let expected: Vec<u64> = expected.iter().map(|&n| n as u64).collect();
        // Trailing dimensions of 1 say nothing.
        let mut found = info.dims().to_vec();
        while found.len() > expected.len() && found.last() == Some(&1) {
            found.pop();
        }
        if found != expected {
            return Err(ModelError::WrongShape { name: name.to_owned(), found, expected });
        }
        self.used.insert(name.to_owned());
        Ok(info.clone())
    }

    fn push(
        &mut self,
        info: TensorInfo,
        role: TensorRole,
        weight_type: WeightType,
        rows: usize,
        cols: usize,
        resident: Option<usize>,
    ) -> Result<usize, ModelError> {
        let wrong = |info: &TensorInfo| ModelError::WrongShape {
            name: info.name.to_string(),
            found: info.dims().to_vec(),
            expected: vec![weight_type.block_elements() as u64],
        };
        let source_row_bytes = weight_type.source_row_bytes(cols).ok_or_else(|| wrong(&info))?;
        let resident_bytes = resident.ok_or_else(|| wrong(&info))?;
        let index = self.weights.len();
        self.weights.push(WeightSource {
            name: info.name.into(),
            role,
            weight_type,
            rows,
            cols,
            offset: info.offset,
            source_row_bytes,
            resident_bytes,
        });
        Ok(index)
    }
}

/// The kernels' type of a tensor.
fn weight_type(info: &TensorInfo) -> Result<WeightType, ModelError> {
    WeightType::from_ggml(info.ggml_type)
        .ok_or_else(|| ModelError::UnsupportedTensorType { name: info.name.to_string(), ggml_type: info.ggml_type })
}
