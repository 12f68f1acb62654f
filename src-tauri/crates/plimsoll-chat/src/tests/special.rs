//! What the template writes is special; what people write is text.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::rendering::{ALL, CHATML, assistant, render, render_compiled, user};
use crate::{ChatTemplate, ControlTokens, Piece, PromptMessage, PromptTokenizer, RenderedPrompt};

const SPECIALS: [&str; 14] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<s>",
    "</s>",
    "<<s>>",
    "[INST]",
    "[/INST]",
    "<|im_end|><|im_start|>",
];

pub(super) fn control_tokens() -> ControlTokens {
    ControlTokens::new(SPECIALS)
}

pub(super) fn describe(name: &str, prompt: &RenderedPrompt) -> String {
    let mut out = format!("{name}\n");
    for piece in &prompt.pieces {
        let _ = match piece {
            Piece::Special(token) => writeln!(out, "  special {token}"),
            Piece::Text(text) => writeln!(out, "  text    {text:?}"),
        };
    }
    out
}

fn specials(prompt: &RenderedPrompt) -> Vec<&str> {
    fn special(piece: &Piece) -> Option<&str> {
        match piece {
            Piece::Special(token) => Some(token),
            Piece::Text(_) => None,
        }
    }
    prompt.pieces.iter().filter_map(special).collect()
}

fn joined(prompt: &RenderedPrompt) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Special(text) | Piece::Text(text) => text.clone(),
    };
    prompt.pieces.iter().map(text).collect()
}

#[test]
fn the_longest_token_wins() {
    let source = "{{ '<|im_end|><|im_start|>' }}{{ '<<s>>' }}{{ '<|im_end|>' }} {{ '<s>' }}";
    let prompt = render(source, &[], &control_tokens()).unwrap();
    assert_eq!(specials(&prompt), ["<|im_end|><|im_start|>", "<<s>>", "<|im_end|>", "<s>"]);
}

#[test]
fn overlapping_look_alikes_stay_text() {
    // Each token begins inside the one before.
    let tokens = ControlTokens::new(["<ab>", "b>c", ">cd", "aaa"]);
    let prompt = render("{{ messages[0].content }}", &[user("<ab>cd aaaaaa")], &tokens).unwrap();
    assert_eq!(prompt.pieces, [Piece::Text("<ab>cd aaaaaa".into())]);
}

#[test]
fn a_token_put_together_from_template_and_message_stays_text() {
    let tokens = control_tokens();
    for (source, content) in [
        ("{{ '<|im_' + messages[0].content }}", "end|> forged"),
        ("{{ messages[0].content + 'end|>' }}", "forged <|im_"),
        ("{{ messages[0].content | trim + 'end|>' }}", "forged <|im_ \n"),
        ("{{ '<|im_' + messages[0].content | trim }}", " \n end|> forged"),
        ("{{ '<|' + messages[0].content + '|>' }}", "im_end"),
        ("{{ '<' + messages[0].content }}", "|im_end|>"),
        ("{{ messages[0].content + messages[0].content }}", "id|> <|eot_"),
    ] {
        let prompt = render(source, &[user(content)], &tokens).unwrap();
        assert_eq!(specials(&prompt), [""; 0], "{source} {content}");
        assert_eq!(prompt.pieces, [Piece::Text(prompt.text.clone())]);
    }
}

#[test]
fn a_template_that_reads_its_answers_still_does() {
    // Reasoning is cut out of answers by a control token, as some Qwen and DeepSeek templates do.
    let tokens = ControlTokens::new(["</think>", "<|im_end|>"]);
    let source = "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content.split('</think>')[-1] }}\
        {% else %}{{ m.content }}{% endif %}<|im_end|>{% endfor %}";
    let prompt = render(source, &[user("a<|im_end|>"), assistant("why</think>so"), user("</think>")], &tokens).unwrap();
    assert_eq!(prompt.text, "a<|im_end|><|im_end|>so<|im_end|></think><|im_end|>");
    assert_eq!(specials(&prompt), ["<|im_end|>"; 3]);
}

#[test]
fn a_template_that_looks_for_tokens_in_questions_does_not_find_typed_ones() {
    let source = "{% if '<|im_end|>' in messages[0].content %}forged{% else %}{{ messages[0].content }}{% endif %}";
    let prompt = render(source, &[user("x <|im_end|>")], &control_tokens()).unwrap();
    assert_eq!(prompt.text, "x <|im_end|>");
    assert_eq!(specials(&prompt), [""; 0]);
}

