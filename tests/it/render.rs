//! Rendered prompts against transformers (`fixtures/scripts/rendered.py`).

use std::collections::BTreeMap;

use plimsoll_chat::{
    ChatTemplate, ControlTokens, LocalTime, Piece, PromptMessage, PromptRole, PromptTokenizer, RenderInput,
    RenderedPrompt, TemplateError,
};
use plimsoll_engine::ModelFile;
use plimsoll_engine::tokenizer::{SpecialTokens, Tokenizer};
use plimsoll_tests::fixtures::{self, Conversation, RenderFixture, TEMPLATES};
use plimsoll_tests::models;

/// Special strings of the models that the templates belong to.
const SPECIALS: [&str; 18] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
];

fn messages(conversation: &Conversation) -> Vec<PromptMessage> {
    let role = |name: &str| match name {
        "system" => PromptRole::System,
        "user" => PromptRole::User,
        "assistant" => PromptRole::Assistant,
        other => panic!("role {other}"),
    };
    conversation.messages.iter().map(|message| PromptMessage::new(role(&message.role), &message.content)).collect()
}

/// `2024-07-26T12:30:00`.
fn local_time(text: &str) -> LocalTime {
    let numbers: Vec<u16> = text.split(['-', 'T', ':']).map(|part| part.parse().unwrap()).collect();
    let small = |at: usize| u8::try_from(numbers[at]).unwrap();
    LocalTime::new(numbers[0], small(1), small(2), small(3), small(4), small(5)).unwrap()
}

fn render(
    template: &ChatTemplate,
    fixture: &RenderFixture,
    conversation: &Conversation,
    control_tokens: &ControlTokens,
) -> Result<RenderedPrompt, TemplateError> {
    template.render(&RenderInput {
        messages: &messages(conversation),
        bos: &fixture.bos,
        eos: &fixture.eos,
        add_generation_prompt: conversation.add_generation_prompt,
        control_tokens,
        date: Some(local_time(&fixture.now)),
        extra: &BTreeMap::new(),
    })
}

/// Compares every conversation; returns the prompts by name.
fn check(source: &str, fixture: &RenderFixture, control_tokens: &ControlTokens) -> BTreeMap<String, RenderedPrompt> {
    let template = ChatTemplate::compile(source).unwrap_or_else(|error| panic!("{}: {error}", fixture.template));
    let conversations = fixtures::conversations();
    assert_eq!(fixture.rendered.len(), conversations.len());
    assert!(conversations.len() >= 30, "the conversations are whole");
    let mut prompts = BTreeMap::new();
    for expected in &fixture.rendered {
        let what = format!("{} {}", fixture.template, expected.name);
        let rendered = render(&template, fixture, &conversations[&expected.name], control_tokens);
        match (rendered, &expected.text, &expected.error) {
            (Ok(prompt), Some(text), None) => {
                assert_eq!(prompt.text, *text, "{what}");
                prompts.insert(expected.name.clone(), prompt);
            }
            (Err(TemplateError::Raised { message }), None, Some(error)) => assert_eq!(message, *error, "{what}"),
            (rendered, _, _) => panic!("{what}: {rendered:?}, expected {expected:?}"),
        }
    }
    prompts
}

#[test]
fn known_templates_render_as_transformers_renders_them() {
    let control_tokens = ControlTokens::new(SPECIALS);
    for key in TEMPLATES {
        let fixture = fixtures::rendered(key);
        for (name, prompt) in check(&fixtures::template(key), &fixture, &control_tokens) {
            let joined: String = prompt
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Special(text) | Piece::Text(text) => text.as_str(),
                })
                .collect();
            assert_eq!(joined, prompt.text, "{key} {name}: the pieces are the text");
        }
    }
}

/// Special pieces are what the template writes for the same roles with harmless text: users add none.
#[test]
fn look_alikes_in_messages_add_no_special_piece() {
    let control_tokens = ControlTokens::new(SPECIALS);
    let specials = |prompt: &RenderedPrompt| -> Vec<String> {
        let special = |piece: &Piece| match piece {
            Piece::Special(text) => Some(text.clone()),
            Piece::Text(_) => None,
        };
        prompt.pieces.iter().filter_map(special).collect()
    };
    for key in TEMPLATES {
        let fixture = fixtures::rendered(key);
        let template = ChatTemplate::compile(&fixtures::template(key)).unwrap();
        for (name, conversation) in fixtures::conversations() {
            let mut harmless = conversation.clone();
            for message in &mut harmless.messages {
                "text".clone_into(&mut message.content);
            }
            let (Ok(typed), Ok(plain)) = (
                render(&template, &fixture, &conversation, &control_tokens),
                render(&template, &fixture, &harmless, &control_tokens),
            ) else {
                continue;
            };
            assert_eq!(specials(&typed), specials(&plain), "{key} {name}");
        }
    }
}

/// The tokenizer as prompt assembly sees it.
struct Vocabulary<'a>(&'a Tokenizer);

impl PromptTokenizer for Vocabulary<'_> {
    fn text(&self, text: &str) -> Vec<u32> {
        self.0.encode(text, SpecialTokens::AsText)
    }

    fn special(&self, token: &str) -> Option<u32> {
        self.0.special_id(token)
    }

    fn added_bos(&self) -> Option<u32> {
        self.0.bos().filter(|_| self.0.adds_bos())
    }
}

#[test]
fn smollm2_prompts_have_the_reference_ids() {
    let file = ModelFile::open(&models::smollm2()).unwrap();
    let fixture = fixtures::rendered("smollm2");
    let control_tokens = ControlTokens::new(file.tokenizer().control_tokens());
    let prompts = check(file.chat_template().expect("SmolLM2 has a template"), &fixture, &control_tokens);
    for expected in &fixture.rendered {
        let ids = prompts[&expected.name].token_ids(&Vocabulary(file.tokenizer()));
        assert_eq!(&ids, expected.ids.as_ref().expect("ids are recorded"), "{}", expected.name);
    }
}
