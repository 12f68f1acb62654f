//! One query: the keys are split over the threads, the partial results merged.

use super::Job;
use super::scratch::{Cutter, PARTIALS, decode_len, partial_len};
use super::soften::soften;
use crate::cpu::avx2;
use crate::kv::KV_PAGE_TOKENS;
use crate::pool::Pool;
use crate::shared::SharedMut;

/// Attends with one query. `scratch` has `per_thread` values for each thread.
pub(super) fn run(pool: &Pool, job: &Job<'_>, scratch: SharedMut<'_, f32>, per_thread: usize) {
    let layout = job.view.layout;
    let position = job.spec.first_position;
    let first_page = job.spec.first_seen(position) / KV_PAGE_TOKENS;
    let pages = position / KV_PAGE_TOKENS + 1 - first_page;
    let slots = PARTIALS * pool.threads();
    let splits = (slots / layout.kv_heads).min(pages).max(1);
    let pages_per_split = pages.div_ceil(splits);
    let splits = pages.div_ceil(pages_per_split);
    let partial = partial_len(job.group, layout.value_dim);
    let work = decode_len(job.group, layout.key_dim);
    // Where task `task` leaves its result: in the scratch of some thread, behind what that thread works with.
    let place = |task: usize| task / PARTIALS * per_thread + work + task % PARTIALS * partial;

    pool.run(layout.kv_heads * splits, &|task, worker| {
        let (head, split) = (task / splits, task % splits);
        let first = first_page + split * pages_per_split;
        let last = (first + pages_per_split).min(first_page + pages);
        // SAFETY: a worker runs one task at a time, and the places of results lie behind the work areas.
        let work = unsafe { scratch.slice(worker * per_thread, work) };
        if splits == 1 {
            // SAFETY: each task writes its own heads.
            let out = unsafe { job.out(0, head) };
            let (mut largest, mut totals) = ([0.0; MOST_HEADS], [0.0; MOST_HEADS]);
            let (largest, totals) = (&mut largest[..job.group], &mut totals[..job.group]);
            attend(job, head, first..last, work, out, largest, totals);
            for (out, total) in out.chunks_exact_mut(layout.value_dim).zip(totals) {
                for out in out {
                    *out /= *total;
                }
            }
            return;
        }
        // SAFETY: each task has its own place.
        let mut partial = Cutter(unsafe { scratch.slice(place(task), partial) });
        let out = partial.take(job.group * layout.value_dim);
        let largest = partial.take(job.group);
        let totals = partial.take(job.group);
        attend(job, head, first..last, work, out, largest, totals);
    });
    if splits == 1 {
        return;
    }
    for head in 0..layout.kv_heads {
        // SAFETY: the region has ended, nobody else uses the scratch or the output.
        let out = unsafe { job.out(0, head) };
        for (h, out) in out.chunks_exact_mut(layout.value_dim).enumerate() {
            // SAFETY: as above.
            let parts = (0..splits).map(|split| unsafe { &*scratch.slice(place(head * splits + split), partial) });
            merge(parts, h, job.group, out);
        }
    }
}

/// Most heads of a group for which the state of the softmax lies on the stack.
pub(super) const MOST_HEADS: usize = 128;

/// Attends from the heads of a group to some pages of KV head `head`; `out` `[group][value_dim]` is not yet divided
/// by `totals`.
fn attend(
    job: &Job<'_>,
    head: usize,
    pages: std::ops::Range<usize>,
    work: &mut [f32],
    out: &mut [f32],
    largest: &mut [f32],
    totals: &mut [f32],
) {
    let (layout, spec) = (job.view.layout, job.spec);
    let (query, scores) = work.split_at_mut(job.group * layout.key_dim);
    for (scaled, query) in query.iter_mut().zip(job.queries(0, head)) {
        *scaled = query * spec.scale;
    }
    out.fill(0.0);
    largest.fill(f32::NEG_INFINITY);
    totals.fill(0.0);
    let position = spec.first_position;
    for page in pages {
        let start = page * KV_PAGE_TOKENS;
        let from = spec.first_seen(position).saturating_sub(start);
        let to = KV_PAGE_TOKENS.min(position + 1 - start);
        // SAFETY: attention chose this path because the instructions exist.
        unsafe { avx2::key_dots(query, job.view.keys(page, head), layout.key_dim, from, to, scores) };
        let rows = scores.chunks_exact_mut(KV_PAGE_TOKENS).zip(out.chunks_exact_mut(layout.value_dim));
        for ((scores, out), (largest, total)) in rows.zip(largest.iter_mut().zip(totals.iter_mut())) {
            soften(spec, scores, from, to, (largest, total), out);
        }
        // SAFETY: as above.
        unsafe { avx2::value_sums(scores, job.view.values(page, head), layout.value_dim, from, to, out) };
    }
}

/// Weighs the partial results of head `h` of a group by their sums.
fn merge<'a>(parts: impl Iterator<Item = &'a [f32]> + Clone, h: usize, group: usize, out: &mut [f32]) {
    let dim = out.len();
    let largest = |part: &[f32]| part[group * dim + h];
    let highest = parts.clone().map(largest).fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    out.fill(0.0);
    for part in parts {
        let weight = (largest(part) - highest).exp();
        total += weight * part[group * (dim + 1) + h];
        for (out, value) in out.iter_mut().zip(&part[h * dim..(h + 1) * dim]) {
            *out += weight * value;
        }
    }
    for out in out {
        *out /= total;
    }
}
