//! Loaded tensors as the forward pass uses them.

use plimsoll_kernels::{KvLayout, Matrix};
use plimsoll_plan::Bytes;

use crate::error::ModelError;
use crate::spec::{Binding, LayerSpec};

/// One layer's weights.
pub(crate) struct LayerWeights<'s> {
    pub(crate) attention_norm: &'s [f32],
    pub(crate) query: Matrix<'s>,
    pub(crate) key: Matrix<'s>,
    pub(crate) value: Matrix<'s>,
    /// (query head norm, key head norm).
    pub(crate) head_norms: Option<(&'s [f32], &'s [f32])>,
    pub(crate) attention_out: Matrix<'s>,
    pub(crate) post_attention_norm: Option<&'s [f32]>,
    pub(crate) feed_forward_norm: &'s [f32],
    pub(crate) gate: Matrix<'s>,
    pub(crate) up: Matrix<'s>,
    pub(crate) down: Matrix<'s>,
    pub(crate) post_feed_forward_norm: Option<&'s [f32]>,
}

/// Binds every layer.
pub(crate) fn bind_layers<'s>(binding: &Binding, weights: &[&'s [u8]]) -> Result<Vec<LayerWeights<'s>>, ModelError> {
    binding
        .layers
        .iter()
        .map(|layer| {
            let optional = |index: Option<usize>| index.map(|index| vector(binding, weights, index)).transpose();
            let head_norms = match layer.head_norms {
                Some(norms) => Some((vector(binding, weights, norms.query)?, vector(binding, weights, norms.key)?)),
                None => None,
            };
            Ok(LayerWeights {
                attention_norm: vector(binding, weights, layer.attention_norm)?,
                query: matrix(binding, weights, layer.query)?,
                key: matrix(binding, weights, layer.key)?,
                value: matrix(binding, weights, layer.value)?,
                head_norms,
                attention_out: matrix(binding, weights, layer.attention_out)?,
                post_attention_norm: optional(layer.post_attention_norm)?,
                feed_forward_norm: vector(binding, weights, layer.feed_forward_norm)?,
                gate: matrix(binding, weights, layer.gate)?,
                up: matrix(binding, weights, layer.up)?,
                down: matrix(binding, weights, layer.down)?,
                post_feed_forward_norm: optional(layer.post_feed_forward_norm)?,
            })
        })
        .collect()
}

/// The packed matrix at `index`.
pub(crate) fn matrix<'s>(binding: &Binding, weights: &[&'s [u8]], index: usize) -> Result<Matrix<'s>, ModelError> {
    let (Some(source), Some(&data)) = (binding.weights.get(index), weights.get(index)) else {
        return Err(missing(index));
    };
    Matrix::new(source.weight_type, source.rows, source.cols, data).ok_or_else(|| ModelError::PlanMismatch {
        region: source.name.clone(),
        planned: Bytes(data.len() as u64),
        needed: Bytes(source.resident_bytes as u64),
    })
}

/// The f32 vector at `index`.
pub(crate) fn vector<'s>(binding: &Binding, weights: &[&'s [u8]], index: usize) -> Result<&'s [f32], ModelError> {
    let (Some(source), Some(&data)) = (binding.weights.get(index), weights.get(index)) else {
        return Err(missing(index));
    };
    bytemuck::try_cast_slice(data).map_err(|_| ModelError::PlanMismatch {
        region: source.name.clone(),
        planned: Bytes(data.len() as u64),
        needed: Bytes(source.resident_bytes as u64),
    })
}

/// The layout of one layer's KV pages.
pub(crate) fn kv_layout(layer: &LayerSpec) -> KvLayout {
    KvLayout { kv_heads: layer.kv_heads, key_dim: layer.key_dim, value_dim: layer.value_dim }
}

fn missing(index: usize) -> ModelError {
    ModelError::MissingTensor { name: format!("#{index}") }
}
