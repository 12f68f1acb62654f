//! Short names made from a message's first words.

use unicode_segmentation::UnicodeSegmentation as _;

/// Longest title, in characters as people count them.
const TITLE_LENGTH: usize = 60;

/// Longest name of a turn.
const NAME_LENGTH: usize = 32;

/// A conversation's title: the first line that says something, without Markdown's line markers.
pub fn title(text: &str) -> String {
    let line = text.lines().map(without_markers).find(|line| !line.is_empty()).unwrap_or_default();
    shorten(line, TITLE_LENGTH)
}

/// The first words of a message, enough to recognise it.
pub fn first_words(text: &str) -> String {
    shorten(text, NAME_LENGTH)
}

fn without_markers(line: &str) -> &str {
    let line = line.trim();
    let bare = line.trim_start_matches(|c: char| matches!(c, '#' | '>' | '*' | '-' | '`') || c.is_whitespace());
    // A line of nothing but markers (a rule, a fence) says nothing.
    if bare.is_empty() { "" } else { bare }
}

/// At most `limit` grapheme clusters with single spaces, cut after a word where one ends in the second half.
fn shorten(text: &str, limit: usize) -> String {
    // Words are taken only until the limit is passed: the text may be a megabyte.
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > limit {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        for cluster in word.graphemes(true).take(limit + 1) {
            line.push_str(cluster);
            length += 1;
        }
    }
    if length <= limit {
        return line;
    }
    let end = line.grapheme_indices(true).nth(limit.saturating_sub(1)).map_or(line.len(), |(end, _)| end);
    let (kept, _) = line.split_at(end);
    let at_word = kept.rfind(' ').filter(|&space| space * 2 >= kept.len());
    let kept = at_word.and_then(|space| kept.get(..space)).unwrap_or(kept);
    format!("{}…", kept.trim_end())
}
