//! The vocabulary: the bytes and the kind of every token, and an index from bytes to id.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use plimsoll_plan::Bytes;

use super::byte_level::{byte_of_name, decode_byte_level};
use super::error::TokenizerError;
use crate::gguf::GgufFile;

/// Most tokens of a vocabulary; the largest published ones are below 2^19.
const MAX_TOKENS: u32 = 1 << 22;
const TOKENS: &str = "tokenizer.ggml.tokens";
const TOKEN_KINDS: &str = "tokenizer.ggml.token_type";

/// Kind of a token, as in `tokenizer.ggml.token_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

/// Bytes, kinds and index. Token bytes are what the token stands for: the byte-level alphabet is undone, a
/// SentencePiece U+2581 is a space, `<0x0A>` is one byte. Control tokens keep their name.
#[derive(Debug)]
pub(super) struct Vocabulary {
    blob: Vec<u8>,
    /// `ends[id]` is where the token ends in `blob`; it starts where the one before ends.
    ends: Vec<u32>,
    kinds: Vec<TokenKind>,
    /// Ids of the tokens that text can become, by bytes. Seeded hash: the file is not trusted.
    by_text: HashTable<u32>,
    hasher: RandomState,
    /// Token of each single byte: from the text tokens (byte-level) or the byte tokens (SentencePiece).
    byte_tokens: Vec<Option<u32>>,
    longest: usize,
    unknown: Option<u32>,
}

/// Kind of each token; an absent array means that all are normal.
pub(super) fn read_kinds(file: &GgufFile) -> Result<Vec<TokenKind>, TokenizerError> {
    let tokens = file.array_strings(TOKENS)?.map_or(0, |tokens| tokens.len());
    let Some(numbers) = file.array_integers(TOKEN_KINDS)? else {
        return Ok(vec![TokenKind::Normal; tokens]);
    };
    if numbers.len() != tokens {
        return Err(TokenizerError::ArrayLength { key: TOKEN_KINDS, found: numbers.len(), tokens });
    }
    let kind = |(token, kind): (usize, i64)| match kind {
        // 0 is "undefined"; files that have it mean an ordinary token.
        0 | 1 => Ok(TokenKind::Normal),
        2 => Ok(TokenKind::Unknown),
        3 => Ok(TokenKind::Control),
        4 => Ok(TokenKind::UserDefined),
        5 => Ok(TokenKind::Unused),
        6 => Ok(TokenKind::Byte),
        _ => Err(TokenizerError::TokenKind { token, kind }),
    };
    numbers.enumerate().map(kind).collect()
}

impl Vocabulary {
    /// Reads the tokens. `byte_level` says how normal tokens are spelled in the file.
    pub(super) fn from_gguf(file: &GgufFile, kinds: Vec<TokenKind>, byte_level: bool) -> Result<Self, TokenizerError> {
        let missing = || crate::gguf::GgufError::MissingKey { key: TOKENS.to_owned() };
        let tokens = file.array_strings(TOKENS)?.ok_or_else(missing)?;
        let count = tokens.len();
        let bytes: usize = tokens.clone().map(<[u8]>::len).sum();
        if count == 0 || count > MAX_TOKENS as usize || u32::try_from(bytes).is_err() {
            return Err(TokenizerError::VocabularySize { tokens: count, bytes, most: MAX_TOKENS });
        }
        let mut vocabulary = Self {
            blob: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(count),
            kinds,
            by_text: HashTable::with_capacity(count),
            hasher: RandomState::new(),
            byte_tokens: vec![None; 256],
            longest: 0,
            unknown: None,
        };
        for (token, kind) in tokens.zip(vocabulary.kinds.clone()) {
            vocabulary.push(token, kind, byte_level);
        }
        vocabulary.blob.shrink_to_fit();
        vocabulary.index(byte_level);
        vocabulary.unknown = vocabulary.optional_id(file, "tokenizer.ggml.unknown_token_id")?;
        Ok(vocabulary)
    }

    fn push(&mut self, token: &[u8], kind: TokenKind, byte_level: bool) {
        let start = self.blob.len();
        match kind {
            TokenKind::Byte => match byte_of_name(token) {
                Some(byte) => self.blob.push(byte),
                None => self.blob.extend(token),
            },
            TokenKind::Normal | TokenKind::Unused if byte_level => {
                decode_byte_level(token, &mut self.blob);
            }
            TokenKind::Normal | TokenKind::Unused | TokenKind::UserDefined if !byte_level => {
                unescape_spaces(token, &mut self.blob);
            }
            _ => self.blob.extend(token),
        }
        self.longest = self.longest.max(self.blob.len().saturating_sub(start));
        // Fits: the sum of all token lengths does, and no token grows.
        self.ends.push(u32::try_from(self.blob.len()).unwrap_or(u32::MAX));
    }

