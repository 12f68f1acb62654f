//! `plimsoll render`: the prompt, and its ids, that a conversation becomes.

use plimsoll_backend::prompt::{Prompter, now};
use plimsoll_chat::{PromptMessage, PromptRole};
use plimsoll_ipc::{ErrorCode, IpcError};
use serde::Deserialize;

use crate::args::RenderArguments;
use crate::failure::Failure;
use crate::model::open;
use crate::print;
use crate::tokenize::{list, read_input};

/// What is read: the messages alone, or an object with them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Input {
    Messages(Vec<InputMessage>),
    Conversation {
        messages: Vec<InputMessage>,
        /// End with the opening of the answer.
        #[serde(default = "yes")]
        add_generation_prompt: bool,
    },
}

#[derive(Debug, Deserialize)]
struct InputMessage {
    role: InputRole,
    content: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum InputRole {
    System,
    User,
    Assistant,
}

pub(crate) fn run(arguments: &RenderArguments) -> Result<(), Failure> {
    let file = open(&arguments.model)?;
    let input: Input = serde_json::from_str(&read_input()?).map_err(|error| {
        let message = format!("standard input is no JSON list of messages: {error}");
        Failure::new(IpcError::new(ErrorCode::BadSetting, message).with_detail("standard input"))
    })?;
    let (messages, open_answer) = match input {
        Input::Messages(messages) => (messages, true),
        Input::Conversation { messages, add_generation_prompt } => (messages, add_generation_prompt),
    };
    let prompter = Prompter::new(&file);
    let messages = messages.into_iter().map(|message| PromptMessage::new(role(message.role), message.content));
    let rendered = prompter.render(messages.collect(), open_answer, now()).map_err(Failure::new)?;
    let ids = prompter.ids(&rendered);
    if arguments.json {
        print::json(&serde_json::json!({ "text": rendered.text, "ids": ids, "count": ids.len() }))
    } else {
        print::line(&rendered.text);
        print::line(&list(&ids));
        Ok(())
    }
}

fn role(role: InputRole) -> PromptRole {
    match role {
        InputRole::System => PromptRole::System,
        InputRole::User => PromptRole::User,
        InputRole::Assistant => PromptRole::Assistant,
    }
}

fn yes() -> bool {
    true
}
