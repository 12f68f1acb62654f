//! Many queries: tiles of queries against pages of keys.
//!
//! A task takes the heads of one group at some consecutive positions as rows. Each page is widened to f32 once for
//! all rows, keys turned round, so that scores and outputs are plain matrix products; the softmax goes along.

use super::scratch::{Cutter, most_queries};
use super::soften::soften;
use super::{AttentionSpec, Job};
use crate::cpu::avx2;
use crate::kv::KV_PAGE_TOKENS;

/// Fewest queries of a task, where there are too few tasks for the threads.
const FEWEST_QUERIES: usize = 8;

/// Queries of one task.
pub(super) fn queries_per_task(threads: usize, group: usize, spec: &AttentionSpec, kv_heads: usize) -> usize {
    let most = most_queries(group);
    let blocks_wanted = (4 * threads).div_ceil(kv_heads);
    spec.tokens.div_ceil(blocks_wanted).clamp(FEWEST_QUERIES.min(most), most)
}

/// Runs queries `first..last` (counted from the first token) of KV head `head`.
pub(super) fn run(job: &Job<'_>, head: usize, first: usize, last: usize, scratch: &mut [f32]) {
    let (spec, layout) = (job.spec, job.view.layout);
    let (key_dim, value_dim, group) = (layout.key_dim, layout.value_dim, job.group);
    let rows = (last - first) * group;
    let mut cutter = Cutter(scratch);
    let keys = cutter.take(KV_PAGE_TOKENS * key_dim);
    let values = cutter.take(KV_PAGE_TOKENS * value_dim);
    let queries = cutter.take(rows * key_dim);
    let scores = cutter.take(rows * KV_PAGE_TOKENS);
    let outputs = cutter.take(rows * value_dim);
    let largest = cutter.take(rows);
    let totals = cutter.take(rows);
    for (index, row) in queries.chunks_exact_mut(group * key_dim).enumerate() {
        for (row, query) in row.iter_mut().zip(job.queries(first + index, head)) {
            *row = query * spec.scale;
        }
    }
    outputs.fill(0.0);
    largest.fill(f32::NEG_INFINITY);
    totals.fill(0.0);

    let (first_position, last_position) = (spec.first_position + first, spec.first_position + last - 1);
    let first_page = spec.first_seen(first_position) / KV_PAGE_TOKENS;
    for page in first_page..=last_position / KV_PAGE_TOKENS {
        let start = page * KV_PAGE_TOKENS;
        let filled = KV_PAGE_TOKENS.min(last_position + 1 - start);
        let columns = filled.next_multiple_of(16);
        // SAFETY: attention chose this path because the instructions exist.
        unsafe {
            avx2::transpose_keys(job.view.keys(page, head), key_dim, filled, keys);
            avx2::widen(job.view.values(page, head), &mut values[..filled * value_dim]);
            avx2::gemm(queries, key_dim, keys, KV_PAGE_TOKENS, scores, KV_PAGE_TOKENS, rows, columns, key_dim, false);
        }
        for row in 0..rows {
            let position = first_position + row / group;
            let seen_from = spec.first_seen(position).saturating_sub(start).min(columns);
            let seen_to = (position + 1).saturating_sub(start).min(filled);
            let scores = &mut scores[row * KV_PAGE_TOKENS..][..columns];
            let state = (&mut largest[row], &mut totals[row]);
            soften(spec, scores, seen_from, seen_to, state, &mut outputs[row * value_dim..][..value_dim]);
        }
        // SAFETY: as above.
        unsafe {
            avx2::gemm(scores, KV_PAGE_TOKENS, values, value_dim, outputs, value_dim, rows, value_dim, filled, true);
        }
    }
    for (index, outputs) in outputs.chunks_exact(group * value_dim).enumerate() {
        // SAFETY: each task writes its own heads of its own tokens.
        let out = unsafe { job.out(first + index, head) };
        for (h, (out, outputs)) in out.chunks_exact_mut(value_dim).zip(outputs.chunks_exact(value_dim)).enumerate() {
            let factor = 1.0 / totals[index * group + h];
            for (out, output) in out.iter_mut().zip(outputs) {
                *out = output * factor;
            }
        }
    }
}
