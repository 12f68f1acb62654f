//! Writes one answer: reuse what is cached, prefill in chunks, decode token by token.

use std::sync::Arc;
use std::time::Instant;

use plimsoll_plan::Tokens;

use crate::api::{CancelToken, GenerateRequest, StepEvent, StopReason, Timings};
use crate::detokenize::{Detokenizer, Progress};
use crate::engine::Shared;
use crate::error::EngineError;
use crate::forward::Decoder;
use crate::sample::Sampler;
use crate::tokenizer::Tokenizer;

/// Receives progress of an answer.
pub(crate) type Sink = dyn for<'a> FnMut(StepEvent<'a>) + Send;

/// Text of one token: far longer than any token or stop string, so that the buffer never grows.
const TEXT_CAPACITY: usize = 16 << 10;

/// What an answer needs beside the decoder. Made before the answer starts: the loop allocates nothing.
pub(crate) struct Answer {
    request: GenerateRequest,
    cancel: CancelToken,
    sampler: Sampler,
    detokenizer: Option<Detokenizer>,
    tokenizer: Arc<Tokenizer>,
    /// Prompt and answer: as long as the reservation, so that it never grows.
    history: Vec<u32>,
    prompt: usize,
    text: String,
    asked: Instant,
}

impl Answer {
    pub(crate) fn new(
        mut request: GenerateRequest,
        cancel: CancelToken,
        tokenizer: &Arc<Tokenizer>,
        asked: Instant,
    ) -> Result<Self, EngineError> {
        let sampler = Sampler::new(request.sampling)?;
        let detokenizer = Detokenizer::new(Arc::clone(tokenizer), &request.stop);
        let mut history = std::mem::take(&mut request.prompt);
        let prompt = history.len();
        history.reserve_exact(usize::try_from(request.max_tokens.0).unwrap_or(0));
        Ok(Self {
            request,
            cancel,
            sampler,
            detokenizer: Some(detokenizer),
            tokenizer: Arc::clone(tokenizer),
            history,
            prompt,
            text: String::with_capacity(TEXT_CAPACITY),
            asked,
        })
    }

    /// Runs to the end. The caller sends `Finished`, after it has freed the reservation.
    pub(crate) fn run(
        &mut self,
        decoder: &mut Decoder<'_>,
        shared: &Shared,
        sink: &mut Sink,
    ) -> Result<(StopReason, Timings), EngineError> {
        let prompt = tokens(self.prompt);
        let cached = decoder.reuse(&self.history);
        shared.publish(decoder.cached());
        let mut timings = Timings { prompt, cached: tokens(cached), ..Timings::default() };
        sink(StepEvent::Started { prompt, cached: tokens(cached) });

        let mut done = cached;
        while done < self.prompt {
            if self.cancel.is_cancelled() {
                return Ok((StopReason::Cancelled, timings));
            }
            let end = done.saturating_add(decoder.chunk()).min(self.prompt);
            decoder.step(self.history.get(done..end).unwrap_or_default(), end == self.prompt)?;
            done = end;
            shared.publish(decoder.cached());
            sink(StepEvent::Prefill { done: tokens(done), total: prompt });
        }
        timings.prefill = self.asked.elapsed();
        self.decode(decoder, shared, sink, timings)
    }

    fn decode(
        &mut self,
        decoder: &mut Decoder<'_>,
        shared: &Shared,
        sink: &mut Sink,
        mut timings: Timings,
    ) -> Result<(StopReason, Timings), EngineError> {
        let mut first = None;
        loop {
            if self.cancel.is_cancelled() {
                return Ok((StopReason::Cancelled, timings));
            }
            if timings.output >= self.request.max_tokens {
                return Ok((StopReason::Length, timings));
            }
            let position = tokens(decoder.cached());
            let (logits, scratch) = decoder.logits_and_scratch();
            let sampled = self.sampler.sample(logits, scratch, &self.history);
            let id = sampled.map_err(|_| EngineError::NotFinite { position: position.0 })?;
            let started = *first.get_or_insert_with(Instant::now);
            if timings.output == Tokens(0) {
                timings.first_token = self.asked.elapsed();
            }
            if self.tokenizer.is_end_of_turn(id) && !self.request.ignore_end {
                return Ok((StopReason::EndOfTurn, timings));
            }
            timings.output = Tokens(timings.output.0.saturating_add(1));
            timings.decode = started.elapsed();
            self.history.push(id);
            self.text.clear();
            let progress = self.detokenizer.as_mut().map(|detokenizer| detokenizer.push(id, &mut self.text));
            sink(StepEvent::Token { id, text: &self.text });
            if progress == Some(Progress::Stopped) {
                return Ok((StopReason::StopString, timings));
            }
            if timings.output < self.request.max_tokens {
                decoder.step(&[id], true)?;
                shared.publish(decoder.cached());
            }
        }
    }

    /// Text that was held back in case a stop string or an unfinished character was under way.
    pub(crate) fn rest(&mut self) -> &str {
        self.text.clear();
        if let Some(detokenizer) = self.detokenizer.take() {
            detokenizer.finish(&mut self.text);
        }
        &self.text
    }
}

fn tokens(count: usize) -> Tokens {
    Tokens(u32::try_from(count).unwrap_or(u32::MAX))
}
