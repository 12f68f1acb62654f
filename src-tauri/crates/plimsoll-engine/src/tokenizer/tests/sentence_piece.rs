//! SentencePiece BPE.

use proptest::prelude::*;

use super::*;

fn as_text(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    texts(tokenizer, &tokenizer.encode(text, SpecialTokens::AsText))
}

/// Letters and a few words, without the space in front.
fn words() -> Tables {
    let tables =
        ["a", "b", "c", "\u{2581}"].iter().fold(sentence_piece(), |tables, letter| tables.scored(letter, -90.0));
    tables.flag("tokenizer.ggml.add_space_prefix", false)
}

#[test]
fn the_highest_score_is_merged_first() {
    let tokenizer = words().scored("ab", -2.0).scored("bc", -1.0).build();
    assert_eq!(as_text(&tokenizer, "abc"), ["a", "bc"]);
    let tokenizer = words().scored("ab", -1.0).scored("bc", -1.5).scored("abc", -80.0).build();
    assert_eq!(as_text(&tokenizer, "abcbc"), ["abc", "bc"]);
    let tokenizer = words().scored("ab", 1.0).scored("bc", 2.0).build();
    assert_eq!(as_text(&tokenizer, "abc"), ["a", "bc"], "positive scores");
    let tokenizer = words().scored("bc", f32::NAN).scored("ab", f32::NEG_INFINITY).build();
    assert_eq!(as_text(&tokenizer, "abc"), ["ab", "c"], "NaN is below everything");
}

#[test]
fn of_equal_scores_the_leftmost_is_merged() {
    for zero in [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0)] {
        let tokenizer = words().scored("ab", zero.0).scored("bc", zero.1).build();
        assert_eq!(as_text(&tokenizer, "abc"), ["ab", "c"]);
    }
    let tokenizer = words().scored("aa", -1.0).build();
    assert_eq!(as_text(&tokenizer, "aaaaa"), ["aa", "aa", "a"]);
}

#[test]
fn what_has_no_token_becomes_bytes() {
    let tokenizer = words().build();
    let ids = tokenizer.encode("a☃", SpecialTokens::AsText);
    assert_eq!(ids, [257, 0xe2 + 1, 0x98 + 1, 0x83 + 1]);
    assert_eq!(tokenizer.token_bytes(0xe3), [0xe2]);
    let mut no_bytes = words();
    no_bytes.tokens.iter_mut().filter(|token| token.1 == BYTE).for_each(|token| token.1 = CONTROL);
    assert_eq!(no_bytes.build().encode("a☃", SpecialTokens::AsText), [257, 0, 0, 0]);
}

#[test]
fn spaces_are_spelled_with_a_block_and_one_is_put_in_front() {
    let tables = || sentence_piece().scored("\u{2581}", -9.0).scored("a", -9.0).scored("\u{2581}a", -1.0);
    let tokenizer = tables().token("<s>", CONTROL).build();
    assert!(tokenizer.adds_leading_space());
    assert_eq!(as_text(&tokenizer, "a a"), [" a", " a"]);
    assert_eq!(as_text(&tokenizer, " a"), [" ", " a"]);
    assert!(tokenizer.encode("", SpecialTokens::AsText).is_empty());
    let after_special = tokenizer.encode("a<s>a", SpecialTokens::Parse);
    assert_eq!(texts(&tokenizer, &after_special), [" a", "<s>", " a"]);
    let without = tables().flag("tokenizer.ggml.add_space_prefix", false).build();
    assert!(!without.adds_leading_space());
    assert_eq!(as_text(&without, "a a"), ["a", " a"]);
    assert_eq!(as_text(&without, "a\u{2581}a"), ["a", " a"], "a typed block is a space");
}

#[test]
fn runs_that_are_tokens_are_found_before_merging() {
    let tokenizer = words()
        .token("\n", USER_DEFINED)
        .token("\n\n", USER_DEFINED)
        .token("\u{2581}\u{2581}", USER_DEFINED)
        .scored("\u{2581}a", -1.0)
        .build();
    assert_eq!(as_text(&tokenizer, "a\n\n\na"), ["a", "\n\n", "\n", "a"]);
    assert_eq!(as_text(&tokenizer, "a   a"), ["a", "  ", " a"]);
    assert_eq!(as_text(&tokenizer, "a  a"), ["a", "  ", "a"]);
    assert_eq!(as_text(&tokenizer, "a\u{2581} a"), ["a", "  ", "a"]);
}

#[test]
fn merging_never_makes_a_control_or_a_byte_token() {
    let tables = words().scored("<", -9.0).scored("s>", -9.0).scored(">", -9.0).scored("s", -9.0);
    let tokenizer = tables.token("<s>", CONTROL).scored("<0x4", -1.0).scored("1>", -1.0).build();
    assert_eq!(as_text(&tokenizer, "<s>"), ["<", "s>"]);
    assert_eq!(texts(&tokenizer, &tokenizer.encode("<s>", SpecialTokens::Parse)), ["<s>"]);
    let typed = tokenizer.encode("<0x41>", SpecialTokens::Parse);
    assert!(!typed.contains(&0x42), "{typed:?}");
    assert_eq!(texts(&tokenizer, &typed).concat(), "<0x41>");
}

#[test]
fn long_runs_take_time_in_proportion() {
    let tokenizer = words().scored("aa", -1.0).scored("aaaa", -2.0).build();
    let start = std::time::Instant::now();
    let ids = tokenizer.encode(&"a".repeat(1 << 20), SpecialTokens::AsText);
    assert_eq!(ids.len(), 1 << 18);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn ids_spell_the_text(text in "\\PC*|[abc<s> \n\u{2581}]{0,40}", prefix: bool) {
        let tables = words().scored("ab", -2.0).scored("\u{2581}a", -1.0).token("\n\n", USER_DEFINED).token("<s>", CONTROL);
        let flags = vec![("tokenizer.ggml.add_space_prefix", prefix)];
        let tokenizer = Tables { flags, ..tables }.build();
        let ids = tokenizer.encode(&text, SpecialTokens::AsText);
        let bytes: Vec<u8> = ids.iter().flat_map(|id| tokenizer.token_bytes(*id).to_vec()).collect();
        let spelled = String::from_utf8(bytes).unwrap();
        let text = text.replace('\u{2581}', " ");
        if !prefix {
            prop_assert_eq!(spelled, text);
        } else if !text.contains("\n\n") && !text.is_empty() {
            prop_assert_eq!(spelled, format!(" {text}"));
        }
    }
}
