//! Tokens that are found in the text as a whole, before any merging: control tokens (only where a template wrote the
//! text) and user-defined tokens (always).

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use plimsoll_plan::Bytes;

use super::error::TokenizerError;
use super::vocabulary::{TokenKind, Vocabulary};

/// Most bytes of all special tokens: the automaton costs a multiple of them. Gemma's 6,400 have 80 KB.
const MAX_SPECIAL_BYTES: usize = 1 << 20;

/// A part of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A special token.
    Token(u32),
    /// Text between special tokens, never empty.
    Text(&'a str),
}

/// Control, unknown and user-defined tokens, found leftmost first and longest first.
#[derive(Debug)]
pub(super) struct SpecialTokens {
    all: Matcher,
    user_defined: Matcher,
}

/// Ids ordered by text, and the automaton that finds them; pattern `n` is the text of `ids[n]`.
#[derive(Debug)]
struct Matcher {
    ids: Vec<u32>,
    automaton: AhoCorasick,
}

impl SpecialTokens {
    pub(super) fn new(vocabulary: &Vocabulary) -> Result<Self, TokenizerError> {
        let all = [TokenKind::Control, TokenKind::Unknown, TokenKind::UserDefined];
        Ok(Self {
            all: Matcher::new(&all, vocabulary)?,
            user_defined: Matcher::new(&[TokenKind::UserDefined], vocabulary)?,
        })
    }

    /// Splits `text` into special tokens and what lies between them.
    pub(super) fn split<'a>(&'a self, text: &'a str, parse_control: bool) -> impl Iterator<Item = Piece<'a>> {
        let matcher = if parse_control { &self.all } else { &self.user_defined };
        let mut from = 0;
        // One round more than there are matches, for the text after the last.
        let rounds = matcher.automaton.find_iter(text).map(Some).chain([None]);
        let pieces = rounds.map(move |found| {
            let (end, next) = found.map_or((text.len(), text.len()), |found| (found.start(), found.end()));
            let before = text.get(from..end).filter(|text| !text.is_empty()).map(Piece::Text);
            from = next;
            let token = found.and_then(|found| matcher.ids.get(found.pattern().as_usize()).copied());
            [before, token.map(Piece::Token)]
        });
        pieces.flatten().flatten()
    }

    /// Ids of all special tokens, ordered by their text.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.all.ids.iter().copied()
    }

    /// The special token with exactly this text.
    pub(super) fn id(&self, text: &[u8], vocabulary: &Vocabulary) -> Option<u32> {
        let at = self.all.ids.binary_search_by(|id| vocabulary.bytes(*id).cmp(text)).ok()?;
        self.all.ids.get(at).copied()
    }

    pub(super) fn memory(&self) -> Bytes {
        self.all.memory().plus(self.user_defined.memory())
    }
}

impl Matcher {
    fn new(wanted: &[TokenKind], vocabulary: &Vocabulary) -> Result<Self, TokenizerError> {
        let is_wanted = |id: &u32| vocabulary.kind(*id).is_some_and(|kind| wanted.contains(&kind));
        // A token without text would be found everywhere.
        let ids = (0..vocabulary.len()).filter(|id| is_wanted(id) && !vocabulary.bytes(*id).is_empty());
        let mut ids: Vec<u32> = ids.collect();
        // Of tokens with the same text the lowest id counts.
        ids.sort_by_key(|id| (vocabulary.bytes(*id), *id));
        ids.dedup_by_key(|id| vocabulary.bytes(*id));
        ids.shrink_to_fit();
        let bytes = ids.iter().map(|id| vocabulary.bytes(*id).len()).sum();
        let refused = |source| TokenizerError::SpecialTokens { tokens: ids.len(), bytes, source };
        if bytes > MAX_SPECIAL_BYTES {
            return Err(refused(None));
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(ids.iter().map(|id| vocabulary.bytes(*id)))
            .map_err(|source| refused(Some(Box::new(source))))?;
        Ok(Self { ids, automaton })
    }

    fn memory(&self) -> Bytes {
        let ids = self.ids.capacity().saturating_mul(size_of::<u32>());
        Bytes(ids.saturating_add(self.automaton.memory_usage()) as u64)
    }
}
