//! Causal attention over KV pages, with grouped queries, a sliding window and a score cap.

#[cfg(target_arch = "x86_64")]
mod decode;
mod portable;
#[cfg(target_arch = "x86_64")]
mod prefill;
mod scratch;
#[cfg(target_arch = "x86_64")]
mod soften;

use crate::kv::KvView;
use crate::level::Level;
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
    scratch::bytes(heads_per_group, key_dim, value_dim)
}

/// `out[t][h] = sum over seen p of softmax(scale * query[t][h] . key[p]) * value[p]`.
///
/// `query` is `[tokens, heads, key_dim]`, `out` `[tokens, heads, value_dim]`; `view` holds every position that the
/// queries see, their own included. `scratch` holds [`attention_scratch_per_thread`] bytes for each thread of the
/// pool, and starts at a multiple of 4. Nothing is allocated.
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
    if spec.tokens == 0 {
        return;
    }
    let group = spec.heads / layout.kv_heads;
    let per_thread = attention_scratch_per_thread(group, layout.key_dim, layout.value_dim);
    assert!(scratch.len() >= pool.threads() * per_thread, "{} bytes of scratch", scratch.len());
    let job = Job { query, view, spec, group, out: SharedMut::new(out) };
    #[cfg(target_arch = "x86_64")]
    if pool.level() >= Level::Avx2
        && layout.key_dim.is_multiple_of(8)
        && layout.value_dim.is_multiple_of(16)
        && group <= decode::MOST_HEADS
    {
        // SAFETY: any bytes are floats.
        let (before, scratch, _) = unsafe { scratch.align_to_mut::<f32>() };
        assert!(before.is_empty(), "the scratch is not aligned");
        return vectors(pool, &job, SharedMut::new(scratch), per_thread / size_of::<f32>());
    }
    pool.run(spec.tokens * layout.kv_heads, &|task, _| {
        let (token, head) = (task / layout.kv_heads, task % layout.kv_heads);
        // SAFETY: each task writes its own heads of its own token.
        let out = unsafe { job.out(token, head) };
        let queries = job.queries(token, head).chunks_exact(layout.key_dim);
        for (query, out) in queries.zip(out.chunks_exact_mut(layout.value_dim)) {
            portable::query(query, view, spec, spec.first_position + token, head, out);
        }
    });
}

/// What the tasks of a region share.
struct Job<'a> {
    query: &'a [f32],
    view: &'a KvView<'a>,
    spec: &'a AttentionSpec,
    /// Query heads of a KV head.
    group: usize,
    out: SharedMut<'a, f32>,
}

impl Job<'_> {
    /// Queries `[group, key_dim]` of a token for a KV head.
    fn queries(&self, token: usize, head: usize) -> &[f32] {
        let dim = self.view.layout.key_dim;
        &self.query[(token * self.spec.heads + head * self.group) * dim..][..self.group * dim]
    }

    /// Outputs `[group, value_dim]` of a token for a KV head.
    ///
    /// # Safety
    /// Only one task at a time may use them.
    #[expect(clippy::mut_from_ref, reason = "the caller keeps tasks apart")]
    unsafe fn out(&self, token: usize, head: usize) -> &mut [f32] {
        let dim = self.view.layout.value_dim;
        // SAFETY: by the caller.
        unsafe { self.out.slice((token * self.spec.heads + head * self.group) * dim, self.group * dim) }
    }
}

/// The vector kernels.
#[cfg(target_arch = "x86_64")]
fn vectors(pool: &Pool, job: &Job<'_>, scratch: SharedMut<'_, f32>, per_thread: usize) {
    let (spec, kv_heads) = (job.spec, job.view.layout.kv_heads);
    if spec.tokens == 1 {
        return decode::run(pool, job, scratch, per_thread);
    }
    let queries = prefill::queries_per_task(pool.threads(), job.group, spec, kv_heads);
    let blocks = spec.tokens.div_ceil(queries);
    pool.run(blocks * kv_heads, &|task, worker| {
        // Later queries see more: the long tasks come first, so that threads end together.
        let block = blocks - 1 - task / kv_heads;
        let first = block * queries;
        // SAFETY: a worker runs one task at a time.
        let scratch = unsafe { scratch.slice(worker * per_thread, per_thread) };
        prefill::run(job, task % kv_heads, first, spec.tokens.min(first + queries), scratch);
    });
}

#[cfg(test)]
mod tests;
