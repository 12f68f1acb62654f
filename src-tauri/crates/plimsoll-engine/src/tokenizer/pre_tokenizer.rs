//! Splits text into the words that are merged on their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_plan::Bytes;
use regex_automata::meta::{Cache, Regex};
use regex_automata::{Anchored, Input, Match, PatternID};

use super::error::TokenizerError;
use super::patterns::{Recipe, recipe};

/// Memory limit of one lazily built automaton. A regex has two, forward and backward.
const AUTOMATON_BYTES: usize = 1 << 20;

/// Splits text by one pattern after the other: what the first finds and what lies between is split by the second.
#[derive(Debug)]
pub(super) struct PreTokenizer {
    stages: Vec<Stage>,
    recipe: &'static Recipe,
    /// Working memory of the stages; empty while in use. A second caller at the same time makes its own.
    caches: Mutex<Vec<Cache>>,
}

#[derive(Debug)]
struct Stage {
    /// Pattern 0 is the stage's own; pattern 1, if any, is a run of spaces that leaves its last character to the word
    /// after it.
    regex: Regex,
    /// The pattern covers all text, so that a word begins where the one before ends.
    covers_all: bool,
}

impl PreTokenizer {
    /// The pre-tokenizer that `tokenizer.ggml.pre` names.
    pub(super) fn named(pre: &str) -> Result<Self, TokenizerError> {
        let recipe = recipe(pre).ok_or_else(|| TokenizerError::UnsupportedTokenizer { pre: pre.to_owned() })?;
        let refused = |source| TokenizerError::Pattern { pre: pre.to_owned(), source: Box::new(source) };
        let stages = recipe.stages.iter().map(|stage| {
            let config = Regex::config().hybrid_cache_capacity(AUTOMATON_BYTES);
            let patterns = [stage.pattern, r"\s+"];
            let patterns = patterns.get(..if stage.splits_spaces { 2 } else { 1 }).unwrap_or(&patterns);
            let regex = Regex::builder().configure(config).build_many(patterns).map_err(refused)?;
            Ok(Stage { regex, covers_all: stage.splits_spaces })
        });
        let stages: Vec<Stage> = stages.collect::<Result<_, TokenizerError>>()?;
        let caches = Mutex::new(new_caches(&stages));
        Ok(Self { stages, recipe, caches })
    }

    /// Is a word that is a token kept as it is, even if merging would give other tokens?
    pub(super) fn takes_whole_words(&self) -> bool {
        self.recipe.whole_words
    }

    /// Do models with this pre-tokenizer expect a beginning-of-sequence token if the file does not say?
    pub(super) fn adds_bos(&self) -> bool {
        self.recipe.adds_bos
    }

    /// Calls `word` for each word of `text`, in order. The words together are the text.
    pub(super) fn split<'a>(&self, text: &'a str, word: &mut dyn FnMut(&'a str)) {
        let mut caches = std::mem::take(&mut *self.lock());
        if caches.is_empty() {
            caches = new_caches(&self.stages);
        }
        split_by(&self.stages, &mut caches, text, word);
        *self.lock() = caches;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Cache>> {
        // Nothing can be half-done in there: the list is only ever swapped.
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn memory(&self) -> Bytes {
        let regexes: usize = self.stages.iter().map(|stage| stage.regex.memory_usage()).sum();
        let caches: usize = self.lock().iter().map(Cache::memory_usage).sum();
        Bytes(regexes.saturating_add(caches) as u64)
    }
}

impl Stage {
    /// The first word of `text`. Where a word must begin at once, that is asked first: the matcher need not run
    /// backwards to find where it began.
    fn find(&self, cache: &mut Cache, text: &str) -> Option<Match> {
        let anywhere = Input::new(text);
        let here = anywhere.clone().anchored(Anchored::Yes);
        let found = if self.covers_all { self.regex.search_with(cache, &here) } else { None };
        found.or_else(|| self.regex.search_with(cache, &anywhere))
    }
}

fn new_caches(stages: &[Stage]) -> Vec<Cache> {
    stages.iter().map(|stage| stage.regex.create_cache()).collect()
}

fn split_by<'a>(stages: &[Stage], caches: &mut [Cache], text: &'a str, word: &mut dyn FnMut(&'a str)) {
    if text.is_empty() {
        return;
    }
    let (Some((stage, stages)), Some((cache, caches))) = (stages.split_first(), caches.split_first_mut()) else {
        return word(text);
    };
    let mut rest = text;
    while let Some(found) = stage.find(cache, rest) {
        let (start, mut end) = (found.start(), found.end());
        if found.pattern() == PatternID::must(1) {
            end = without_last(rest, start, end);
        }
        if end == start {
            break;
        }
        let (before, tail) = rest.split_at(start);
        let (matched, tail) = tail.split_at(end.saturating_sub(start));
        split_by(stages, caches, before, word);
        split_by(stages, caches, matched, word);
        rest = tail;
    }
    split_by(stages, caches, rest, word);
}

/// End of the run of spaces `start..end` in `text` without its last character, if a word follows and something stays.
/// This is `\s+(?!\S)|\s+` without looking ahead, which a linear-time matcher cannot do.
fn without_last(text: &str, start: usize, end: usize) -> usize {
    let run = text.get(start..end).unwrap_or_default();
    match run.char_indices().next_back() {
        Some((last, _)) if last > 0 && end < text.len() => start.saturating_add(last),
        _ => end,
    }
}
