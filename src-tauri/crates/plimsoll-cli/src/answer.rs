//! Runs one answer on the engine and collects what it gives.

use std::sync::mpsc::channel;

use plimsoll_engine::sample::Sampling;
use plimsoll_engine::{CancelToken, Engine, EngineError, GenerateRequest, StepEvent, StopReason, Timings};
use plimsoll_plan::Tokens;
use serde::Serialize;

use crate::args::SamplingArguments;
use crate::failure::Failure;

/// A finished answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) ids: Vec<u32>,
    pub(crate) reason: StopReason,
    pub(crate) timings: Timings,
}

enum Step {
    Token(u32, String),
    Finished(StopReason, String, Timings),
    Failed(EngineError),
}

/// Runs `request`. `show` gets the text as it comes; `started` gets the token that stops it early.
pub(crate) fn answer(
    engine: &Engine,
    request: GenerateRequest,
    started: &mut dyn FnMut(CancelToken),
    show: &mut dyn FnMut(&str),
) -> Result<Answer, Failure> {
    let (steps, inbox) = channel();
    let sink = move |event: StepEvent<'_>| {
        let step = match event {
            StepEvent::Started { .. } | StepEvent::Prefill { .. } => return,
            StepEvent::Token { id, text } => Step::Token(id, text.to_owned()),
            StepEvent::Finished { reason, text, timings } => Step::Finished(reason, text.to_owned(), timings),
            StepEvent::Failed(error) => Step::Failed(error),
        };
        let _ = steps.send(step);
    };
    started(engine.start(request, Box::new(sink))?);
    let (mut text, mut ids) = (String::new(), Vec::new());
    let mut end = None;
    // The channel closes when the engine has let go of the sink, and so is ready for the next request.
    for step in inbox {
        match step {
            Step::Token(id, more) => {
                ids.push(id);
                text.push_str(&more);
                show(&more);
            }
            Step::Finished(reason, rest, timings) => {
                text.push_str(&rest);
                show(&rest);
                end = Some(Ok((reason, timings)));
            }
            Step::Failed(error) => end = Some(Err(error)),
        }
    }
    let stopped = || Err(EngineError::Stopped("it ended without a word".to_owned()));
    let (reason, timings) = end.unwrap_or_else(stopped)?;
    Ok(Answer { text, ids, reason, timings })
}

/// The engine's sampling settings.
pub(crate) fn sampling(arguments: &SamplingArguments) -> Sampling {
    Sampling {
        temperature: arguments.temperature,
        top_p: arguments.top_p,
        top_k: arguments.top_k,
        seed: arguments.seed,
        ..Sampling::default()
    }
}

/// The stop reason's name in JSON.
pub(crate) fn reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndOfTurn => "end_of_turn",
        StopReason::StopString => "stop_string",
        StopReason::Length => "length",
        StopReason::Cancelled => "cancelled",
    }
}

/// Numbers of an answer.
#[derive(Debug, Serialize)]
pub(crate) struct TimingsReport {
    prefill_ms: f64,
    first_token_ms: f64,
    decode_ms: f64,
    prefill_tokens_per_second: f64,
    tokens_per_second: f64,
}

impl From<&Timings> for TimingsReport {
    fn from(timings: &Timings) -> Self {
        let computed = Tokens(timings.prompt.0.saturating_sub(timings.cached.0));
        Self {
            prefill_ms: timings.prefill.as_secs_f64() * 1000.0,
            first_token_ms: timings.first_token.as_secs_f64() * 1000.0,
            decode_ms: timings.decode.as_secs_f64() * 1000.0,
            prefill_tokens_per_second: per_second(computed, timings.prefill.as_secs_f64()),
            tokens_per_second: per_second(Tokens(timings.output.0.saturating_sub(1)), timings.decode.as_secs_f64()),
        }
    }
}

/// Tokens per second; 0 when no time passed.
pub(crate) fn per_second(tokens: Tokens, seconds: f64) -> f64 {
    if seconds > 0.0 { f64::from(tokens.0) / seconds } else { 0.0 }
}
