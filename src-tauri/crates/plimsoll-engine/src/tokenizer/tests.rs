//! Small vocabularies whose ids can be worked out by hand. Ids of real models are compared with the reference
//! tokenizers in the workspace's integration tests.

mod byte_level_bpe;
mod merging;
mod refusals;
mod sentence_piece;
mod words;

use std::collections::BTreeSet;

use super::*;
use crate::gguf::write::GgufWriter;

const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const BYTE: i32 = 6;

/// A file's tokenizer metadata, to be changed by a test.
#[derive(Clone)]
struct Tables {
    model: &'static str,
    pre: Option<&'static str>,
    tokens: Vec<(String, i32, f32)>,
    merges: Vec<String>,
    ids: Vec<(&'static str, u32)>,
    flags: Vec<(&'static str, bool)>,
}

impl Tables {
    fn token(mut self, text: &str, kind: i32) -> Self {
        self.tokens.push((text.to_owned(), kind, 0.0));
        self
    }

    fn scored(mut self, text: &str, score: f32) -> Self {
        self.tokens.push((text.to_owned(), NORMAL, score));
        self
    }

    /// Adds a merge rule and the token it makes.
    fn merge(mut self, left: &str, right: &str) -> Self {
        self.merges.push(format!("{left} {right}"));
        self.token(&format!("{left}{right}"), NORMAL)
    }

    fn id(mut self, key: &'static str, id: u32) -> Self {
        self.ids.push((key, id));
        self
    }

    fn flag(mut self, key: &'static str, value: bool) -> Self {
        self.flags.push((key, value));
        self
    }

    fn file(&self) -> GgufFile {
        let mut writer = GgufWriter::new();
        writer.string("tokenizer.ggml.model", self.model);
        if let Some(pre) = self.pre {
            writer.string("tokenizer.ggml.pre", pre);
        }
        writer.array_strings("tokenizer.ggml.tokens", self.tokens.iter().map(|token| &token.0).collect::<Vec<_>>());
        let kinds: Vec<i32> = self.tokens.iter().map(|token| token.1).collect();
        writer.array_i32("tokenizer.ggml.token_type", &kinds);
        if self.model == "llama" {
            let scores: Vec<f32> = self.tokens.iter().map(|token| token.2).collect();
            writer.array_f32("tokenizer.ggml.scores", &scores);
        } else {
            writer.array_strings("tokenizer.ggml.merges", &self.merges);
        }
        for (key, id) in &self.ids {
            writer.u32(key, *id);
        }
        for (key, flag) in &self.flags {
            writer.bool(key, *flag);
        }
        written(&writer)
    }

    fn build(&self) -> Tokenizer {
        Tokenizer::from_gguf(&self.file()).unwrap()
    }
}

/// A byte-level vocabulary of the 256 single bytes; byte `b` has id `b`.
fn bytes_only(pre: &'static str) -> Tables {
    let tokens = (0..=255_u8).map(|byte| (character(byte).to_string(), NORMAL, 0.0)).collect();
    Tables { model: "gpt2", pre: Some(pre), tokens, merges: vec![], ids: vec![], flags: vec![] }
}

/// GPT-2's spelling of a byte, from its definition: printable bytes are themselves, the others count up from U+0100.
fn character(byte: u8) -> char {
    let printable = |byte: &u8| matches!(*byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if printable(&byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|other| !printable(other)).count();
    char::from_u32(0x100 + before as u32).unwrap()
}

/// A SentencePiece vocabulary: `<unk>` is 0, byte `b` is `b + 1`.
fn sentence_piece() -> Tables {
    let mut tokens = vec![("<unk>".to_owned(), UNKNOWN, 0.0)];
    tokens.extend((0..=255_u8).map(|byte| (format!("<0x{byte:02X}>"), BYTE, 0.0)));
    let ids = vec![("tokenizer.ggml.unknown_token_id", 0)];
    Tables { model: "llama", pre: None, tokens, merges: vec![], ids, flags: vec![] }
}

/// The file that a writer without tensors makes.
fn written(writer: &GgufWriter) -> GgufFile {
    let mut bytes = Vec::new();
    writer.write(&mut bytes, |_, _| Ok(())).unwrap();
    GgufFile::parse(bytes.as_slice(), bytes.len() as u64).unwrap()
}

fn texts(tokenizer: &Tokenizer, ids: &[u32]) -> Vec<String> {
    ids.iter().map(|id| String::from_utf8_lossy(tokenizer.token_bytes(*id)).into_owned()).collect()
}

#[test]
fn the_end_of_a_turn_is_known_by_id_and_by_name() {
    let base = bytes_only("gpt-2")
        .token("<|im_start|>", CONTROL)
        .token("<|im_end|>", CONTROL)
        .token("<|endoftext|>", CONTROL)
        .token("<eom>", CONTROL)
        .id("tokenizer.ggml.bos_token_id", 256);
    assert_eq!(base.build().end_of_turn(), [257]);
    let with_eos = base.clone().id("tokenizer.ggml.eos_token_id", 258);
    assert_eq!(with_eos.build().end_of_turn(), [257, 258]);
    let tokenizer = with_eos.id("tokenizer.ggml.eom_token_id", 259).build();
    assert_eq!(tokenizer.end_of_turn(), [257, 258, 259]);
    let ends: BTreeSet<u32> = (0..tokenizer.vocabulary()).filter(|id| tokenizer.is_end_of_turn(*id)).collect();
    assert_eq!(ends, BTreeSet::from([257, 258, 259]));
    assert_eq!((tokenizer.bos(), tokenizer.eos()), (Some(256), Some(258)));
}

#[test]
fn an_end_marker_is_a_control_token_whatever_the_file_says() {
    let tokenizer = bytes_only("gpt-2").token("<|im_end|>", USER_DEFINED).token("<|eot_id|>", NORMAL).build();
    assert!(tokenizer.is_control(256) && tokenizer.is_control(257));
    assert_eq!(tokenizer.end_of_turn(), [256, 257]);
    assert!(!tokenizer.encode("<|im_end|><|eot_id|>", SpecialTokens::AsText).iter().any(|id| *id > 255));
    assert_eq!(tokenizer.encode("<|im_end|><|eot_id|>", SpecialTokens::Parse), [256, 257]);
}

#[test]
fn special_tokens_are_found_leftmost_and_longest() {
    let tokenizer = bytes_only("gpt-2")
        .token("<a>", CONTROL)
        .token("<a><b>", CONTROL)
        .token("<b>", USER_DEFINED)
        .token("b><c", CONTROL)
        .token("<b>", CONTROL)
        .build();
    let parse = |text: &str| tokenizer.encode(text, SpecialTokens::Parse);
    let as_text = |text: &str| tokenizer.encode(text, SpecialTokens::AsText);
    assert_eq!(parse("<a><b>"), [257]);
    assert_eq!(parse("<a><a><b>"), [256, 257]);
    assert_eq!(parse("<b><c"), [258, u32::from(b'<'), u32::from(b'c')]);
    assert_eq!(as_text("<a"), [u32::from(b'<'), u32::from(b'a')]);
    assert_eq!(as_text("<a><b>"), [60, 97, 62, 258], "user-defined tokens are text that is found as a whole");
    assert_eq!(tokenizer.special_id("<b>"), Some(258), "the lowest of equals");
    assert_eq!((tokenizer.special_id("a"), tokenizer.special_id("<a")), (None, None));
    assert_eq!(tokenizer.control_tokens().collect::<Vec<_>>(), ["<a>", "<a><b>", "b><c"]);
}

#[test]
fn bos_is_added_only_where_it_exists() {
    let adds = |tables: &Tables| tables.build().adds_bos();
    let bos = |tables: Tables| tables.id("tokenizer.ggml.bos_token_id", 1);
    assert!(!adds(&bos(bytes_only("gpt-2"))));
    assert!(adds(&bos(bytes_only("llama-bpe"))), "its models expect it, though files often do not say");
    assert!(adds(&bos(sentence_piece())));
    assert!(!adds(&sentence_piece()), "there is none");
    assert!(!adds(&bos(sentence_piece()).flag("tokenizer.ggml.add_bos_token", false)));
    assert!(adds(&bos(bytes_only("gpt-2")).flag("tokenizer.ggml.add_bos_token", true)));
}

#[test]
fn memory_grows_with_the_tables() {
    let small = bytes_only("gpt-2").build().memory().0;
    let mut large = bytes_only("gpt-2");
    for number in 0..10_000 {
        large = large.token(&format!("word{number:05}"), NORMAL);
    }
    let grown = large.build().memory().0 - small;
    // Each of these has 9 bytes of text, 4 of offset, 1 of kind, and 5 to 10 for its place in the index.
    assert!((190_000..=260_000).contains(&grown), "{grown}");
}
