//! Marks that keep look-alikes apart from the control tokens that the template writes.
//!
//! Before rendering, a character that occurs nowhere is put inside whatever looks like a control token in a
//! message, and at an edge of a message that could become one together with the template's own text. After
//! rendering, control tokens are whole only where the template wrote them; then the marks are taken out.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::control_tokens::ControlTokens;
use super::{PromptRole, RenderInput};

/// Characters that Unicode gives no meaning: no template trims, folds or splits at them.
const PRIVATE_USE: [std::ops::RangeInclusive<char>; 3] =
    ['\u{E000}'..='\u{F8FF}', '\u{F0000}'..='\u{FFFFD}', '\u{100000}'..='\u{10FFFD}'];

/// Which messages are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All.
    Everywhere,
    /// What people wrote; answers are left as they are.
    AllButAnswers,
}

impl Scope {
    pub(super) fn covers(self, role: PromptRole) -> bool {
        self == Self::Everywhere || role != PromptRole::Assistant
    }
}

/// The character that marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker(char);

impl Marker {
    /// A private-use character that is neither in the input nor in `taken`; `None` when all are used.
    pub(super) fn choose(input: &RenderInput<'_>, taken: &[char]) -> Option<Self> {
        let mut used: BTreeSet<char> = taken.iter().copied().collect();
        let mut note = |text: &str| used.extend(text.chars().filter(|&c| is_private_use(c)));
        input.messages.iter().for_each(|message| note(&message.content));
        input.control_tokens.iter().for_each(&mut note);
        note(input.bos);
        note(input.eos);
        for (name, value) in input.extra {
            note(name);
            for_each_string(value, &mut note);
        }
        PRIVATE_USE.iter().cloned().flatten().find(|c| !used.contains(c)).map(Self)
    }

    /// `text` with every look-alike broken.
    pub(super) fn mark(self, tokens: &ControlTokens, text: &str) -> String {
        let inner_start = text.len() - text.trim_start().len();
        let inner_end = text.trim_end().len().max(inner_start);
        let inner = text.get(inner_start..inner_end).unwrap_or_default();
        let at_start = tokens.could_end_at_start_of(inner) || tokens.could_surround(inner);
        let at_end = tokens.could_begin_at_end_of(inner);
        let mut out = String::with_capacity(text.len() + 16);
        let mut after_first = false;
        for (at, c) in text.char_indices() {
            // A match that starts at the character before goes through here.
            if after_first || (at == inner_start && at_start) || (at == inner_end && at_end) {
                out.push(self.0);
            }
            out.push(c);
            after_first = text.get(at..).is_some_and(|rest| tokens.at_start(rest).is_some());
        }
        if after_first || (inner_end == text.len() && at_end) {
            out.push(self.0);
        }
        out
    }

    /// `value` with every string in it marked.
    pub(super) fn mark_json(self, tokens: &ControlTokens, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.mark(tokens, text)),
            Json::Array(items) => Json::Array(items.iter().map(|item| self.mark_json(tokens, item)).collect()),
            Json::Object(fields) => {
                Json::Object(fields.iter().map(|(name, value)| (name.clone(), self.mark_json(tokens, value))).collect())
            }
            other => other.clone(),
        }
    }

    /// `text` without marks.
    pub(super) fn remove(self, text: &str) -> String {
        text.replace(self.0, "")
    }
}

/// Is there anything to mark?
pub(super) fn is_needed(input: &RenderInput<'_>) -> bool {
    let tokens = input.control_tokens;
    if tokens.is_empty() {
        return false;
    }
    // Marking with any character shows whether a place for one was found.
    let probe = Marker('\u{FFFF}');
    let changes = |text: &str| matches!(probe.marked(tokens, text), Cow::Owned(_));
    let mut needed = input.messages.iter().any(|message| changes(&message.content));
    for value in input.extra.values() {
        for_each_string(value, &mut |text| needed |= changes(text));
    }
    needed
}

impl Marker {
    fn marked<'a>(self, tokens: &ControlTokens, text: &'a str) -> Cow<'a, str> {
        let marked = self.mark(tokens, text);
        if marked.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(marked) }
    }
}

pub(super) fn is_private_use(c: char) -> bool {
    PRIVATE_USE.iter().any(|range| range.contains(&c))
}

fn for_each_string(value: &Json, see: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => see(text),
        Json::Array(items) => items.iter().for_each(|item| for_each_string(item, see)),
        Json::Object(fields) => fields.values().for_each(|value| for_each_string(value, see)),
        _ => {}
    }
}
