//! Chat templates: untrusted programs from a model file that turn messages into a prompt.
//!
//! A template runs with bounded work, memory, depth and output. Special tokens that it writes stay special; text of
//! a message that looks like one stays text.

mod control_tokens;
mod environment;
mod error;
mod guard;
mod limits;
mod local_time;
mod marking;

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Environment, Value};

pub use control_tokens::ControlTokens;
pub use error::{Limit, TemplateError};
pub use local_time::LocalTime;

use crate::prompt::RenderedPrompt;
use environment::NAME;
use limits::BoundedText;
use marking::{Marker, Scope};

/// Who speaks in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptRole {
    /// Instructions before the conversation.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl PromptRole {
    /// The name that templates know.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who speaks.
    pub role: PromptRole,
    /// What.
    pub content: String,
}

impl PromptMessage {
    /// A message.
    pub fn new(role: PromptRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// What a template is given.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    /// The messages, oldest first.
    pub messages: &'a [PromptMessage],
    /// Text of the token that begins a prompt; empty when there is none.
    pub bos: &'a str,
    /// Text of the token that ends a turn; empty when there is none.
    pub eos: &'a str,
    /// End with the opening of the model's answer.
    pub add_generation_prompt: bool,
    /// Control tokens of the model's vocabulary.
    pub control_tokens: &'a ControlTokens,
    /// The user's local time, for templates that state the date; `None` hides `strftime_now` from them.
    pub date: Option<LocalTime>,
    /// More variables, for example `enable_thinking`.
    pub extra: &'a BTreeMap<String, serde_json::Value>,
}

/// A compiled template.
#[derive(Debug)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    private_use: Vec<char>,
    accepts_system: bool,
}

impl ChatTemplate {
    /// Compiles `source`, as it stands in `tokenizer.chat_template`, and finds out whether it takes a system message.
    pub fn compile(source: &str) -> Result<Self, TemplateError> {
        let environment = environment::compile(source)?;
        let private_use = source.chars().filter(|&c| marking::is_private_use(c)).collect();
        let mut template = Self { environment, private_use, accepts_system: false };
        template.accepts_system = template.probe_system();
        Ok(template)
    }

    /// Does the template render a system message? Some refuse it, some leave it out.
    pub fn accepts_system(&self) -> bool {
        self.accepts_system
    }

    /// The messages in the form that this template takes: a leading system message that it would refuse or leave
    /// out goes before the text of the first user message.
    pub fn adapt(&self, messages: Vec<PromptMessage>) -> Vec<PromptMessage> {
        let mut messages = messages;
        if self.accepts_system || messages.first().is_none_or(|first| first.role != PromptRole::System) {
            return messages;
        }
        let system = messages.remove(0).content;
        if let Some(user) = messages.iter_mut().find(|message| message.role == PromptRole::User)
            && !system.trim().is_empty()
        {
            user.content = format!("{}\n\n{}", system.trim(), user.content);
        }
        messages
    }

    /// Renders the prompt.
    ///
    /// The text equals what the template makes of the messages. Only a template that looks for control tokens
    /// inside user or system text can differ: it does not find those that a person typed.
    pub fn render(&self, input: &RenderInput<'_>) -> Result<RenderedPrompt, TemplateError> {
        limits::on_wide_stack(|| self.render_here(input))
    }

    fn render_here(&self, input: &RenderInput<'_>) -> Result<RenderedPrompt, TemplateError> {
        let plain = self.run(input, None)?;
        let tokens = input.control_tokens;
        if !marking::is_needed(input) {
            let pieces = tokens.split(&plain, None);
            return Ok(RenderedPrompt { text: plain, pieces });
        }
        let marker = Marker::choose(input, &self.private_use).ok_or(TemplateError::NoFreeMarker)?;
        let everywhere = self.run(input, Some((marker, Scope::Everywhere)))?;
        if marker.remove(&everywhere) == plain {
            return Ok(RenderedPrompt { text: plain, pieces: tokens.split(&everywhere, Some(marker)) });
        }
        // Templates that cut reasoning out of answers look for control tokens in the model's own text.
        let asked = self.run(input, Some((marker, Scope::AllButAnswers)))?;
        if marker.remove(&asked) == plain {
            return Ok(RenderedPrompt { text: plain, pieces: tokens.split(&asked, Some(marker)) });
        }
        let pieces = tokens.split(&everywhere, Some(marker));
        Ok(RenderedPrompt { text: marker.remove(&everywhere), pieces })
    }

    /// One run over the messages, with look-alikes broken by the marker if one is given.
    fn run(&self, input: &RenderInput<'_>, marks: Option<(Marker, Scope)>) -> Result<String, TemplateError> {
        let size = limits::input_size(input);
        let mut environment = self.environment.clone();
        let fuel = limits::fuel(size);
        environment.set_fuel(Some(fuel));
        let mut output = BoundedText::new(limits::output_bytes(size));
        let template = environment.get_template(NAME).map_err(|error| TemplateError::of(&error, fuel, None))?;
        match template.render_captured_to(variables(input, marks), &mut output) {
            Ok(_) => output.into_text(),
            Err(error) => Err(TemplateError::of(&error, fuel, output.exceeded())),
        }
    }

    fn probe_system(&self) -> bool {
        const PROBE: &str = "plimsoll-system-probe";
        let messages = [PromptMessage::new(PromptRole::System, PROBE), PromptMessage::new(PromptRole::User, "probe")];
        let rendered = self.render(&RenderInput {
            messages: &messages,
            bos: "",
            eos: "",
            add_generation_prompt: true,
            control_tokens: &ControlTokens::default(),
            date: None,
            extra: &BTreeMap::new(),
        });
        rendered.is_ok_and(|prompt| prompt.text.contains(PROBE))
    }
}

/// The variables of a run, named as transformers names them.
fn variables(input: &RenderInput<'_>, marks: Option<(Marker, Scope)>) -> Value {
    let tokens = input.control_tokens;
    let messages: Vec<Value> = input
        .messages
        .iter()
        .map(|message| {
            let content = match marks {
                Some((marker, scope)) if scope.covers(message.role) => marker.mark(tokens, &message.content),
                _ => message.content.clone(),
            };
            Value::from_pairs([("role", Value::from(message.role.name())), ("content", Value::from(content))])
        })
        .collect();
    let extra = input.extra.iter().map(|(name, value)| {
        let value = match marks {
            Some((marker, _)) => Value::from(Serde(marker.mark_json(tokens, value))),
            None => Value::from(Serde(value)),
        };
        (name.clone(), value)
    });
    let own = [
        ("messages", Value::from(messages)),
        ("tools", Value::from(())),
        ("documents", Value::from(())),
        ("add_generation_prompt", Value::from(input.add_generation_prompt)),
        ("bos_token", Value::from(input.bos)),
        ("eos_token", Value::from(input.eos)),
    ];
    let clock = input.date.map(|date| ("strftime_now".to_owned(), environment::strftime_now(date)));
    Value::from_pairs(own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(extra).chain(clock))
}
