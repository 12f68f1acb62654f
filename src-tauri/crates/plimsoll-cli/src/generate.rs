//! `plimsoll generate`: one prompt, one answer.

use plimsoll_backend::prompt::{Prompter, now};
use plimsoll_chat::{PromptMessage, PromptRole};
use plimsoll_engine::tokenizer::SpecialTokens;
use plimsoll_engine::{GenerateRequest, ModelFile};
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::Tokens;
use serde::Serialize;

use crate::answer::{TimingsReport, answer, reason_name, sampling};
use crate::args::GenerateArguments;
use crate::failure::Failure;
use crate::model::{MemoryReport, Needs, plan_model};
use crate::print;

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    text: String,
    token_ids: Vec<u32>,
    prompt_tokens: u32,
    cached_tokens: u32,
    output_tokens: u32,
    stop_reason: &'static str,
    timings: TimingsReport,
    memory: MemoryReport,
}

pub(crate) fn run(arguments: &GenerateArguments) -> Result<(), Failure> {
    let planned = plan_model(&arguments.model, Needs::default())?;
    // What cannot be asked need not be loaded for.
    let prompter = Prompter::new(&planned.file);
    if !arguments.raw {
        prompter.chat_template().map_err(without_template)?;
    }
    let running = planned.load()?;
    let request = GenerateRequest {
        prompt: prompt(&running.file, &prompter, arguments)?,
        max_tokens: Tokens(arguments.max_tokens),
        sampling: sampling(&arguments.sampling),
        stop: arguments.stop.clone(),
        ignore_end: false,
    };
    let json = arguments.model.json;
    let done = answer(&running.engine, request, &mut |_| (), &mut |text| {
        if !json {
            print::text(text);
        }
    })?;
    if !json {
        print::line("");
        return Ok(());
    }
    print::json(&Report {
        model: running.plan.model.clone(),
        prompt_tokens: done.timings.prompt.0,
        cached_tokens: done.timings.cached.0,
        output_tokens: done.timings.output.0,
        stop_reason: reason_name(done.reason),
        timings: TimingsReport::from(&done.timings),
        memory: running.memory(),
        text: done.text,
        token_ids: done.ids,
    })
}

/// Ids of the prompt: rendered by the model's template, or as it stands.
fn prompt(file: &ModelFile, prompter: &Prompter, arguments: &GenerateArguments) -> Result<Vec<u32>, Failure> {
    if arguments.raw {
        let tokenizer = file.tokenizer();
        let mut ids = tokenizer.encode(&arguments.prompt, SpecialTokens::Parse);
        let begin = tokenizer.bos().filter(|_| tokenizer.adds_bos());
        if begin.is_some() && ids.first().copied() != begin {
            ids.splice(..0, begin);
        }
        return Ok(ids);
    }
    let system = arguments.system.iter().map(|text| PromptMessage::new(PromptRole::System, text));
    let user = std::iter::once(PromptMessage::new(PromptRole::User, &arguments.prompt));
    let rendered = prompter.render(system.chain(user).collect(), true, now()).map_err(Failure::new)?;
    Ok(prompter.ids(&rendered))
}

/// Says what a base model can do instead.
fn without_template(mut error: IpcError) -> Failure {
    if error.code == ErrorCode::NoTemplate {
        error.message.push_str("; --raw continues the prompt as it stands");
    }
    Failure::new(error)
}
