//! The stream against the text of all bytes at once.

use proptest::prelude::*;

use super::stop::StopStrings;
use super::utf8::LossyUtf8;
use super::*;
use crate::gguf::GgufFile;
use crate::gguf::write::GgufWriter;

/// A SentencePiece tokenizer: a token for each byte, some words, and one control token.
fn tokenizer(add_space_prefix: bool) -> Arc<Tokenizer> {
    let mut tokens: Vec<String> = (0..=255_u8).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut kinds = vec![6; 256];
    for (token, kind) in [("<end_of_turn>", 3), ("\u{2581}Hi", 1), ("\u{2581}", 1), ("\u{2581}\u{2581}", 4), ("é", 1)]
    {
        tokens.push(token.to_owned());
        kinds.push(kind);
    }
    let mut writer = GgufWriter::new();
    writer
        .string("tokenizer.ggml.model", "llama")
        .bool("tokenizer.ggml.add_space_prefix", add_space_prefix)
        .array_f32("tokenizer.ggml.scores", &vec![0.0; tokens.len()])
        .array_strings("tokenizer.ggml.tokens", tokens)
        .array_i32("tokenizer.ggml.token_type", &kinds);
    let mut bytes = Vec::new();
    writer.write(&mut bytes, |_, _| Ok(())).unwrap();
    let file = GgufFile::parse(bytes.as_slice(), bytes.len() as u64).unwrap();
    Arc::new(Tokenizer::from_gguf(&file).unwrap())
}

const CONTROL: u32 = 256;
const HI: u32 = 257;
const SPACE: u32 = 258;
const TWO_SPACES: u32 = 259;
const E_ACUTE: u32 = 260;

/// Deltas for `ids`, the tail last.
fn stream(tokenizer: &Arc<Tokenizer>, ids: &[u32], stop: &[&str]) -> (Vec<String>, Progress) {
    let stop: Vec<String> = stop.iter().map(|stop| (*stop).to_owned()).collect();
    let mut detokenizer = Detokenizer::new(Arc::clone(tokenizer), &stop);
    let mut deltas = Vec::new();
    for id in ids {
        let mut delta = String::new();
        let progress = detokenizer.push(*id, &mut delta);
        deltas.push(delta);
        if progress == Progress::Stopped {
            break;
        }
    }
    let mut tail = String::new();
    let progress = detokenizer.finish(&mut tail);
    deltas.push(tail);
    (deltas, progress)
}

fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(u32::from).collect()
}

#[test]
fn a_character_is_emitted_once_it_is_whole() {
    let (deltas, _) = stream(&tokenizer(false), &bytes("aé☃"), &[]);
    assert_eq!(deltas, ["a", "", "é", "", "", "☃", ""]);
    let (deltas, _) = stream(&tokenizer(false), &[0xe2, 0x98, E_ACUTE, 0xf0, 0x9f], &[]);
    assert_eq!(deltas, ["", "", "\u{fffd}é", "", "", "\u{fffd}"]);
}

#[test]
fn control_tokens_and_unknown_ids_have_no_text() {
    let (deltas, _) = stream(&tokenizer(false), &[CONTROL, HI, CONTROL, 9999, HI], &[]);
    assert_eq!(deltas.concat(), " Hi Hi");
}

#[test]
fn the_space_that_encoding_adds_is_not_shown() {
    let with_prefix = tokenizer(true);
    assert_eq!(stream(&with_prefix, &[HI, HI], &[]).0.concat(), "Hi Hi");
    assert_eq!(stream(&with_prefix, &[CONTROL, HI], &[]).0.concat(), "Hi");
    assert_eq!(stream(&with_prefix, &[SPACE, HI], &[]).0.concat(), " Hi");
    assert_eq!(stream(&with_prefix, &[TWO_SPACES, E_ACUTE], &[]).0.concat(), " é");
    assert_eq!(stream(&with_prefix, &[E_ACUTE, SPACE], &[]).0.concat(), "é ");
    assert_eq!(stream(&tokenizer(false), &[HI, HI], &[]).0.concat(), " Hi Hi");
}

