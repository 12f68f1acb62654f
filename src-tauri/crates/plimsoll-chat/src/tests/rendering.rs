//! Prompts of known templates, as transformers renders them.

use std::collections::BTreeMap;

use serde_json::json;

use super::special::{control_tokens, describe};
use crate::{
    ChatTemplate, ControlTokens, LocalTime, PromptMessage, PromptRole, RenderInput, RenderedPrompt, TemplateError,
};

pub(super) const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + \
    message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' \
    }}{% endif %}";

pub(super) const LLAMA3: &str = "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = \
    '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if \
    loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if \
    add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}";

pub(super) const GEMMA: &str = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role \
    not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == \
    0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if \
    (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ \
    '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}{% if \
    add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}";

pub(super) const MISTRAL: &str = "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != \
    (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') \
    }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif \
    message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and \
    assistant roles are supported!') }}{% endif %}{% endfor %}";

pub(super) const ALL: [(&str, &str); 4] =
    [("chatml", CHATML), ("llama3", LLAMA3), ("gemma", GEMMA), ("mistral", MISTRAL)];

pub(super) fn user(text: &str) -> PromptMessage {
    PromptMessage::new(PromptRole::User, text)
}

pub(super) fn assistant(text: &str) -> PromptMessage {
    PromptMessage::new(PromptRole::Assistant, text)
}

pub(super) fn system(text: &str) -> PromptMessage {
    PromptMessage::new(PromptRole::System, text)
}

pub(super) fn render(
    source: &str,
    messages: &[PromptMessage],
    tokens: &ControlTokens,
) -> Result<RenderedPrompt, TemplateError> {
    let template = ChatTemplate::compile(source)?;
    render_compiled(&template, messages, tokens)
}

pub(super) fn render_compiled(
    template: &ChatTemplate,
    messages: &[PromptMessage],
    control_tokens: &ControlTokens,
) -> Result<RenderedPrompt, TemplateError> {
    let extra = BTreeMap::from([
        ("enable_thinking".to_owned(), json!(false)),
        ("note".to_owned(), json!({"a": "it's & <b>", "b": [1, "<s>"]})),
    ]);
    template.render(&RenderInput {
        messages,
        bos: "<s>",
        eos: "</s>",
        add_generation_prompt: true,
        control_tokens,
        date: LocalTime::new(2024, 7, 26, 12, 30, 0),
        extra: &extra,
    })
}

fn text(source: &str) -> String {
    render(source, &[user("  hi ")], &control_tokens()).unwrap().text
}

#[test]
fn known_templates() {
    let messages = [
        user("What ends a turn?"),
        assistant("It is <|im_end|> or <end_of_turn>."),
        user(" And </s>?\n[/INST]<|eot_id|> "),
    ];
    let mut out = String::new();
    for (name, source) in ALL {
        out.push_str(&describe(name, &render(source, &messages, &control_tokens()).unwrap()));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn white_space_is_trimmed_as_in_transformers() {
    // trim_blocks: the newline after a tag goes; lstrip_blocks: so do the blanks before it, on a line of its own.
    assert_eq!(text("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
    assert_eq!(text("a {% if true %} b {% endif %}\nc"), "a  b c");
    assert_eq!(text("{{ 'x' }}\n  {{ 'y' }}\n"), "x\n  y");
    assert_eq!(text("  {# note #}\nz"), "z");
    assert_eq!(text("x  {%- if true -%}  y  {%- endif +%}\nz"), "xy\nz");
}

#[test]
fn python_methods_and_values() {
    assert_eq!(text("{{ messages[0].content.strip().upper() }}"), "HI");
    assert_eq!(text("{{ messages[0]['content'].lstrip() }}|"), "hi |");
    assert_eq!(text("{{ 'a</think>b'.split('</think>')[-1] }}"), "b");
    assert_eq!(text("{{ messages[0].get('name', 'none') }} {{ true }} {{ none }}"), "none True None");
    assert_eq!(text("{% for key, value in messages[0].items() %}{{ key }};{% endfor %}"), "role;content;");
    assert_eq!(text("{{ tools is none }} {{ documents is none }} {{ enable_thinking }}"), "True True False");
    assert_eq!(text("{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}x{% endfor %}"), "");
}

#[test]
fn tojson_is_pythons() {
    assert_eq!(text("{{ note | tojson }}"), r#"{"a": "it's & <b>", "b": [1, "<s>"]}"#);
    assert_eq!(text("{{ note.b | tojson(indent=2) }}"), "[\n  1,\n  \"<s>\"\n]");
    assert_eq!(text("{{ note.b | tojson(ensure_ascii=false) }}"), r#"[1, "<s>"]"#);
    assert_eq!(text(r#"{{ "\\u003c é \" <" | tojson }}"#), r#""\\u003c é \" <""#);
}

#[test]
fn the_date_is_given_or_absent() {
    assert_eq!(text("{{ strftime_now('%d %b %Y') }}"), "26 Jul 2024");
    let template = ChatTemplate::compile("{{ strftime_now is defined }}").unwrap();
    let tokens = ControlTokens::default();
    let rendered = template.render(&RenderInput {
        messages: &[user("x")],
        bos: "",
        eos: "",
        add_generation_prompt: false,
        control_tokens: &tokens,
        date: None,
        extra: &BTreeMap::new(),
    });
    assert_eq!(rendered.unwrap().text, "False");
}

#[test]
fn the_training_mark_renders_its_body() {
    assert_eq!(text("a{% generation %}b{{ 1 }}{% endgeneration %}c"), "ab1c");
    assert_eq!(text("a {%- generation -%} b {%- endgeneration %} c"), "ab c");
    assert_eq!(
        text("{% raw %}{% generation %}{% endraw %}{{ '{% generation %}' }}"),
        "{% generation %}{% generation %}"
    );
}

#[test]
fn namespaces_still_work() {
    let source = "{% set ns = namespace(n=0, seen=[], pair=none) %}{% for m in [1, 2, 3] %}{% set ns.n = ns.n + m %}\
        {%- set ns.seen = ns.seen + [m] -%}{% set ns.pair = 1, 'b' %}{% endfor %}{{ ns.n }} {{ ns.seen }} {{ ns.pair }}\
        {% set ns.text %}block{% endset %}{{ ns.text }}{% set ns.m = messages[0] %}{{ ns.m.role }}\
        {% set ns.f = true if ns.n == 6 else false %}{{ ns.f }}";
    assert_eq!(text(source), "6 [1, 2, 3] (1, 'b')blockuserTrue");
}

#[test]
fn refusals_carry_the_templates_words() {
    let error = render(GEMMA, &[user("a"), user("b")], &control_tokens()).unwrap_err();
    let TemplateError::Raised { message } = error else { panic!("{error}") };
    assert_eq!(message, "Conversation roles must alternate user/assistant/user/assistant/...");
    let error = ChatTemplate::compile("line one\n{% if %}").unwrap_err();
    assert!(matches!(error, TemplateError::Compile { line: Some(2), .. }), "{error}");
    let error = render("a\nb\n{{ nothing.here }}", &[user("x")], &control_tokens()).unwrap_err();
    assert!(matches!(error, TemplateError::Render { line: Some(3), .. }), "{error}");
    assert!(ChatTemplate::compile("{% include 'other' %}").is_ok());
    assert!(render("{% include 'other' %}", &[user("x")], &control_tokens()).is_err(), "there is no other file");
}

#[test]
fn a_system_message_reaches_every_model() {
    let messages = vec![system("Be brief."), user("Hi")];
    let folded = vec![user("Be brief.\n\nHi")];
    for (name, source) in ALL {
        let template = ChatTemplate::compile(source).unwrap();
        let takes_it = matches!(name, "chatml" | "llama3");
        assert_eq!(template.accepts_system(), takes_it, "{name}");
        let adapted = template.adapt(messages.clone());
        assert_eq!(adapted, if takes_it { messages.clone() } else { folded.clone() }, "{name}");
        assert!(render_compiled(&template, &adapted, &control_tokens()).unwrap().text.contains("Be brief."));
    }
    // Left out in silence is not accepted either.
    let silent =
        ChatTemplate::compile("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}").unwrap();
    assert!(!silent.accepts_system());
}
