//! One forward pass for every architecture: runs a [`ModelSpec`] over the slab by calling the kernels.
//!
//! Shapes: `n` tokens of one step, `d` the embedding width; `[n, d]` is row-major. Nothing here allocates.

mod layer;
mod products;
mod weights;

use std::sync::{Arc, Mutex};

use plimsoll_kernels as kernels;
use plimsoll_kernels::{KvLayout, Matrix, Pool};
use plimsoll_plan::MemoryPlan;

use crate::error::{EngineError, ModelError};
use crate::kv::{CachedTokens, fill_page_table, lock};
use crate::spec::{Binding, ModelSpec};
use crate::workspace::{Loaded, Parts, Workspace};
use layer::LayerRun;
use products::project;
use weights::{LayerWeights, bind_layers, matrix, vector};

/// A model in its slab, with the KV cache of one conversation.
pub(crate) struct Decoder<'s> {
    spec: &'s ModelSpec,
    layers: Vec<LayerWeights<'s>>,
    embedding: Matrix<'s>,
    output: Matrix<'s>,
    output_norm: &'s [f32],
    kv: Vec<&'s mut [u8]>,
    /// Per layer: its cache's layout, and the index of its class.
    kv_layouts: Vec<(KvLayout, usize)>,
    /// Per class: (window, pages).
    classes: Vec<(Option<usize>, usize)>,
    work: Workspace<'s>,
    pool: &'s Pool,
    cached: Arc<Mutex<CachedTokens>>,
    chunk: usize,
    logits_rows: usize,
}

impl<'s> Decoder<'s> {
    /// Binds loaded weights to their places.
    pub(crate) fn new(
        spec: &'s ModelSpec,
        binding: &Binding,
        plan: &MemoryPlan,
        parts: Parts<'s>,
        pool: &'s Pool,
        cached: Arc<Mutex<CachedTokens>>,
    ) -> Result<Self, ModelError> {
        let Loaded { weights, kv, workspace: work } = parts.finish(plan)?;
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let mut kv_layouts = Vec::with_capacity(spec.layers.len());
        for (index, layer) in spec.layers.iter().enumerate() {
            let class = plan.kv_class_of(index).map_or(0, |(class, _)| class);
            kv_layouts.push((weights::kv_layout(layer), class));
        }
        Ok(Self {
            spec,
            layers: bind_layers(binding, &weights)?,
            embedding: matrix(binding, &weights, binding.embedding)?,
            output: matrix(binding, &weights, binding.output)?,
            output_norm: vector(binding, &weights, binding.output_norm)?,
            kv,
            kv_layouts,
            classes: plan
                .kv_classes
                .iter()
                .map(|class| (class.window.map(|window| size(window.0)), size(class.pages)))
                .collect(),
            work,
            pool,
            cached,
            chunk: size(plan.chunk.0),
            logits_rows: size(plan.logits_rows).max(1),
        })
    }

    /// Most tokens of one step.
    pub(crate) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Tokens in the KV cache.
    pub(crate) fn cached(&self) -> usize {
        lock(&self.cached).len()
    }

    /// Forgets the KV cache.
    pub(crate) fn clear(&mut self) {
        lock(&self.cached).clear();
    }

    /// Keeps what `prompt` shares with the cache, forgets the rest; returns how many tokens need no computing.
    pub(crate) fn reuse(&mut self, prompt: &[u32]) -> usize {
        let mut cached = lock(&self.cached);
        let reused = cached.reusable(prompt);
        if reused == 0 {
            cached.clear();
        } else {
            cached.truncate(reused);
        }
        reused
    }

    /// Runs `ids` (at most a chunk) behind what is cached, and commits them. With `logits`, computes those of the
    /// last token.
    pub(crate) fn step(&mut self, ids: &[u32], logits: bool) -> Result<(), EngineError> {
        self.layers_of(ids)?;
        if logits {
            self.head(ids.len().saturating_sub(1), 1)?;
        }
        lock(&self.cached).commit(ids);
        Ok(())
    }

    /// Logits `[vocabulary]` of the last step, and the sampler's scratch.
    pub(crate) fn logits_and_scratch(&mut self) -> (&mut [f32], &mut [(u32, f32)]) {
        let logits = self.work.logits.get_mut(..self.spec.vocabulary).unwrap_or_default();
        (logits, self.work.candidates)
    }

