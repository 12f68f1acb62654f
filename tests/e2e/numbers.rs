//! Numbers as the page writes them for people.

use libtest_mimic::Trial;

use crate::trial;

/// All whole numbers in a text, thousands separators taken out.
pub fn all_in(text: &str) -> Vec<u64> {
    let joined: String = text.chars().filter(|c| !matches!(c, ',' | '\u{a0}' | '\u{202f}')).collect();
    joined.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

pub fn trials() -> Vec<Trial> {
    vec![
        trial("numbers::thousands_are_joined", || {
            assert_eq!(all_in("1,204 + 512 of 4,096"), [1204, 512, 4096]);
        }),
        trial("numbers::words_have_none", || assert_eq!(all_in("— tokens"), [0; 0])),
    ]
}
