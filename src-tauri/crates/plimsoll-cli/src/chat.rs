//! `plimsoll chat`: a conversation in the terminal. Ctrl-C stops the answer; at the prompt it ends the program.

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_backend::prompt::{Prompter, now};
use plimsoll_chat::{PromptMessage, PromptRole};
use plimsoll_engine::{CancelToken, GenerateRequest, StopReason};
use plimsoll_plan::Tokens;

use crate::answer::{answer, sampling};
use crate::args::ChatArguments;
use crate::failure::Failure;
use crate::model::{Needs, Running, load};
use crate::print;

pub(crate) fn run(arguments: &ChatArguments) -> Result<(), Failure> {
    let running = load(&arguments.model, Needs::default())?;
    let prompter = Prompter::new(&running.file);
    prompter.chat_template().map_err(Failure::new)?;
    let interrupt = Interrupt::install();
    let mut messages: Vec<PromptMessage> = Vec::new();
    messages.extend(arguments.system.iter().map(|text| PromptMessage::new(PromptRole::System, text)));
    let date = now();
    let turn = |messages: &mut Vec<PromptMessage>, line: &str| -> Result<(), Failure> {
        messages.push(PromptMessage::new(PromptRole::User, line));
        let rendered = prompter.render(messages.clone(), true, date).map_err(Failure::new)?;
        let request = GenerateRequest {
            prompt: prompter.ids(&rendered),
            max_tokens: Tokens(arguments.max_tokens),
            sampling: sampling(&arguments.sampling),
            stop: Vec::new(),
            ignore_end: false,
        };
        let text = reply(&running, request, &interrupt)?;
        messages.push(PromptMessage::new(PromptRole::Assistant, text));
        Ok(())
    };
    loop {
        show("> ");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) if line.trim().is_empty() => continue,
            Ok(_) => {}
            Err(error) => return Err(Failure::from(error)),
        }
        if let Err(refused) = turn(&mut messages, line.trim_end_matches(['\r', '\n'])) {
            // The turn is taken back; the conversation goes on.
            messages.pop();
            refused.report(arguments.model.json);
        }
    }
}

fn reply(running: &Running, request: GenerateRequest, interrupt: &Interrupt) -> Result<String, Failure> {
    let mut started = |token| interrupt.arm(token);
    let done = answer(&running.engine, request, &mut started, &mut print::text);
    interrupt.disarm();
    let done = done?;
    let end = match done.reason {
        StopReason::Cancelled => " [stopped]",
        StopReason::Length => " [answer limit]",
        StopReason::EndOfTurn | StopReason::StopString => "",
    };
    print::line(end);
    Ok(done.text)
}

fn show(prompt: &str) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{prompt}");
    let _ = out.flush();
}

/// What Ctrl-C does: cancel the running answer, else end the program.
struct Interrupt(Arc<Mutex<Option<CancelToken>>>);

impl Interrupt {
    /// Takes over Ctrl-C. Where the system refuses, it keeps its usual meaning.
    fn install() -> Self {
        let running: Arc<Mutex<Option<CancelToken>>> = Arc::default();
        let watched = Arc::clone(&running);
        let watch = move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    match watched.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
                        Some(token) => token.cancel(),
                        None => std::process::exit(130),
                    }
                }
            });
        };
        let _ = std::thread::Builder::new().name("interrupt".to_owned()).spawn(watch);
        Self(running)
    }

    fn arm(&self, token: CancelToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }

    fn disarm(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