    /// Runs `ids` in chunks from where the cache ends, giving each position's logits to `row`; `false` ends early.
    pub(crate) fn each_logits(&mut self, ids: &[u32], row: &mut dyn FnMut(&[f32]) -> bool) -> Result<(), EngineError> {
        for chunk in ids.chunks(self.chunk.max(1)) {
            self.layers_of(chunk)?;
            let mut first = 0;
            while first < chunk.len() {
                let count = self.logits_rows.min(chunk.len() - first);
                self.head(first, count)?;
                for logits in self.work.logits.chunks(self.spec.vocabulary).take(count) {
                    if !row(logits) {
                        return Ok(());
                    }
                }
                first += count;
            }
            lock(&self.cached).commit(chunk);
        }
        Ok(())
    }

    /// The decoder layers: leaves the residual stream `[n, d]` of `ids` in the workspace and their KV in the pages.
    fn layers_of(&mut self, ids: &[u32]) -> Result<(), EngineError> {
        let n = ids.len();
        let first = self.cached();
        if n == 0 || n > self.chunk {
            return Err(internal("a step is one token to one chunk long"));
        }
        self.embed(ids)?;
        self.rope_tables(first, n);
        let mut views = [(0, 0); MAX_CLASSES];
        for ((table, &(window, pages)), view) in
            self.work.page_tables.iter_mut().zip(&self.classes).zip(views.iter_mut())
        {
            *view = fill_page_table(table, first, n, window, pages);
        }
        for (index, (layer, weights)) in self.spec.layers.iter().zip(&self.layers).enumerate() {
            let (Some(kv), Some(&(layout, class))) = (self.kv.get_mut(index), self.kv_layouts.get(index)) else {
                return Err(internal("a layer has no KV pages"));
            };
            let &(first_page, pages) = views.get(class).unwrap_or(&(0, 0));
            let table = self.work.page_tables.get(class).and_then(|table| table.get(..pages)).unwrap_or_default();
            LayerRun {
                spec: self.spec,
                layer,
                weights,
                kv,
                layout,
                table,
                first_page,
                first,
                tokens: n,
                pool: self.pool,
            }
            .run(&mut layer::Buffers {
                residual: self.work.residual,
                normed: self.work.normed,
                activations: self.work.activations,
                qkv: self.work.qkv,
                attention_out: self.work.attention_out,
                gate_up: self.work.gate_up,
                projected: self.work.projected,
                matmul_scratch: self.work.matmul_scratch,
                attention_scratch: self.work.attention_scratch,
                rope: self.work.rope,
            })?;
        }
        Ok(())
    }

    /// Embedding rows of `ids`, scaled, into the residual stream.
    fn embed(&mut self, ids: &[u32]) -> Result<(), EngineError> {
        let scale = self.spec.embedding_scale;
        for (&id, row) in ids.iter().zip(self.work.residual.chunks_exact_mut(self.spec.embedding)) {
            let id = usize::try_from(id).unwrap_or(usize::MAX);
            if id >= self.spec.vocabulary {
                return Err(internal("a token id is outside of the vocabulary"));
            }
            self.embedding.row(id, row);
            if scale != 1.0 {
                kernels::scale(row, scale);
            }
        }
        Ok(())
    }

    /// Cosines and sines of the step's positions, one table per rotary spec.
    fn rope_tables(&mut self, first: usize, n: usize) {
        let share = self.work.rope.len() / self.spec.ropes.len().max(1);
        for (rope, table) in self.spec.ropes.iter().zip(self.work.rope.chunks_exact_mut(share.max(1))) {
            let Some(table) = table.get_mut(..n * rope.dim) else { continue };
            kernels::rope_table(first, n, rope.dim, rope.base, rope.scale, &rope.factors, table);
        }
    }

    /// Logits `[count, vocabulary]` of rows `first_row..` of the residual stream.
    fn head(&mut self, first_row: usize, count: usize) -> Result<(), EngineError> {
        let (d, vocabulary) = (self.spec.embedding, self.spec.vocabulary);
        let rows = self.work.residual.get(first_row * d..(first_row + count) * d);
        let normed = self.work.normed.get_mut(..count * d);
        let logits = self.work.logits.get_mut(..count * vocabulary);
        let (Some(rows), Some(normed), Some(logits)) = (rows, normed, logits) else {
            return Err(internal("the workspace is too small for the logits"));
        };
        kernels::rms_norm(rows, self.output_norm, self.spec.norm_eps, normed);
        project(
            self.pool,
            normed,
            count,
            self.work.activations,
            &mut [(&self.output, &mut *logits, false)],
            self.work.matmul_scratch,
        )?;
        if let Some(cap) = self.spec.logit_softcap {
            kernels::softcap(logits, cap);
        }
        Ok(())
    }
}

/// Most KV classes of one model: layers that see everything, and one or two window sizes.
const MAX_CLASSES: usize = 4;

/// A fault that a check elsewhere should have made impossible.
fn internal(what: &str) -> EngineError {
    EngineError::Internal(what.to_owned())
}