    /// Fills the index. Normal tokens win over user-defined ones of the same bytes, and lower ids over higher ones.
    fn index(&mut self, byte_level: bool) {
        for wanted in [TokenKind::Normal, TokenKind::UserDefined, TokenKind::Unused] {
            for id in (0..self.len()).filter(|id| self.kinds.get(*id as usize) == Some(&wanted)) {
                let (blob, ends) = (&self.blob, &self.ends);
                let bytes = token_bytes(blob, ends, id);
                let hash = self.hasher.hash_one(bytes);
                if self.by_text.find(hash, |other| token_bytes(blob, ends, *other) == bytes).is_none() {
                    let rehash = |other: &u32| self.hasher.hash_one(token_bytes(blob, ends, *other));
                    self.by_text.insert_unique(hash, id, rehash);
                }
            }
        }
        for (byte, slot) in (0..=u8::MAX).zip(&mut self.byte_tokens) {
            *slot = if byte_level { find(&self.by_text, &self.hasher, &self.blob, &self.ends, &[byte]) } else { None };
        }
        if !byte_level {
            let byte_ids = (0..).zip(&self.kinds).filter(|(_, kind)| **kind == TokenKind::Byte);
            for (id, _) in byte_ids {
                if let [byte] = token_bytes(&self.blob, &self.ends, id)
                    && let Some(slot) = self.byte_tokens.get_mut(usize::from(*byte))
                {
                    slot.get_or_insert(id);
                }
            }
        }
    }

    pub(super) fn len(&self) -> u32 {
        // At most `MAX_TOKENS`.
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn bytes(&self, id: u32) -> &[u8] {
        token_bytes(&self.blob, &self.ends, id)
    }

    pub(super) fn kind(&self, id: u32) -> Option<TokenKind> {
        self.kinds.get(id as usize).copied()
    }

    /// Token that text of exactly these bytes becomes; never a control token.
    pub(super) fn text_id(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest {
            return None;
        }
        find(&self.by_text, &self.hasher, &self.blob, &self.ends, bytes)
    }

    /// Token of one byte on its own.
    pub(super) fn byte_token(&self, byte: u8) -> Option<u32> {
        self.byte_tokens.get(usize::from(byte)).copied().flatten()
    }

    /// What stands for bytes that have no token.
    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// A token id in the metadata, checked against the vocabulary.
    pub(super) fn optional_id(&self, file: &GgufFile, key: &str) -> Result<Option<u32>, TokenizerError> {
        match file.u32(key)? {
            Some(id) if id >= self.len() => {
                Err(TokenizerError::IdOutsideVocabulary { key: key.to_owned(), id, tokens: self.len() })
            }
            id => Ok(id),
        }
    }

    pub(super) fn memory(&self) -> Bytes {
        let bytes = self.blob.capacity();
        let ends = self.ends.capacity().saturating_mul(size_of::<u32>());
        let kinds = self.kinds.capacity().saturating_mul(size_of::<TokenKind>());
        let byte_tokens = self.byte_tokens.capacity().saturating_mul(size_of::<Option<u32>>());
        let sum =
            [ends, kinds, byte_tokens, self.by_text.allocation_size()].into_iter().fold(bytes, usize::saturating_add);
        Bytes(sum as u64)
    }
}

fn token_bytes<'a>(blob: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let at = id as usize;
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    ends.get(at).and_then(|end| blob.get(start..*end as usize)).unwrap_or_default()
}

fn find(table: &HashTable<u32>, hasher: &RandomState, blob: &[u8], ends: &[u32], bytes: &[u8]) -> Option<u32> {
    table.find(hasher.hash_one(bytes), |id| token_bytes(blob, ends, *id) == bytes).copied()
}

/// Appends `token` with every U+2581 as a space.
fn unescape_spaces(token: &[u8], out: &mut Vec<u8>) {
    let mut rest = token;
    while let Some((byte, tail)) = rest.split_first() {
        if let Some(tail) = rest.strip_prefix("\u{2581}".as_bytes()) {
            out.push(b' ');
            rest = tail;
        } else {
            out.push(*byte);
            rest = tail;
        }
    }
}
