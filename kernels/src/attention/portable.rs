//! The definition: one query of one head, one position after the other, with an online softmax.

use half::f16;

use super::AttentionSpec;
use crate::kv::{KV_PAGE_TOKENS, KvView};

/// Attends from `query` `[key_dim]` at `position` to KV head `head`; writes `out` `[value_dim]`.
pub(super) fn query(
    query: &[f32],
    view: &KvView<'_>,
    spec: &AttentionSpec,
    position: usize,
    head: usize,
    out: &mut [f32],
) {
    out.fill(0.0);
    let (mut largest, mut total) = (f32::NEG_INFINITY, 0.0);
    for seen in spec.first_seen(position)..=position {
        let (page, slot) = (seen / KV_PAGE_TOKENS, seen % KV_PAGE_TOKENS);
        let row = |bytes: &[u8], dim: usize, i: usize| {
            let at = (slot * dim + i) * size_of::<f16>();
            f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
        };
        let keys = view.keys(page, head);
        let dot: f32 = query.iter().enumerate().map(|(i, q)| q * row(keys, query.len(), i)).sum();
        let mut score = dot * spec.scale;
        if let Some(cap) = spec.softcap {
            score = cap * (score / cap).tanh();
        }
        let rescale = if score > largest { (largest - score).exp() } else { 1.0 };
        largest = largest.max(score);
        let weight = (score - largest).exp();
        total = total * rescale + weight;
        let values = view.values(page, head);
        let dim = out.len();
        for (i, out) in out.iter_mut().enumerate() {
            *out = *out * rescale + weight * row(values, dim, i);
        }
    }
    for out in out {
        *out /= total;
    }
}
