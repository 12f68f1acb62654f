//! Tables that cannot be a tokenizer.

use super::*;
use crate::gguf::GgufError;

fn error(tables: &Tables) -> TokenizerError {
    Tokenizer::from_gguf(&tables.file()).unwrap_err()
}

#[test]
fn families_and_splits_that_are_not_known() {
    let bert = Tables { model: "bert", ..bytes_only("gpt-2") };
    assert!(matches!(error(&bert), TokenizerError::UnsupportedModel { model } if model == "bert"));
    let unknown = bytes_only("megatron-7");
    assert!(matches!(error(&unknown), TokenizerError::UnsupportedTokenizer { pre } if pre == "megatron-7"));
    let unnamed = Tables { pre: None, ..bytes_only("") };
    assert!(Tokenizer::from_gguf(&unnamed.file()).is_ok(), "files without a name mean the default");
}

#[test]
fn missing_tables() {
    let missing = |model: &str, tokens: &[&str]| {
        let mut writer = GgufWriter::new();
        writer.string("tokenizer.ggml.model", model);
        if !tokens.is_empty() {
            writer.array_strings("tokenizer.ggml.tokens", tokens);
        }
        match Tokenizer::from_gguf(&written(&writer)) {
            Err(TokenizerError::Gguf(GgufError::MissingKey { key })) => key,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(missing("gpt2", &[]), "tokenizer.ggml.tokens");
    assert_eq!(missing("llama", &[]), "tokenizer.ggml.tokens");
    assert_eq!(missing("gpt2", &["a"]), "tokenizer.ggml.merges");
    assert_eq!(missing("llama", &["a"]), "tokenizer.ggml.scores");
}

#[test]
fn arrays_of_another_length() {
    let tables = sentence_piece();
    let mut writer = GgufWriter::new();
    writer
        .string("tokenizer.ggml.model", "llama")
        .array_strings("tokenizer.ggml.tokens", ["a", "b"])
        .array_f32("tokenizer.ggml.scores", &[0.0]);
    let refused = Tokenizer::from_gguf(&written(&writer)).unwrap_err();
    assert!(matches!(refused, TokenizerError::ArrayLength { found: 1, tokens: 2, .. }), "{refused}");
    for kind in [-1, 7, i32::MAX] {
        let wrong = tables.clone().token("x", kind);
        assert!(matches!(error(&wrong), TokenizerError::TokenKind { token: 257, kind: k } if k == i64::from(kind)));
    }
    let none = Tables { tokens: vec![], ids: vec![], ..tables };
    assert!(matches!(error(&none), TokenizerError::VocabularySize { tokens: 0, .. }));
}

#[test]
fn ids_outside_the_vocabulary() {
    for key in [
        "tokenizer.ggml.bos_token_id",
        "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.unknown_token_id",
        "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id",
    ] {
        for id in [256, u32::MAX] {
            let TokenizerError::IdOutsideVocabulary { key: k, id: i, tokens } = error(&bytes_only("gpt-2").id(key, id))
            else {
                panic!("{key} {id}")
            };
            assert_eq!((k.as_str(), i, tokens), (key, id, 256));
        }
    }
}

#[test]
fn merge_rules_that_are_none() {
    for rule in ["ab", "", "a b c", " a", "a ", "a  b"] {
        let tables = Tables { merges: vec![rule.to_owned()], ..bytes_only("gpt-2") };
        let error = error(&tables);
        let named = matches!(
            &error,
            TokenizerError::MalformedMerge { rank: 0, .. } | TokenizerError::MergeOutsideVocabulary { rank: 0, .. }
        );
        assert!(named, "{rule:?}: {error}");
    }
    let tables = Tables { merges: vec!["a b".to_owned()], ..bytes_only("gpt-2") };
    assert!(matches!(error(&tables), TokenizerError::MergeOutsideVocabulary { rank: 0, part } if part == "ab"));
}

#[test]
fn special_tokens_without_end() {
    let token = "x".repeat(1 << 19);
    let tables = bytes_only("gpt-2").token(&format!("{token}1"), CONTROL).token(&format!("{token}2"), CONTROL);
    assert!(matches!(error(&tables), TokenizerError::SpecialTokens { tokens: 2, .. }));
}

#[test]
fn a_special_token_without_text_is_never_found() {
    let tokenizer = bytes_only("gpt-2").token("", CONTROL).build();
    assert_eq!(tokenizer.encode("ab", SpecialTokens::Parse), [97, 98]);
    assert_eq!(tokenizer.special_id(""), None);
}