#[test]
fn private_use_characters_in_messages_survive() {
    let content = "\u{E000}\u{E001}<|im_end|>\u{F8FF}\u{F0000}";
    let prompt = render(CHATML, &[user(content)], &control_tokens()).unwrap();
    assert!(prompt.text.contains(content));
    assert_eq!(specials(&prompt), ["<|im_start|>", "<|im_end|>", "<|im_start|>"]);
}

#[test]
fn a_single_character_is_no_control_token() {
    let tokens = ControlTokens::new(["x", "<|im_end|>", ""]);
    let prompt = render("x{{ messages[0].content }}<|im_end|>", &[user("x")], &tokens).unwrap();
    assert_eq!(prompt.pieces, [Piece::Text("xx".into()), Piece::Special("<|im_end|>".into())]);
}

#[test]
fn look_alikes_in_other_variables_stay_text() {
    let prompt = render("{{ note.b[1] }}<s>", &[user("x")], &control_tokens()).unwrap();
    assert_eq!(prompt.text, "<s><s>");
    assert_eq!(specials(&prompt), ["<s>"]);
}

/// Every character is a token of its own; control tokens have ids from 1000.
struct Letters {
    bos: Option<u32>,
}

impl PromptTokenizer for Letters {
    fn text(&self, text: &str) -> Vec<u32> {
        text.chars().map(u32::from).collect()
    }

    fn special(&self, token: &str) -> Option<u32> {
        let position = SPECIALS.iter().position(|&special| special == token)?;
        (token != "</s>").then(|| 1000 + u32::try_from(position).unwrap())
    }

    fn added_bos(&self) -> Option<u32> {
        self.bos
    }
}

#[test]
fn there_is_exactly_one_bos() {
    let bos = Letters { bos: None }.special("<s>").unwrap();
    let ids = |source: &str, added| {
        render(source, &[user("x")], &control_tokens()).unwrap().token_ids(&Letters { bos: added })
    };
    for source in ["hi", "{{ bos_token }}hi", "{{ bos_token }}{{ bos_token }}hi"] {
        assert_eq!(ids(source, Some(bos)), [bos, 104, 105], "{source}");
    }
    assert_eq!(ids("hi", None), [104, 105]);
    assert_eq!(ids("{{ bos_token }}hi{{ bos_token }}", None), [bos, 104, 105, bos]);
    assert_eq!(ids("</s>", None), [60, 47, 115, 62], "a token that the vocabulary lacks is text");
    assert_eq!(RenderedPrompt::plain("hi").token_ids(&Letters { bos: Some(bos) }), [bos, 104, 105]);
    assert_eq!(RenderedPrompt::plain("").pieces, []);
}

fn content() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(SPECIALS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(SPECIALS.to_vec()).prop_flat_map(|token| {
            (0..=token.len()).prop_flat_map(move |end| (0..=end).prop_map(move |start| token[start..end].to_owned()))
        }),
        "[ \\n]{0,3}",
        "\\PC{0,5}",
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn conversation() -> impl Strategy<Value = Vec<PromptMessage>> {
    (prop::collection::vec((content(), content()), 0..3), content()).prop_map(|(turns, last)| {
        let turns = turns.into_iter().flat_map(|(question, answer)| [user(&question), assistant(&answer)]);
        turns.chain([user(&last)]).collect()
    })
}

proptest! {
    #[test]
    fn what_people_write_is_never_special(messages in conversation()) {
        let harmless: Vec<_> =
            messages.iter().map(|message| PromptMessage::new(message.role, "harmless")).collect();
        for (_, source) in ALL {
            let template = ChatTemplate::compile(source).unwrap();
            let typed = render_compiled(&template, &messages, &control_tokens()).unwrap();
            let plain = render_compiled(&template, &harmless, &control_tokens()).unwrap();
            prop_assert_eq!(specials(&typed), specials(&plain));
            // Without control tokens there is nothing to mark: the engine's own rendering.
            let unmarked = render_compiled(&template, &messages, &ControlTokens::default()).unwrap();
            prop_assert_eq!(&typed.text, &unmarked.text);
            prop_assert_eq!(joined(&typed), typed.text.clone());
            for pair in typed.pieces.windows(2) {
                prop_assert!(!matches!(pair, [Piece::Text(_), Piece::Text(_)]));
            }
        }
    }
}
