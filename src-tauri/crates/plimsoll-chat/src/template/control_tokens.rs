//! The control tokens of a vocabulary, found in text.

use super::marking::Marker;
use crate::prompt::Piece;

/// The control tokens of a vocabulary. Made once per model.
///
/// A control token of a single character is not among them: it cannot be told apart from the same character in a
/// message, and stays text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ControlTokens {
    /// The tokens, ascending.
    sorted: Vec<String>,
    /// The tokens read backwards, ascending.
    backwards: Vec<String>,
    /// Length in bytes of the longest.
    longest: usize,
    /// Their first two characters, ascending.
    starts: Vec<(char, char)>,
}

impl ControlTokens {
    /// The set of `tokens`.
    pub fn new(tokens: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut sorted: Vec<String> =
            tokens.into_iter().map(Into::into).filter(|token: &String| first_two(token).is_some()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut backwards: Vec<String> = sorted.iter().map(|token| reversed(token)).collect();
        backwards.sort_unstable();
        let longest = sorted.iter().map(String::len).max().unwrap_or(0);
        let mut starts: Vec<(char, char)> = sorted.iter().filter_map(|token| first_two(token)).collect();
        starts.sort_unstable();
        starts.dedup();
        Self { sorted, backwards, longest, starts }
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The tokens, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.sorted.iter().map(String::as_str)
    }

    /// Cuts rendered text at the control tokens in it, longest first, and takes the marks out of the rest.
    pub(super) fn split(&self, rendered: &str, marker: Option<Marker>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut text_start = 0;
        let mut skip_to = 0;
        let push_text = |pieces: &mut Vec<Piece>, text: &str| {
            let text = marker.map_or_else(|| text.to_owned(), |marker| marker.remove(text));
            if !text.is_empty() {
                pieces.push(Piece::Text(text));
            }
        };
        for (at, _) in rendered.char_indices() {
            if at < skip_to {
                continue;
            }
            let Some(token) = rendered.get(at..).and_then(|rest| self.at_start(rest)) else { continue };
            push_text(&mut pieces, rendered.get(text_start..at).unwrap_or_default());
            pieces.push(Piece::Special(token.to_owned()));
            text_start = at + token.len();
            skip_to = text_start;
        }
        push_text(&mut pieces, rendered.get(text_start..).unwrap_or_default());
        pieces
    }

    /// The longest token that `text` starts with.
    pub(super) fn at_start(&self, text: &str) -> Option<&str> {
        self.starts.binary_search(&first_two(text)?).ok()?;
        // Every token that `text` starts with is at most `text`, and so is at most what it shares with a greater one.
        let mut rest = text;
        loop {
            let at_most = self.sorted.partition_point(|token| token.as_str() <= rest);
            let token = self.sorted.get(at_most.checked_sub(1)?)?;
            let shared = shared_prefix(token, rest);
            if shared.len() == token.len() {
                return Some(token);
            }
            rest = shared;
        }
    }

    /// Does `text` end with the beginning of a token, so that what the template writes next could complete it?
    pub(super) fn could_begin_at_end_of(&self, text: &str) -> bool {
        tails(text, self.longest).any(|tail| is_proper_prefix(&self.sorted, tail))
    }

    /// Does `text` start with the end of a token, so that what the template wrote before could complete it?
    pub(super) fn could_end_at_start_of(&self, text: &str) -> bool {
        let head: String = text.chars().take(self.longest).collect();
        let backwards = reversed(&head);
        tails(&backwards, self.longest).any(|tail| is_proper_prefix(&self.backwards, tail))
    }

    /// Is `text` the inner part of a token?
    pub(super) fn could_surround(&self, text: &str) -> bool {
        !text.is_empty() && text.len() < self.longest && self.sorted.iter().any(|token| token.contains(text))
    }
}

fn first_two(text: &str) -> Option<(char, char)> {
    let mut chars = text.chars();
    Some((chars.next()?, chars.next()?))
}

/// What both start with.
fn shared_prefix<'a>(a: &str, b: &'a str) -> &'a str {
    let length: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    b.get(..length).unwrap_or_default()
}

/// Endings of `text`, shortest first, of at most `most` characters.
fn tails(text: &str, most: usize) -> impl Iterator<Item = &str> {
    text.char_indices().rev().take(most).filter_map(|(at, _)| text.get(at..))
}

/// Does any of the ascending `tokens` start with `text` and go on?
fn is_proper_prefix(tokens: &[String], text: &str) -> bool {
    let from = tokens.partition_point(|token| token.as_str() <= text);
    tokens.get(from).is_some_and(|token| token.starts_with(text))
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}
