//! Causal attention over KV pages, with grouped queries, a sliding window and a score cap.

mod portable;

use crate::kv::KvView;
use crate::pool::Pool;
use crate::shared::SharedMut;

/// What the queries are and what they may see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionSpec {
    /// Query heads, a multiple of the KV heads: heads `g * i ..` of a group `g` share KV head `i`.
    pub heads: usize,
    /// Position of the first query.
    pub first_position: usize,
    /// Queries.
    pub tokens: usize,
    /// A query at position `p` sees `p - window + 1 ..= p`; `None` sees everything before it.
    pub window: Option<usize>,
    /// Multiplies the scores.
    pub scale: f32,
    /// Scores become `cap * tanh(score / cap)` after scaling.
    pub softcap: Option<f32>,
}

impl AttentionSpec {
    /// First position that the query at `position` sees.
    fn first_seen(&self, position: usize) -> usize {
        self.window.map_or(0, |window| (position + 1).saturating_sub(window))
    }
}

/// Scratch of one thread in [`attention`], in bytes. A multiple of 64.
pub const fn attention_scratch_per_thread(heads_per_group: usize, key_dim: usize, value_dim: usize) -> usize {
    let _ = (heads_per_group, key_dim, value_dim);
    64
}

/// `out[t][h] = sum over seen p of softmax(scale * query[t][h] . key[p]) * value[p]`.
///
/// `query` is `[tokens, heads, key_dim]`, `out` `[tokens, heads, value_dim]`; `view` holds every position that the
/// queries see, their own included. `scratch` holds [`attention_scratch_per_thread`] bytes for each thread of the
/// pool. Nothing is allocated.
///
/// # Panics
/// When a length does not fit or a position has no page.
pub fn attention(
    pool: &Pool,
    query: &[f32],
    view: &KvView<'_>,
    spec: &AttentionSpec,
    out: &mut [f32],
    scratch: &mut [u8],
) {
    let layout = view.layout;
    assert!(spec.heads.is_multiple_of(layout.kv_heads), "{} heads on {} KV heads", spec.heads, layout.kv_heads);
    assert_eq!(query.len(), spec.tokens * spec.heads * layout.key_dim, "queries");
    assert_eq!(out.len(), spec.tokens * spec.heads * layout.value_dim, "outputs");
    let group = spec.heads / layout.kv_heads;
    let per_thread = attention_scratch_per_thread(group, layout.key_dim, layout.value_dim);
    assert!(scratch.len() >= pool.threads() * per_thread, "{} bytes of scratch", scratch.len());
    let out = SharedMut::new(out);
    pool.run(spec.tokens * spec.heads, &|task, _| {
        let (token, head) = (task / spec.heads, task % spec.heads);
        // SAFETY: each task writes its own head of its own token.
        let out = unsafe { out.slice(task * layout.value_dim, layout.value_dim) };
        let query = &query[task * layout.key_dim..][..layout.key_dim];
        portable::query(query, view, spec, spec.first_position + token, head / group, out);
    });
}

#[cfg(test)]
mod tests;
