//! The same sizes computed a second time: closed formulas over wide integers, F3 and F5b of research/memory.md,
//! without the planner's types, walk or rounding.

use crate::{KvType, MemoryPlan, ModelShape, Precision};

fn up(value: u128, to: u128) -> u128 {
    value.div_ceil(to) * to
}

/// F3 per page of 64 tokens, with the scales of INT8 and INT4.
pub(super) fn page(heads: u32, key: u32, value: u32, kv: KvType) -> u128 {
    let (hk, dk, dv) = (u128::from(heads), u128::from(key), u128::from(value));
    match kv {
        KvType::Fp16 => 64 * hk * (dk + dv) * 2,
        KvType::Int8 => 64 * hk * (dk + dv) + 64 * hk * 2 * 2,
        KvType::Int4 => 64 * hk * (up(dk, 2) + up(dv, 2)) / 2 + 64 * hk * (up(dk, 32) / 32 + up(dv, 32) / 32) * 2,
    }
}

/// F5b: blocks of a window layer, `cdiv(min(W - 1 + C, T), block) + 1`, never more than the whole context.
pub(super) fn pages(window: Option<u32>, context: u32, chunk: u32) -> u128 {
    let whole = u128::from(context).div_ceil(64);
    match window {
        None => whole,
        Some(w) => whole.min((u128::from(w) - 1 + u128::from(chunk)).div_ceil(64) + 1),
    }
}

pub(super) fn weights(shape: &ModelShape, precision: Precision) -> u128 {
    let mut end = 0;
    for weight in &shape.weights {
        let (rows, cols) = (u128::from(weight.rows), u128::from(weight.cols));
        let bytes = if precision == shape.precision || rows < 2 || cols < 2 || cols % 32 != 0 {
            u128::from(weight.bytes.0)
        } else {
            let bits: u128 = match precision {
                Precision::Fp16 => 16 * 32,
                Precision::Int8 => 8 * 32 + 16,
                Precision::Int4 => 4 * 32 + 32,
            };
            rows * cols / 32 * bits / 8
        };
        end = up(end, 64) + bytes;
    }
    up(end, 4096)
}

pub(super) fn kv(shape: &ModelShape, kv: KvType, context: u32, chunk: u32, chats: u32) -> u128 {
    let pools: u128 = shape
        .layers
        .iter()
        .map(|layer| {
            let window = layer.window.map(|tokens| tokens.0);
            let bytes = page(layer.kv_heads, layer.key_dim, layer.value_dim, kv);
            up(bytes * pages(window, context, chunk) * u128::from(chats), 64)
        })
        .sum();
    up(pools, 4096)
}

pub(super) fn workspace(shape: &ModelShape, plan: &MemoryPlan) -> u128 {
    let c = u128::from(plan.chunk.0);
    let threads = u128::from(plan.threads);
    let d = u128::from(shape.embedding);
    let vocabulary = u128::from(shape.vocabulary);
    let most = |width: &dyn Fn(&crate::LayerShape) -> u128| shape.layers.iter().map(width).max().unwrap();
    let cols = shape.weights.iter().filter(|w| w.rows > 1).map(|w| u128::from(w.cols)).max().unwrap();
    let mut windows: Vec<_> = shape.layers.iter().map(|layer| layer.window.map(|tokens| tokens.0)).collect();
    windows.sort_unstable();
    windows.dedup();
    let tables: u128 =
        windows.iter().map(|&w| up(pages(w, plan.context.0, plan.chunk.0) * u128::from(plan.chats) * 4, 64)).sum();
    let parts = [
        3 * up(c * d * 4, 64),
        up(c * cols.div_ceil(32) * u128::from(shape.kernels.activation_group_bytes), 64),
        up(
            c * 4
                * most(&|l| {
                    let (h, hk) = (u128::from(l.heads), u128::from(l.kv_heads));
                    h * u128::from(l.key_dim) + hk * u128::from(l.key_dim + l.value_dim)
                }),
            64,
        ),
        up(c * 4 * most(&|l| u128::from(l.heads) * u128::from(l.value_dim)), 64),
        up(c * 4 * most(&|l| 2 * u128::from(l.feed_forward)), 64),
        threads * up(shape.kernels.matmul_scratch_per_thread.0.into(), 64),
        threads * up(shape.kernels.attention_scratch_per_thread.0.into(), 64),
        up(u128::from(shape.rope_tables) * c * most(&|l| l.key_dim.into()) * 4, 64),
        up(u128::from(plan.logits_rows) * vocabulary * 4, 64),
        up(vocabulary * 8, 64),
        up(c * 4, 64),
    ];
    let widest = shape.weights.iter().map(|w| u128::from(w.cols)).max().unwrap();
    up((tables + parts.iter().sum::<u128>()).max(threads * up(widest * 64, 64)), 4096)
}
