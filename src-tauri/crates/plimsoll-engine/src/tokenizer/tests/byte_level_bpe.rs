//! Byte-level BPE.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn as_text(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    texts(tokenizer, &tokenizer.encode(text, SpecialTokens::AsText))
}

#[test]
fn the_alphabet_spells_every_byte() {
    let tokenizer = bytes_only("gpt-2").build();
    for byte in 0..=255_u8 {
        assert_eq!(tokenizer.token_bytes(u32::from(byte)), [byte], "{byte:#x} as {:?}", character(byte));
    }
    assert_eq!((character(b' '), character(b'\n'), character(0xad)), ('Ġ', 'Ċ', '\u{143}'));
    assert_eq!(tokenizer.encode("é ☃", SpecialTokens::AsText), [0xc3, 0xa9, 0x20, 0xe2, 0x98, 0x83]);
    assert!(tokenizer.encode("", SpecialTokens::Parse).is_empty());
}

#[test]
fn the_rule_that_comes_first_is_applied_first() {
    let tokenizer = bytes_only("gpt-2").merge("b", "c").merge("a", "b").merge("ab", "c").merge("a", "bc").build();
    assert_eq!(as_text(&tokenizer, "abc"), ["abc"], "a bc, since `b c` comes before `a b`");
    assert_eq!(as_text(&tokenizer, "ab"), ["ab"]);
    assert_eq!(as_text(&tokenizer, "ababc"), ["ab", "abc"]);
}

#[test]
fn of_equal_pairs_the_leftmost_is_merged() {
    let tokenizer = bytes_only("gpt-2").merge("a", "a").build();
    assert_eq!(as_text(&tokenizer, "aaa"), ["aa", "a"]);
    assert_eq!(as_text(&tokenizer, "aaaaa"), ["aa", "aa", "a"]);
    let tokenizer = bytes_only("gpt-2").merge("a", "a").merge("aa", "aa").build();
    assert_eq!(as_text(&tokenizer, &"a".repeat(11)), ["aaaa", "aaaa", "aa", "a"]);
}

#[test]
fn words_are_not_merged_with_each_other() {
    let tokenizer = bytes_only("gpt-2").merge("a", "Ġ").merge("Ġ", "b").merge("1", "2").build();
    assert_eq!(as_text(&tokenizer, "a b 12"), ["a", " b", " ", "12"]);
    let digits = bytes_only("smollm").merge("1", "2").build();
    assert_eq!(as_text(&digits, "12"), ["1", "2"], "smollm reads digits one by one");
}

#[test]
fn llama_3_takes_a_word_that_is_a_token_as_it_is() {
    // No rule makes "cat".
    let tables = |pre| bytes_only(pre).token("cat", NORMAL).merge("c", "a");
    assert_eq!(as_text(&tables("llama-bpe").build(), "cat"), ["cat"]);
    assert_eq!(as_text(&tables("qwen2").build(), "cat"), ["ca", "t"]);
}

#[test]
fn merging_never_makes_a_control_token() {
    // The whole is a control token only, or a text token as well.
    let only_control = bytes_only("gpt-2").token("<s", NORMAL).token("ab", CONTROL);
    let tokenizer = only_control.clone().token("ab", NORMAL);
    let tokenizer = Tables { merges: vec!["a b".into()], ..tokenizer }.build();
    assert_eq!(tokenizer.encode("ab", SpecialTokens::AsText), [258]);
    assert_eq!(tokenizer.encode("ab", SpecialTokens::Parse), [257]);
    let file = Tables { merges: vec!["a b".into()], ..only_control }.file();
    let refused = Tokenizer::from_gguf(&file);
    assert!(matches!(refused, Err(TokenizerError::MergeOutsideVocabulary { rank: 0, part }) if part == "ab"));
}

#[test]
fn a_byte_without_a_token_is_dropped_as_in_the_reference() {
    let mut tables = bytes_only("gpt-2").token("<|endoftext|>", CONTROL).id("tokenizer.ggml.unknown_token_id", 256);
    tables.tokens[4].0 = "<other>".to_owned();
    assert_eq!(tables.build().encode("a\u{4}b", SpecialTokens::AsText), [97, 98]);
}

#[test]
fn added_tokens_are_spelled_as_they_are() {
    let tokenizer = bytes_only("gpt-2").token("  ", USER_DEFINED).token("é", USER_DEFINED).token("Ġ!", NORMAL).build();
    assert_eq!(tokenizer.token_bytes(256), b"  ");
    assert_eq!(tokenizer.token_bytes(257), "é".as_bytes());
    assert_eq!(tokenizer.token_bytes(258), b" !");
    assert_eq!(tokenizer.encode("a  é", SpecialTokens::AsText), [97, 256, 257]);
}

#[test]
fn long_runs_take_time_in_proportion() {
    let mut tables = bytes_only("gpt-2");
    let mut part = "a".to_owned();
    for _ in 0..5 {
        tables = tables.merge(&part.clone(), &part.clone());
        part = part.repeat(2);
    }
    let tokenizer = tables.build();
    let start = std::time::Instant::now();
    let ids = tokenizer.encode(&"a".repeat(1 << 20), SpecialTokens::AsText);
    assert_eq!((ids.len(), tokenizer.token_bytes(ids[0]).len()), (1 << 15, 32));
    // A quadratic merge would take hours.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn many_threads_can_encode_at_once() {
    let tokenizer = bytes_only("llama-bpe").merge("a", "b").build();
    let text = "ab  abba \n 123 ab".repeat(50);
    let expected = tokenizer.encode(&text, SpecialTokens::AsText);
    std::thread::scope(|scope| {
        let rounds = || (0..50).all(|_| tokenizer.encode(&text, SpecialTokens::AsText) == expected);
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(rounds)).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
}

proptest! {
    #[test]
    fn ids_spell_the_text(text in "\\PC*|[ab<|> \n]{0,40}", parse: bool) {
        static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
            let tables = bytes_only("smollm").merge("a", "b").merge("Ġ", "a");
            tables.token("<|b|>", CONTROL).token("ba", USER_DEFINED).build()
        });
        let tokenizer = &*TOKENIZER;
        let special = if parse { SpecialTokens::Parse } else { SpecialTokens::AsText };
        let ids = tokenizer.encode(&text, special);
        let bytes: Vec<u8> = ids.iter().flat_map(|id| tokenizer.token_bytes(*id).to_vec()).collect();
        prop_assert_eq!(bytes, text.as_bytes());
    }
}
