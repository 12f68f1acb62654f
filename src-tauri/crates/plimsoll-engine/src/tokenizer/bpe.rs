//! Byte-level BPE: split by a pattern, then merge bytes by rank.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use plimsoll_plan::Bytes;

use super::byte_level::decode_byte_level;
use super::error::TokenizerError;
use super::merge::{Merged, Merger, NONE};
use super::pre_tokenizer::PreTokenizer;
use super::vocabulary::Vocabulary;
use crate::gguf::{GgufError, GgufFile};

const MERGES: &str = "tokenizer.ggml.merges";

/// Longest word that is merged as a whole; longer ones are cut. Far above any prompt that can be admitted.
const MAX_WORD_BYTES: usize = 1 << 24;

/// One merge rule; its position is its rank.
#[derive(Debug, Clone, Copy)]
struct Rule {
    left: u32,
    right: u32,
    whole: u32,
}

/// Merge rules and the pattern that splits text into words.
#[derive(Debug)]
pub(super) struct Bpe {
    rules: Vec<Rule>,
    /// Ranks by pair. Seeded hash: the file is not trusted.
    by_pair: HashTable<u32>,
    hasher: RandomState,
    pre_tokenizer: PreTokenizer,
}

impl Bpe {
    pub(super) fn from_gguf(file: &GgufFile, vocabulary: &Vocabulary) -> Result<Self, TokenizerError> {
        let missing = || GgufError::MissingKey { key: MERGES.to_owned() };
        let pre_tokenizer = PreTokenizer::named(file.string("tokenizer.ggml.pre")?.unwrap_or("default"))?;
        let merges = file.array_strings(MERGES)?.ok_or_else(missing)?;
        let count = merges.len();
        let mut bpe = Self {
            rules: Vec::with_capacity(count),
            by_pair: HashTable::with_capacity(count),
            hasher: RandomState::new(),
            pre_tokenizer,
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (rank, rule) in merges.enumerate() {
            split_rule(rank, rule, &mut left, &mut right)?;
            let id = |bytes: &[u8]| {
                let missing = || TokenizerError::MergeOutsideVocabulary {
                    rank,
                    part: String::from_utf8_lossy(bytes.get(..64).unwrap_or(bytes)).into_owned(),
                };
                vocabulary.text_id(bytes).ok_or_else(missing)
            };
            let (left_id, right_id) = (id(&left)?, id(&right)?);
            left.extend(&right);
            bpe.insert(Rule { left: left_id, right: right_id, whole: id(&left)? });
        }
        Ok(bpe)
    }

    /// Adds the next rule. Of two rules for one pair the first counts.
    fn insert(&mut self, rule: Rule) {
        let rules = &self.rules;
        let pair = |rank: &u32| rules.get(*rank as usize).map(|rule| (rule.left, rule.right));
        let hash = self.hasher.hash_one((rule.left, rule.right));
        if self.by_pair.find(hash, |rank| pair(rank) == Some((rule.left, rule.right))).is_none() {
            let rank = u32::try_from(rules.len()).unwrap_or(NONE);
            self.by_pair.insert_unique(hash, rank, |rank| self.hasher.hash_one(pair(rank).unwrap_or_default()));
        }
        self.rules.push(rule);
    }

    fn merge_of(&self, left: u32, right: u32) -> Option<Merged> {
        let hash = self.hasher.hash_one((left, right));
        let matches =
            |rank: &u32| self.rules.get(*rank as usize).is_some_and(|rule| rule.left == left && rule.right == right);
        let rank = *self.by_pair.find(hash, matches)?;
        self.rules.get(rank as usize).map(|rule| Merged { rank, id: rule.whole })
    }

    pub(super) fn adds_bos_by_default(&self) -> bool {
        self.pre_tokenizer.adds_bos()
    }

    pub(super) fn encode(&self, text: &str, vocabulary: &Vocabulary, ids: &mut Vec<u32>) {
        let mut merger = Merger::default();
        self.pre_tokenizer.split(text, &mut |word| {
            for part in word.as_bytes().chunks(MAX_WORD_BYTES) {
                self.encode_word(part, vocabulary, &mut merger, ids);
            }
        });
    }

    fn encode_word(&self, word: &[u8], vocabulary: &Vocabulary, merger: &mut Merger, ids: &mut Vec<u32>) {
        if self.pre_tokenizer.takes_whole_words()
            && let Some(id) = vocabulary.text_id(word)
        {
            ids.push(id);
            return;
        }
        merger.clear();
        for byte in word {
            merger.push(vocabulary.byte_token(*byte).unwrap_or(NONE), 1);
        }
        merger.run(|left, right| self.merge_of(left.id, right.id));
        // A byte that has no token is dropped, as the reference does: these families have no token for the unknown, and
        // what the file names so is a control token that user text must not become.
        ids.extend(merger.symbols().map(|symbol| symbol.id).filter(|id| *id != NONE));
    }

    pub(super) fn memory(&self) -> Bytes {
        let rules = self.rules.capacity().saturating_mul(size_of::<Rule>());
        let tables = rules.saturating_add(self.by_pair.allocation_size()).saturating_add(size_of::<Self>());
        Bytes(tables as u64).plus(self.pre_tokenizer.memory())
    }
}

/// The bytes of both parts of a rule. The byte-level alphabet has no space, so the space separates.
fn split_rule(rank: usize, rule: &[u8], left: &mut Vec<u8>, right: &mut Vec<u8>) -> Result<(), TokenizerError> {
    let mut parts = rule.split(|byte| *byte == b' ');
    let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) else {
        let rule = String::from_utf8_lossy(rule.get(..64).unwrap_or(rule)).into_owned();
        return Err(TokenizerError::MalformedMerge { rank, rule });
    };
    left.clear();
    right.clear();
    decode_byte_level(first, left);
    decode_byte_level(second, right);
    Ok(())
}