#[test]
fn what_may_become_a_stop_string_is_held() {
    let t = tokenizer(false);
    let (deltas, progress) = stream(&t, &bytes("ab<sx<stop>cd"), &["<stop>"]);
    assert_eq!(deltas.concat(), "ab<sx");
    assert_eq!(deltas[..5], ["a", "b", "", "", "<sx"]);
    assert_eq!(progress, Progress::Stopped);
    // The end of the answer releases what was held.
    let (deltas, progress) = stream(&t, &bytes("ab<sto"), &["<stop>"]);
    assert_eq!((deltas.concat().as_str(), deltas.last().unwrap().as_str()), ("ab<sto", "<sto"));
    assert_eq!(progress, Progress::Open);
}

#[test]
fn the_stop_string_that_is_complete_first_counts() {
    let t = tokenizer(false);
    for (text, stop, expected) in [
        ("aab", &["ab"][..], "a"),
        ("ababac", &["abac"], "ab"),
        ("xabcx", &["abc", "b"], "xa"),
        ("xabc", &["abc", "bc"], "x"),
        ("x\u{fffd}", &["\u{fffd}"], "x"),
        ("é☃", &["☃"], "é"),
        ("abc", &["", "c"], "ab"),
        ("abc", &["abc"], ""),
        ("abc", &["abcd"], "abc"),
    ] {
        assert_eq!(stream(&t, &bytes(text), stop).0.concat(), expected, "{text} {stop:?}");
    }
    // An unfinished character at the end can complete a stop string.
    let (deltas, progress) = stream(&t, &[0x61, 0xe2], &["\u{fffd}"]);
    assert_eq!((deltas.concat().as_str(), progress), ("a", Progress::Stopped));
}

/// The text up to the stop string that is complete first, found without streaming.
fn cut(text: &str, stops: &[String]) -> String {
    let ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
    for end in ends {
        let head = &text[..end];
        let found = stops.iter().filter(|stop| !stop.is_empty() && head.ends_with(stop.as_str()));
        if let Some(longest) = found.map(String::len).max() {
            return head[..end - longest].to_owned();
        }
    }
    text.to_owned()
}

proptest! {
    #[test]
    fn pieces_decode_as_the_whole(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xe2), Just(0x98), Just(0xf0), Just(0x9f), 0x80..0xc0_u8], 0..60),
        cuts in prop::collection::vec(0_usize..60, 0..20),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let mut decoder = LossyUtf8::new();
        let mut text = String::new();
        for piece in cuts.windows(2) {
            decoder.push(&bytes[piece[0]..piece[1]], &mut text);
        }
        decoder.finish(&mut text);
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn the_stream_is_the_text_up_to_the_stop(
        pieces in prop::collection::vec("[ab☃]{0,4}", 0..20),
        stop in prop::collection::vec("[ab☃]{0,5}", 0..4),
    ) {
        let mut stops = StopStrings::new(&stop);
        let mut out = String::new();
        let mut progress = Progress::Open;
        for piece in &pieces {
            stops.held().push_str(piece);
            progress = stops.release(&mut out);
        }
        stops.flush(&mut out);
        let text = pieces.concat();
        let expected = cut(&text, &stop);
        prop_assert_eq!(progress == Progress::Stopped, expected.len() < text.len());
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn what_is_emitted_is_never_part_of_a_later_stop_string(text in "[ab☃]{0,30}", stop in "[ab☃]{1,5}") {
        let mut stops = StopStrings::new(std::slice::from_ref(&stop));
        let mut out = String::new();
        for character in text.chars() {
            stops.held().push(character);
            if stops.release(&mut out) == Progress::Stopped {
                break;
            }
            // Held is exactly the longest end of the text that begins the stop string.
            let held = text[out.len()..].to_owned();
            prop_assert!(held.starts_with(stops.held().as_str()));
            prop_assert!(stop.starts_with(stops.held().as_str()));
            prop_assert!(!out.contains(&stop));
        }
    }

    #[test]
    fn ids_in_any_order_give_the_text_of_their_bytes(ids in prop::collection::vec(0_u32..265, 0..80), prefix: bool) {
        let tokenizer = tokenizer(prefix);
        let visible = ids.iter().filter(|id| !tokenizer.is_control(**id));
        let bytes: Vec<u8> = visible.flat_map(|id| tokenizer.token_bytes(*id).to_vec()).collect();
        let shown = if prefix { bytes.strip_prefix(b" ").unwrap_or(&bytes) } else { &bytes };
        prop_assert_eq!(stream(&tokenizer, &ids, &[]).0.concat(), String::from_utf8_lossy(shown));
    }
}
