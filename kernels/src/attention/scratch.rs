//! How the scratch of one thread is divided.

use crate::kv::KV_PAGE_TOKENS;

/// Rows (queries x heads of a group) that a prefill task works on: enough that turning the keys round is cheap.
const ROWS: usize = 64;

/// Partial results that a thread's scratch holds in decode.
pub(super) const PARTIALS: usize = 4;

/// Queries of a prefill task at most.
pub(super) const fn most_queries(group: usize) -> usize {
    if group >= ROWS { 1 } else { ROWS / group }
}

/// f32 values of one partial result: for each head of the group its output, largest score and sum of weights.
pub(super) const fn partial_len(group: usize, value_dim: usize) -> usize {
    group * (value_dim + 2)
}

/// f32 values in front of the partials: scaled queries and scores of the task in work.
pub(super) const fn decode_len(group: usize, key_dim: usize) -> usize {
    group * (key_dim + KV_PAGE_TOKENS)
}

/// f32 values of a prefill task: keys, values, scaled queries, scores, outputs, and the state of each row.
const fn prefill_len(group: usize, key_dim: usize, value_dim: usize) -> usize {
    let rows = most_queries(group) * group;
    KV_PAGE_TOKENS * (key_dim + value_dim) + rows * (key_dim + KV_PAGE_TOKENS + value_dim + 2)
}

/// Bytes of one thread, a multiple of 64.
pub(super) const fn bytes(group: usize, key_dim: usize, value_dim: usize) -> usize {
    let decode = decode_len(group, key_dim) + PARTIALS * partial_len(group, value_dim);
    let prefill = prefill_len(group, key_dim, value_dim);
    let values = if decode > prefill { decode } else { prefill };
    (values * size_of::<f32>()).next_multiple_of(64)
}

/// Cuts parts off the front of a scratch.
pub(super) struct Cutter<'a>(pub(super) &'a mut [f32]);

impl<'a> Cutter<'a> {
    pub(super) fn take(&mut self, len: usize) -> &'a mut [f32] {
        let (taken, rest) = std::mem::take(&mut self.0).split_at_mut(len);
        self.0 = rest;
        taken
    }
}
