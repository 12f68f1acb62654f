//! Which configurations are tried, and in which order.

use crate::error::PlanError;
use crate::shape::{KvType, ModelShape, PAGE_TOKENS, PlanSettings, Precision};
use crate::units::Tokens;
use crate::weights;

/// All precisions, best first.
pub(crate) const PRECISIONS: [Precision; 3] = [Precision::Fp16, Precision::Int8, Precision::Int4];

/// KV types that the planner may choose by itself, best first. INT4 is left to the user: 4-bit keys cost small
/// models too much (research/memory.md 4.2: Qwen3-0.6B loses 250 % of its perplexity even with rotation).
const AUTOMATIC_KV: [KvType; 2] = [KvType::Fp16, KvType::Int8];

/// Prefill chunks that the planner may choose, best first.
const AUTOMATIC_CHUNKS: [u32; 4] = [512, 256, 128, 64];

/// One point of the planner's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Configuration {
    pub(crate) precision: Precision,
    pub(crate) kv: KvType,
    pub(crate) context: Tokens,
    pub(crate) chunk: Tokens,
}

/// The part of the choice that does not depend on the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preference {
    pub(crate) precision: Precision,
    pub(crate) kv: KvType,
    chunk: ChunkChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkChoice {
    /// The user's, never changed.
    Explicit(Tokens),
    /// The planner's: no longer than the context in whole pages, no shorter than one row per conversation.
    Automatic { at_most: u32, chats: u32 },
}

impl Preference {
    /// The configuration for `context`.
    pub(crate) fn at(self, context: Tokens) -> Configuration {
        let chunk = match self.chunk {
            ChunkChoice::Explicit(chunk) => chunk,
            ChunkChoice::Automatic { at_most, chats } => {
                let whole_pages = context.pages().saturating_mul(PAGE_TOKENS);
                Tokens(at_most.min(whole_pages).max(chats))
            }
        };
        Configuration { precision: self.precision, kv: self.kv, context, chunk }
    }
}

/// The preferences in `precision`, best first: a smaller chunk before a smaller KV type.
pub(crate) fn preferences(shape: &ModelShape, settings: &PlanSettings, precision: Precision) -> Vec<Preference> {
    let kv_types = match settings.kv {
        Some(kv) => vec![kv],
        None => automatic_kv(shape),
    };
    let chunks: Vec<ChunkChoice> = match settings.chunk {
        Some(chunk) => vec![ChunkChoice::Explicit(chunk)],
        None => {
            AUTOMATIC_CHUNKS.iter().map(|&at_most| ChunkChoice::Automatic { at_most, chats: settings.chats }).collect()
        }
    };
    kv_types.iter().flat_map(|&kv| chunks.iter().map(move |&chunk| Preference { precision, kv, chunk })).collect()
}

/// Precisions that the plan may take: the explicit one, or those that the file gives, best first.
pub(crate) fn precisions(shape: &ModelShape, settings: &PlanSettings) -> Vec<Precision> {
    match settings.precision {
        Some(precision) => vec![precision],
        None => PRECISIONS.into_iter().filter(|&precision| weights::is_available(shape, precision)).collect(),
    }
}

/// Checks the settings and the shape before any arithmetic.
pub(crate) fn validate(shape: &ModelShape, settings: &PlanSettings) -> Result<(), PlanError> {
    validate_shape(shape)?;
    if let Some(wanted) = settings.context {
        if wanted.0 == 0 {
            return Err(PlanError::ZeroContext);
        }
        if wanted > shape.trained_context {
            return Err(PlanError::ContextAboveTrained { wanted, trained: shape.trained_context });
        }
    }
    if settings.chats == 0 {
        return Err(PlanError::ZeroChats);
    }
    if settings.threads == 0 {
        return Err(PlanError::ZeroThreads);
    }
    if settings.logits_rows == 0 {
        return Err(PlanError::ZeroLogitsRows);
    }
    match settings.chunk {
        Some(Tokens(0)) => return Err(PlanError::ZeroChunk),
        Some(chunk) if chunk.0 < settings.chats => {
            return Err(PlanError::ChunkBelowChats { chunk, chats: settings.chats });
        }
        _ => {}
    }
    match settings.precision {
        Some(wanted) if !weights::is_available(shape, wanted) => {
            return Err(PlanError::PrecisionUnavailable { wanted, file: shape.precision });
        }
        _ => {}
    }
    match settings.kv {
        Some(wanted) if !shape.supported_kv.contains(&wanted) => Err(PlanError::KvUnavailable { wanted }),
        None if automatic_kv(shape).is_empty() => Err(PlanError::NoKvType),
        _ => Ok(()),
    }
}

fn automatic_kv(shape: &ModelShape) -> Vec<KvType> {
    AUTOMATIC_KV.into_iter().filter(|kv| shape.supported_kv.contains(kv)).collect()
}

fn validate_shape(shape: &ModelShape) -> Result<(), PlanError> {
    let empty = |field| Err(PlanError::EmptyShape { field });
    if shape.layers.is_empty() {
        return empty("layers");
    }
    if shape.embedding == 0 {
        return empty("embedding");
    }
    if shape.vocabulary == 0 {
        return empty("vocabulary");
    }
    if shape.trained_context.0 == 0 {
        return empty("trained context");
    }
    for (layer, part) in shape.layers.iter().enumerate() {
        let bad = |field| Err(PlanError::BadLayer { layer, field });
        if part.kv_heads == 0 || part.heads == 0 || !part.heads.is_multiple_of(part.kv_heads) {
            return bad("number of heads");
        }
        if part.key_dim == 0 {
            return bad("key dimension");
        }
        if part.value_dim == 0 {
            return bad("value dimension");
        }
        if part.window == Some(Tokens(0)) {
            return bad("window");
        }
    }
    Ok(())
}
