//! Token ids against the reference tokenizers (`fixtures/scripts/tokens.py`).

use std::sync::Arc;

use plimsoll_engine::ModelFile;
use plimsoll_engine::tokenizer::{SpecialTokens, Tokenizer};
use plimsoll_tests::{fixtures, models};

fn tokenizer(key: &str) -> Arc<Tokenizer> {
    Arc::clone(ModelFile::open(&models::by_key(key)).unwrap().tokenizer())
}

fn check(key: &str) {
    let tokenizer = tokenizer(key);
    let fixture = fixtures::tokens(key);
    assert!(fixture.texts.len() >= 120, "the corpus is whole");
    let mut wrong = Vec::new();
    for text in &fixture.texts {
        let as_text = tokenizer.encode(&text.text, SpecialTokens::AsText);
        if as_text != text.as_text {
            wrong.push(format!("{} as text:\n  {as_text:?}\n  {:?}", text.name, text.as_text));
        }
        let parsed = tokenizer.encode(&text.text, SpecialTokens::Parse);
        let expected = text.parse.as_ref().unwrap_or(&text.as_text);
        if parsed != *expected {
            wrong.push(format!("{} parsed:\n  {parsed:?}\n  {expected:?}", text.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {} texts:\n{}", wrong.len(), fixture.texts.len(), wrong.join("\n"));
}

#[test]
fn smollm2_ids_equal_the_references() {
    check("smollm2");
}

#[test]
fn gemma3_ids_equal_the_references() {
    check("gemma3");
}

/// The bytes of the ids are the bytes of the text: nothing is normalised, and nothing is lost but bytes that the
/// vocabulary has no token for (SmolLM2's has none for eleven control characters and some invalid bytes).
#[test]
fn ids_spell_the_text() {
    for key in ["smollm2", "gemma3"] {
        let tokenizer = tokenizer(key);
        let mut has_token = [false; 256];
        for id in 0..tokenizer.vocabulary() {
            if let [byte] = tokenizer.token_bytes(id) {
                has_token[usize::from(*byte)] = true;
            }
        }
        assert!(has_token[usize::from(b' ')..127].iter().all(|&has| has), "{key}: printable ASCII has tokens");
        for text in fixtures::tokens(key).texts {
            let ids = tokenizer.encode(&text.text, SpecialTokens::AsText);
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| tokenizer.token_bytes(id).to_vec()).collect();
            // SentencePiece's alphabet writes a space as U+2581: the two are the same to it.
            let expected = if key == "gemma3" { text.text.replace('\u{2581}', " ") } else { text.text };
            let expected: Vec<u8> = expected.bytes().filter(|&byte| has_token[usize::from(byte)]).collect();
            assert_eq!(bytes, expected, "{key} {}", text.name);
        }
    }
}

/// What users type never becomes a control token.
#[test]
fn typed_look_alikes_stay_text() {
    for key in ["smollm2", "gemma3"] {
        let tokenizer = tokenizer(key);
        let control: Vec<u32> =
            tokenizer.control_tokens().map(|token| tokenizer.special_id(token).expect("it has an id")).collect();
        assert!(control.len() > 10, "{key} has control tokens");
        for token in tokenizer.control_tokens() {
            for text in [token.to_owned(), format!("a{token}b"), format!(" {token} {token}\n")] {
                let ids = tokenizer.encode(&text, SpecialTokens::AsText);
                assert!(ids.iter().all(|id| !control.contains(id)), "{key}: {text:?} became {ids:?}");
            }
            assert_eq!(tokenizer.encode(token, SpecialTokens::Parse), [tokenizer.special_id(token).unwrap()]);
        }
    }
}

/// 1 MB without a break must not take quadratic time.
#[test]
fn a_megabyte_is_tokenized_in_seconds() {
    for key in ["smollm2", "gemma3"] {
        let tokenizer = tokenizer(key);
        for text in
            ["a".repeat(1 << 20), "lorem ipsum ".repeat(1 << 17), "\u{1f602}".repeat(1 << 18), " ".repeat(1 << 20)]
        {
            let start = std::time::Instant::now();
            let ids = tokenizer.encode(&text, SpecialTokens::AsText);
            let seconds = start.elapsed().as_secs_f64();
            assert!(!ids.is_empty() && ids.len() <= text.len());
            assert!(seconds < 20.0, "{key}: {seconds:.1} s for {} bytes", text.len());
        }
    }
}
