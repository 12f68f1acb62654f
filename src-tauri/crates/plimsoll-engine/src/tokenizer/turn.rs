//! Which tokens end the assistant's turn.

use super::error::TokenizerError;
use super::special::SpecialTokens;
use super::vocabulary::{TokenKind, Vocabulary};
use crate::gguf::GgufFile;

/// Control tokens that end a turn in the chat formats that name them so.
const END_MARKERS: [&str; 11] = [
    "<|im_end|>",
    "<end_of_turn>",
    "<turn|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|call|>",
    "<EOT>",
    "<｜end▁of▁sentence｜>",
];

/// Makes end markers control tokens: some converters write them as normal or user-defined tokens, and then a reader
/// would see them and a template could not send them.
pub(super) fn promote_end_markers(
    file: &GgufFile,
    mut kinds: Vec<TokenKind>,
) -> Result<Vec<TokenKind>, TokenizerError> {
    let tokens = file.array_strings("tokenizer.ggml.tokens")?.into_iter().flatten();
    for (kind, token) in kinds.iter_mut().zip(tokens) {
        if END_MARKERS.iter().any(|marker| marker.as_bytes() == token) {
            *kind = TokenKind::Control;
        }
    }
    Ok(kinds)
}

/// Ids that end a turn, ascending: end of sequence, end of turn and end of message of the file, and the control tokens
/// with a known name.
pub(super) fn end_of_turn(
    file: &GgufFile,
    vocabulary: &Vocabulary,
    special: &SpecialTokens,
    eos: Option<u32>,
) -> Result<Vec<u32>, TokenizerError> {
    let mut ids: Vec<u32> = eos.into_iter().collect();
    for key in ["tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"] {
        ids.extend(vocabulary.optional_id(file, key)?);
    }
    ids.extend(END_MARKERS.iter().filter_map(|marker| special.id(marker.as_bytes(), vocabulary)));
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
