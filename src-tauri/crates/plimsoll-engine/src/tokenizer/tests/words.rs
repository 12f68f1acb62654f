//! Splitting into words. The expected splits follow from the patterns in the models' own tokenizer files.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::TokenizerError;
use super::super::pre_tokenizer::PreTokenizer;

/// Every name, one for each recipe first.
const NAMES: [&str; 16] = [
    "gpt-2",
    "smollm",
    "llama-bpe",
    "qwen2",
    "tekken",
    "gpt-4o",
    "deepseek-coder",
    "deepseek-v3",
    "bloom",
    "viking",
    "bailingmoe",
    "qwen35",
    "default",
    "falcon",
    "dbrx",
    "starcoder",
];

static ALL: LazyLock<Vec<PreTokenizer>> =
    LazyLock::new(|| NAMES.iter().map(|name| PreTokenizer::named(name).unwrap()).collect());

fn split(pre: &str, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    PreTokenizer::named(pre).unwrap().split(text, &mut |word| words.push(word.to_owned()));
    words
}

#[test]
fn the_last_space_of_a_run_belongs_to_the_word_after_it() {
    for pre in ["gpt-2", "llama-bpe", "qwen2", "tekken", "gpt-4o", "smollm", "deepseek-v3"] {
        assert_eq!(split(pre, "a   b"), ["a", "  ", " b"], "{pre}");
        assert_eq!(split(pre, "a b"), ["a", " b"], "{pre}");
        assert_eq!(split(pre, "a  "), ["a", "  "], "{pre}");
        assert_eq!(split(pre, "   "), ["   "], "{pre}");
        assert_eq!(split(pre, " "), [" "], "{pre}");
        assert_eq!(split(pre, "a\u{a0}\u{3000}b").concat(), "a\u{a0}\u{3000}b", "{pre}");
    }
    assert_eq!(split("gpt-2", "a\t\tb"), ["a", "\t", "\t", "b"]);
    assert_eq!(split("llama-bpe", "a\t\tb"), ["a", "\t", "\tb"]);
}

#[test]
fn line_ends_stay_together_where_the_pattern_says() {
    assert_eq!(split("gpt-2", "a\n\n  b"), ["a", "\n\n ", " b"]);
    assert_eq!(split("llama-bpe", "a\n\n  b"), ["a", "\n\n", " ", " b"]);
    assert_eq!(split("llama-bpe", "a \n b"), ["a", " \n", " b"]);
    assert_eq!(split("llama-bpe", ");\r\n\r\nx"), [");\r\n\r\n", "x"]);
    assert_eq!(split("gpt-2", "\n\n\n"), ["\n\n\n"]);
}

#[test]
fn digits_are_grouped_as_each_family_does() {
    assert_eq!(split("gpt-2", "x 12345"), ["x", " 12345"]);
    assert_eq!(split("smollm", "x 123"), ["x", " ", "1", "2", "3"]);
    assert_eq!(split("llama-bpe", "12345"), ["123", "45"]);
    assert_eq!(split("qwen2", "123"), ["1", "2", "3"]);
    assert_eq!(split("deepseek-v3", "1234"), ["123", "4"]);
    assert_eq!(split("falcon", "12345"), ["123", "45"]);
    assert_eq!(split("smollm", "½Ⅷ٣"), ["½", "Ⅷ", "٣"], "number-like characters of all scripts");
}

#[test]
fn contractions_and_capitals() {
    assert_eq!(split("gpt-2", "I'll THEY'LL"), ["I", "'ll", " THEY", "'", "LL"]);
    assert_eq!(split("llama-bpe", "I'll THEY'LL"), ["I", "'ll", " THEY", "'LL"]);
    assert_eq!(split("gpt-4o", "I'll THEY'LL"), ["I'll", " THEY'LL"]);
    assert_eq!(split("tekken", "camelCase HTTPServer"), ["camel", "Case", " HTTPServer"]);
    assert_eq!(split("gpt-4o", "a/b//\n"), ["a", "/b", "//\n"]);
}

#[test]
fn scripts_and_marks() {
    assert_eq!(split("deepseek-v3", "ab漢字カナab"), ["ab", "漢字カナ", "ab"]);
    assert_eq!(split("qwen2", "e\u{301}a"), ["e", "\u{301}a"]);
    assert_eq!(split("qwen35", "e\u{301}a"), ["e\u{301}a"], "marks belong to their letter");
    assert_eq!(split("gpt-2", "👨\u{200d}👩 x"), ["👨\u{200d}👩", " x"]);
}

#[test]
fn an_unknown_name_is_refused_by_name() {
    for name in ["", "llama4-next", "GPT-2", "smollm "] {
        let refused = PreTokenizer::named(name);
        assert!(matches!(refused, Err(TokenizerError::UnsupportedTokenizer { pre }) if pre == name));
    }
}

#[test]
fn memory_counts_the_working_memory() {
    let pre_tokenizer = PreTokenizer::named("llama-bpe").unwrap();
    let before = pre_tokenizer.memory();
    assert!(before.0 > 50_000, "{before}");
    let text: String = (0x20..0x3000).filter_map(char::from_u32).collect();
    pre_tokenizer.split(&text, &mut |_| {});
    let after = pre_tokenizer.memory();
    assert!(after > before && after.0 < before.0 + (3 << 20), "{before} then {after}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_words_are_the_text(text in "\\PC*|[a1' \n\t\u{a0}é漢.]{0,60}") {
        for (name, pre_tokenizer) in NAMES.iter().zip(&*ALL) {
            let mut words = Vec::new();
            pre_tokenizer.split(&text, &mut |word| words.push(word));
            prop_assert!(words.iter().all(|word| !word.is_empty()), "{}", name);
            prop_assert_eq!(words.concat(), text.as_str(), "{}", name);
        }
    }
}
