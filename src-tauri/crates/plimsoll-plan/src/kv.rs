//! KV pages: their size, their number, and which layers share a page table.

use serde::Serialize;

use crate::shape::{KvType, LayerShape, ModelShape, PAGE_TOKENS};
use crate::units::{Bytes, Tokens};

/// Values that share one scale in an INT4 cache.
const INT4_GROUP: u64 = 32;

/// Bytes of an f16 scale.
const SCALE: u64 = 2;

/// Layers whose caches hold the same positions, and so share one page table per conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KvClass {
    /// Sliding window; `None` = every position is kept.
    pub window: Option<Tokens>,
    /// Layers of this class, from 0.
    pub layers: Vec<usize>,
    /// Pages of one conversation in each of these layers.
    pub pages_per_chat: u32,
    /// Pages of all conversations in each of these layers: `pages_per_chat x chats`.
    pub pages: u32,
}

/// Bytes of one page (64 tokens, keys and values) of `layer`.
///
/// FP16 takes two bytes a value. INT8 takes one byte a value and an f16 scale per row and head, for keys and for
/// values. INT4 takes half a byte a value and an f16 scale per group of 32 values of a head.
pub fn page_bytes(layer: &LayerShape, kv: KvType) -> Bytes {
    let key = head_row_bytes(layer.key_dim, kv);
    let value = head_row_bytes(layer.value_dim, kv);
    key.plus(value).times(u64::from(layer.kv_heads)).times(u64::from(PAGE_TOKENS))
}

/// Bytes of one token's key, or value, in one head.
fn head_row_bytes(dim: u32, kv: KvType) -> Bytes {
    let dim = u64::from(dim);
    Bytes(match kv {
        KvType::Fp16 => dim * 2,
        KvType::Int8 => dim + SCALE,
        KvType::Int4 => dim.div_ceil(2) + dim.div_ceil(INT4_GROUP) * SCALE,
    })
}

/// Pages that one conversation needs in a layer with `window`, for `context` tokens prefilled in chunks of `chunk`.
///
/// A window layer holds the window and the chunk that is being computed: `W - 1 + C` tokens, and one page more,
/// since the window may start inside a page. (The rule of vLLM's `SlidingWindowSpec`.)
pub fn pages_per_chat(window: Option<Tokens>, context: Tokens, chunk: Tokens) -> u32 {
    let whole = context.pages();
    match window {
        None => whole,
        Some(window) => {
            let tokens = window.0.saturating_sub(1).saturating_add(chunk.0);
            whole.min(Tokens(tokens).pages().saturating_add(1))
        }
    }
}

/// The classes of `shape`, in the order of their first layers.
pub(crate) fn classes(shape: &ModelShape, context: Tokens, chunk: Tokens, chats: u32) -> Vec<KvClass> {
    let mut classes: Vec<KvClass> = Vec::new();
    for (index, layer) in shape.layers.iter().enumerate() {
        if let Some(class) = classes.iter_mut().find(|class| class.window == layer.window) {
            class.layers.push(index);
            continue;
        }
        let pages_per_chat = pages_per_chat(layer.window, context, chunk);
        let pages = pages_per_chat.saturating_mul(chats);
        classes.push(KvClass { window: layer.window, layers: vec![index], pages_per_chat, pages });
    }
    classes
}

/// Bytes that one more token of context costs in the layers that see everything.
pub(crate) fn bytes_per_token(shape: &ModelShape, kv: KvType) -> Bytes {
    let page: Bytes =
        shape.layers.iter().filter(|layer| layer.window.is_none()).map(|layer| page_bytes(layer, kv)).sum();
    Bytes(page.0 / u64::from(PAGE_TOKENS))
}
