//! Text to token ids and back to bytes, from the tables in a GGUF file.
//!
//! Two families: byte-level BPE (`tokenizer.ggml.model` = `gpt2`) and SentencePiece BPE with byte fallback (`llama`).
//! Ids equal those of the model's reference tokenizer. All tables are flat: one blob of token bytes, offsets and hash
//! tables of ids, so that a vocabulary of 262,144 words costs about ten megabytes.

mod bpe;
mod byte_level;
mod error;
mod merge;
mod patterns;
mod pre_tokenizer;
mod sentencepiece;
mod special;
mod turn;
mod vocabulary;

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests"
)]
mod tests;

use std::borrow::Cow;

use plimsoll_plan::Bytes;

use crate::gguf::GgufFile;
use bpe::Bpe;
use sentencepiece::SentencePiece;
use special::SpecialTokens as SpecialTable;
use vocabulary::{TokenKind, Vocabulary};

pub use error::TokenizerError;

/// What to do with text that looks like a control token, for example `<|im_end|>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialTokens {
    /// It is text: what a user or a document wrote.
    AsText,
    /// It is the control token: what a template wrote.
    Parse,
}

/// A model's tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
    special: SpecialTable,
    algorithm: Algorithm,
    bos: Option<u32>,
    eos: Option<u32>,
    adds_bos: bool,
    /// Sorted ids that end the assistant's turn.
    end_of_turn: Vec<u32>,
    memory: Bytes,
}

/// Encoded once when a tokenizer is made, so that the tables which searching fills exist when its memory is counted:
/// a plan counts it before the first text, the engine after.
const WARM_UP: &str = "It's 1,234 words:\n\n  caf\u{e9}s, \u{6f22}\u{5b57} and \u{1f6a2}.";

#[derive(Debug)]
enum Algorithm {
    Bpe(Box<Bpe>),
    SentencePiece(SentencePiece),
}

impl Tokenizer {
    /// Builds the tokenizer that the file describes.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, TokenizerError> {
        let model = file.required_string("tokenizer.ggml.model")?;
        let byte_level = match model {
            "gpt2" => true,
            "llama" => false,
            _ => {
                return Err(TokenizerError::UnsupportedModel { model: model.to_owned() });
            }
        };
        let kinds = turn::promote_end_markers(file, vocabulary::read_kinds(file)?)?;
        let vocabulary = Vocabulary::from_gguf(file, kinds, byte_level)?;
        let special = SpecialTable::new(&vocabulary)?;
        let id = |key: &str| vocabulary.optional_id(file, key);
        let (bos, eos) = (id("tokenizer.ggml.bos_token_id")?, id("tokenizer.ggml.eos_token_id")?);
        let end_of_turn = turn::end_of_turn(file, &vocabulary, &special, eos)?;
        let (algorithm, adds_bos) = if byte_level {
            let bpe = Bpe::from_gguf(file, &vocabulary)?;
            let adds_bos = bpe.adds_bos_by_default();
            (Algorithm::Bpe(Box::new(bpe)), adds_bos)
        } else {
            (Algorithm::SentencePiece(SentencePiece::from_gguf(file, &vocabulary)?), true)
        };
        let adds_bos = file.bool("tokenizer.ggml.add_bos_token")?.unwrap_or(adds_bos) && bos.is_some();
        let mut tokenizer =
            Self { vocabulary, special, algorithm, bos, eos, adds_bos, end_of_turn, memory: Bytes::ZERO };
        let _ = tokenizer.encode(WARM_UP, SpecialTokens::Parse);
        tokenizer.memory = tokenizer.count_memory();
        Ok(tokenizer)
    }

    /// Token ids of `text`. Never adds a beginning-of-sequence token.
    pub fn encode(&self, text: &str, special: SpecialTokens) -> Vec<u32> {
        let text = match &self.algorithm {
            Algorithm::Bpe(_) => Cow::Borrowed(text),
            Algorithm::SentencePiece(_) => sentencepiece::normalize(text),
        };
        let mut ids = Vec::with_capacity(text.len() / 3);
        let mut after_special = true;
        for piece in self.special.split(&text, special == SpecialTokens::Parse) {
            match piece {
                special::Piece::Token(id) => {
                    ids.push(id);
                    after_special = true;
                }
                special::Piece::Text(text) => {
                    self.encode_text(text, after_special, &mut ids);
                    after_special = false;
                }
            }
        }
        ids
    }

    fn encode_text(&self, text: &str, after_special: bool, ids: &mut Vec<u32>) {
        match &self.algorithm {
            Algorithm::Bpe(bpe) => bpe.encode(text, &self.vocabulary, ids),
            Algorithm::SentencePiece(model) => {
                model.encode(text, after_special, &self.vocabulary, ids);
            }
        }
    }

    /// The beginning-of-sequence token.
    pub fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// The end-of-sequence token.
    pub fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// Does the model expect a sequence to begin with [`Tokenizer::bos`]?
    pub fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    /// Id of the control or user-defined token with exactly this text.
    pub fn special_id(&self, text: &str) -> Option<u32> {
        self.special.id(text.as_bytes(), &self.vocabulary)
    }

    /// Texts of the control tokens, in byte order.
    pub fn control_tokens(&self) -> impl Iterator<Item = &str> {
        let control = self.special.ids().filter(|id| self.is_control(*id));
        control.filter_map(|id| std::str::from_utf8(self.token_bytes(id)).ok())
    }

    /// Is this a control token? Control tokens steer the model and are not shown.
    pub fn is_control(&self, id: u32) -> bool {
        self.vocabulary.kind(id) == Some(TokenKind::Control)
    }

    /// Does this token end the assistant's turn?
    pub fn is_end_of_turn(&self, id: u32) -> bool {
        self.end_of_turn.binary_search(&id).is_ok()
    }

    /// Ids that end the assistant's turn, ascending.
    pub fn end_of_turn(&self) -> &[u32] {
        &self.end_of_turn
    }

    /// Bytes that a token stands for; empty if there is no such token. A single token can be part of a character.
    pub fn token_bytes(&self, id: u32) -> &[u8] {
        self.vocabulary.bytes(id)
    }

    /// Does text begin with a space that `encode` added and a reader should not see?
    pub fn adds_leading_space(&self) -> bool {
        matches!(&self.algorithm, Algorithm::SentencePiece(model) if model.adds_leading_space())
    }

    /// Count of tokens, unused ones included.
    pub fn vocabulary(&self) -> u32 {
        self.vocabulary.len()
    }

    /// Host memory of all tables.
    pub fn memory(&self) -> Bytes {
        self.memory
    }

    fn count_memory(&self) -> Bytes {
        let algorithm = match &self.algorithm {
            Algorithm::Bpe(bpe) => bpe.memory(),
            Algorithm::SentencePiece(model) => model.memory(),
        };
        let own = size_of::<Self>().saturating_add(self.end_of_turn.capacity().saturating_mul(size_of::<u32>()));
        [self.vocabulary.memory(), self.special.memory(), algorithm, Bytes(own as u64)].into_iter().sum()
    }
}
