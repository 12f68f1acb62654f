//! One decoder layer: attention and feed-forward, each with its norms and its residual add.

use plimsoll_kernels as kernels;
use plimsoll_kernels::{AttentionSpec, KvLayout, KvView, Pool};

use super::internal;
use super::products::project;
use super::weights::LayerWeights;
use crate::error::EngineError;
use crate::spec::{Activation, LayerSpec, ModelSpec, RopeLayout};

/// The workspace regions that a layer uses.
pub(crate) struct Buffers<'w> {
    pub(crate) residual: &'w mut [f32],
    pub(crate) normed: &'w mut [f32],
    pub(crate) activations: &'w mut [u8],
    pub(crate) qkv: &'w mut [f32],
    pub(crate) attention_out: &'w mut [f32],
    pub(crate) gate_up: &'w mut [f32],
    pub(crate) projected: &'w mut [f32],
    pub(crate) matmul_scratch: &'w mut [u8],
    pub(crate) attention_scratch: &'w mut [u8],
    pub(crate) rope: &'w [f32],
}

/// One layer over one step's tokens.
pub(crate) struct LayerRun<'r, 's> {
    pub(crate) spec: &'r ModelSpec,
    pub(crate) layer: &'r LayerSpec,
    pub(crate) weights: &'r LayerWeights<'s>,
    pub(crate) kv: &'r mut [u8],
    pub(crate) layout: KvLayout,
    pub(crate) table: &'r [u32],
    pub(crate) first_page: usize,
    /// Position of the step's first token.
    pub(crate) first: usize,
    /// Tokens in the step.
    pub(crate) tokens: usize,
    pub(crate) pool: &'r Pool,
}

impl LayerRun<'_, '_> {
    pub(crate) fn run(mut self, buffers: &mut Buffers<'_>) -> Result<(), EngineError> {
        self.attention(buffers)?;
        self.feed_forward(buffers)
    }

    fn attention(&mut self, buffers: &mut Buffers<'_>) -> Result<(), EngineError> {
        let (n, layer) = (self.tokens, self.layer);
        let (queries, keys) = (n * layer.heads * layer.key_dim, n * layer.kv_heads * layer.key_dim);
        let values = n * layer.kv_heads * layer.value_dim;
        let width = n * self.spec.embedding;
        let residual = part(buffers.residual, width)?;
        let normed = part(buffers.normed, width)?;
        kernels::rms_norm(residual, self.weights.attention_norm, self.spec.norm_eps, normed);

        let qkv = part(buffers.qkv, queries + keys + values)?;
        let (query, rest) = qkv.split_at_mut(queries);
        let (key, value) = rest.split_at_mut(keys);
        project(
            self.pool,
            normed,
            n,
            buffers.activations,
            &mut [
                (&self.weights.query, &mut *query, false),
                (&self.weights.key, &mut *key, false),
                (&self.weights.value, &mut *value, false),
            ],
            buffers.matmul_scratch,
        )?;
        if let Some((query_norm, key_norm)) = self.weights.head_norms {
            kernels::rms_norm_in_place(query, query_norm, self.spec.norm_eps);
            kernels::rms_norm_in_place(key, key_norm, self.spec.norm_eps);
        }
        self.rotate(query, layer.heads, buffers.rope)?;
        self.rotate(key, layer.kv_heads, buffers.rope)?;
        kernels::kv_append(self.kv, self.layout, self.table, self.first_page, self.first, key, value);

        let attended = part(buffers.attention_out, n * layer.heads * layer.value_dim)?;
        let view = KvView { pages: self.kv, table: self.table, first_page: self.first_page, layout: self.layout };
        let attention = AttentionSpec {
            heads: layer.heads,
            first_position: self.first,
            tokens: n,
            window: layer.window.and_then(|window| usize::try_from(window.0).ok()),
            scale: layer.attention_scale,
            softcap: self.spec.attention_softcap,
        };
        kernels::attention(self.pool, query, &view, &attention, attended, buffers.attention_scratch);
        self.add_projection(
            &self.weights.attention_out,
            self.weights.post_attention_norm,
            attended,
            residual,
            buffers.projected,
            buffers.activations,
            buffers.matmul_scratch,
        )
    }

    fn feed_forward(&mut self, buffers: &mut Buffers<'_>) -> Result<(), EngineError> {
        let n = self.tokens;
        let width = n * self.spec.embedding;
        let residual = part(buffers.residual, width)?;
        let normed = part(buffers.normed, width)?;
        kernels::rms_norm(residual, self.weights.feed_forward_norm, self.spec.norm_eps, normed);
        let inner = n * self.layer.feed_forward;
        let (gate, up) = part(buffers.gate_up, 2 * inner)?.split_at_mut(inner);
        project(
            self.pool,
            normed,
            n,
            buffers.activations,
            &mut [(&self.weights.gate, &mut *gate, false), (&self.weights.up, &mut *up, false)],
            buffers.matmul_scratch,
        )?;
        match self.spec.activation {
            Activation::Silu => kernels::silu_mul(self.pool, gate, up),
            Activation::GeluTanh => kernels::gelu_tanh_mul(self.pool, gate, up),
        }
        self.add_projection(
            &self.weights.down,
            self.weights.post_feed_forward_norm,
            gate,
            residual,
            buffers.projected,
            buffers.activations,
            buffers.matmul_scratch,
        )
    }

    fn rotate(&self, heads_of: &mut [f32], heads: usize, rope: &[f32]) -> Result<(), EngineError> {
        let missing = || internal("a layer names a rotary table that does not exist");
        let spec = self.spec.ropes.get(self.layer.rope).ok_or_else(missing)?;
        let share = rope.len() / self.spec.ropes.len().max(1);
        let start = self.layer.rope * share;
        let table = rope.get(start..start + self.tokens * spec.dim).ok_or_else(missing)?;
        match self.spec.rope_layout {
            RopeLayout::Interleaved => {
                kernels::rope_interleaved(heads_of, heads, self.layer.key_dim, spec.dim, table);
            }
            RopeLayout::Halves => kernels::rope_halves(heads_of, heads, self.layer.key_dim, spec.dim, table),
        }
        Ok(())
    }

    /// `residual += matrix * input`, with a norm between where the architecture has one.
    #[expect(clippy::too_many_arguments, reason = "the buffers are separate borrows of one workspace")]
    fn add_projection(
        &self,
        matrix: &kernels::Matrix<'_>,
        post_norm: Option<&[f32]>,
        input: &[f32],
        residual: &mut [f32],
        projected: &mut [f32],
        activations: &mut [u8],
        scratch: &mut [u8],
    ) -> Result<(), EngineError> {
        let n = self.tokens;
        let Some(norm) = post_norm else {
            return project(self.pool, input, n, activations, &mut [(matrix, residual, true)], scratch);
        };
        let projected = part(projected, residual.len())?;
        project(self.pool, input, n, activations, &mut [(matrix, &mut *projected, false)], scratch)?;
        kernels::rms_norm_in_place(projected, norm, self.spec.norm_eps);
        kernels::add(residual, projected);
        Ok(())
    }
}

/// The first `len` elements of a region.
fn part(region: &mut [f32], len: usize) -> Result<&mut [f32], EngineError> {
    region.get_mut(..len).ok_or_else(|| internal("a workspace region is smaller than the step"))
}
