//! SentencePiece BPE: characters are merged by the score of the token they make; what has no token becomes bytes.

use std::borrow::Cow;

use plimsoll_plan::Bytes;

use super::error::TokenizerError;
use super::merge::{Merged, Merger, NONE};
use super::vocabulary::Vocabulary;
use crate::gguf::{GgufError, GgufFile};

const SCORES: &str = "tokenizer.ggml.scores";

/// Longest text that is merged as a whole; longer text is cut. Far above any prompt that can be admitted.
const MAX_PIECE_BYTES: usize = 1 << 24;

/// In SentencePiece U+2581 *is* the space, so text that contains one cannot be told from text with a space. That holds
/// for runs of spaces that are user-defined tokens, too: this comes before any token is looked for.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if text.contains('\u{2581}') { Cow::Owned(text.replace('\u{2581}', " ")) } else { Cow::Borrowed(text) }
}

/// Scores of the tokens, and how text is prepared.
#[derive(Debug)]
pub(super) struct SentencePiece {
    /// Rank of each token: the higher its score, the smaller.
    ranks: Vec<u32>,
    add_space_prefix: bool,
}

impl SentencePiece {
    pub(super) fn from_gguf(file: &GgufFile, vocabulary: &Vocabulary) -> Result<Self, TokenizerError> {
        let missing = || GgufError::MissingKey { key: SCORES.to_owned() };
        let scores = file.array_f32(SCORES)?.ok_or_else(missing)?;
        let tokens = vocabulary.len() as usize;
        if scores.len() != tokens {
            return Err(TokenizerError::ArrayLength { key: SCORES, found: scores.len(), tokens });
        }
        let add_space_prefix = file.bool("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
        Ok(Self { ranks: scores.map(rank_of_score).collect(), add_space_prefix })
    }

    pub(super) fn adds_leading_space(&self) -> bool {
        self.add_space_prefix
    }

    /// `after_special`: the text begins the input or follows a special token, where the prefix space belongs.
    pub(super) fn encode(&self, text: &str, after_special: bool, vocabulary: &Vocabulary, ids: &mut Vec<u32>) {
        let prefix = if self.add_space_prefix && after_special { " " } else { "" };
        let text = format!("{prefix}{text}");
        let mut merger = Merger::default();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(rest.floor_char_boundary(MAX_PIECE_BYTES));
            self.encode_piece(piece, vocabulary, &mut merger, ids);
            rest = tail;
        }
    }

    fn encode_piece(&self, text: &str, vocabulary: &Vocabulary, merger: &mut Merger, ids: &mut Vec<u32>) {
        let bytes = text.as_bytes();
        let slice = |start: u32, len: u32| {
            let end = start.saturating_add(len) as usize;
            bytes.get(start as usize..end).unwrap_or_default()
        };
        merger.clear();
        let mut scratch = [0; 4];
        for character in text.chars() {
            let encoded = character.encode_utf8(&mut scratch).as_bytes();
            // At most 4.
            let len = u32::try_from(encoded.len()).unwrap_or(4);
            merger.push(vocabulary.text_id(encoded).unwrap_or(NONE), len);
        }
        merger.run(|left, right| {
            let id = vocabulary.text_id(slice(left.start, left.len.saturating_add(right.len)))?;
            Some(Merged { rank: self.ranks.get(id as usize).copied()?, id })
        });
        for symbol in merger.symbols() {
            if symbol.id == NONE {
                let bytes = slice(symbol.start, symbol.len).iter();
                ids.extend(bytes.filter_map(|byte| vocabulary.byte_token(*byte).or(vocabulary.unknown())));
            } else {
                ids.push(symbol.id);
            }
        }
    }

    pub(super) fn memory(&self) -> Bytes {
        Bytes(self.ranks.capacity().saturating_mul(size_of::<u32>()) as u64)
    }
}

/// Maps scores to ranks so that the order is reversed: the highest score has the smallest rank. NaN is last.
fn rank_of_score(score: f32) -> u32 {
    if score.is_nan() {
        return u32::MAX;
    }
    // Adding zero turns -0.0 into 0.0, which are the same score.
    let bits = (score + 0.0).to_bits();
    // Ascending keys for ascending floats: flip all bits of negatives, the sign bit of positives. Then reverse.
    let ascending = if bits >> 31 == 1 { !bits } else { bits | 0x8000_0000 };
    !ascending
}
