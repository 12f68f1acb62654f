//! Bounds on what a template may do.

use std::io;

use super::RenderInput;
use super::error::{Limit, TemplateError};

/// Longest template. The longest in use have 30 KB.
pub(super) const SOURCE_BYTES: usize = 128 << 10;

/// Deepest value that a template may keep in a namespace.
pub(super) const VALUE_DEPTH: usize = 32;

/// Nesting of macros, loops and blocks at run time.
pub(super) const RECURSION: usize = 100;

/// Stack of the rendering thread. A value that literals nest within the longest source has at most 65,536 levels,
/// and dropping or printing one recurses; the pages are reserved, and touched only when used.
const STACK_BYTES: usize = 256 << 20;

/// Steps that every run may take: 16 MB of data.
const BASE_STEPS: u64 = 250_000;

/// Steps for a message.
const MESSAGE_STEPS: u64 = 500;

/// Bytes of output that every run may write.
const BASE_OUTPUT: usize = 256 << 10;

/// Bytes of output for a message, beyond a few times its text.
const MESSAGE_OUTPUT: usize = 4 << 10;

/// How much a template is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InputSize {
    messages: usize,
    bytes: usize,
}

pub(super) fn input_size(input: &RenderInput<'_>) -> InputSize {
    let contents: usize = input.messages.iter().map(|message| message.content.len()).sum();
    let extra: usize = input.extra.values().map(json_bytes).sum();
    InputSize { messages: input.messages.len(), bytes: contents.saturating_add(extra) }
}

/// Steps for a run: 32 passes over the text at one step per 64 bytes, beside the fixed part.
pub(super) fn fuel(size: InputSize) -> u64 {
    let messages = u64::try_from(size.messages).unwrap_or(u64::MAX).saturating_mul(MESSAGE_STEPS);
    let bytes = u64::try_from(size.bytes).unwrap_or(u64::MAX) / 2;
    BASE_STEPS.saturating_add(messages).saturating_add(bytes)
}

/// Longest output of a run.
pub(super) fn output_bytes(size: InputSize) -> usize {
    let text = size.bytes.saturating_mul(4).saturating_add(size.messages.saturating_mul(MESSAGE_OUTPUT));
    text.saturating_add(BASE_OUTPUT)
}

/// Runs `work` on a thread of its own, whose stack no admissible template exhausts.
pub(super) fn on_wide_stack<T: Send>(
    work: impl FnOnce() -> Result<T, TemplateError> + Send,
) -> Result<T, TemplateError> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("template".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(TemplateError::Thread)?
            .join()
            .unwrap_or(Err(TemplateError::Engine))
    })
}

fn json_bytes(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(text) => text.len(),
        serde_json::Value::Array(items) => items.iter().map(json_bytes).sum::<usize>() + items.len(),
        serde_json::Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + json_bytes(value)).sum(),
        _ => 8,
    }
}

/// Output that stops at a limit.
#[derive(Debug)]
pub(super) struct BoundedText {
    bytes: Vec<u8>,
    limit: usize,
    exceeded: bool,
}

impl BoundedText {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, exceeded: false }
    }

    /// The limit, if it was exceeded.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.exceeded.then_some(self.limit)
    }

    pub(super) fn into_text(self) -> Result<String, TemplateError> {
        if self.exceeded {
            return Err(Limit::Output { limit: self.limit }.into());
        }
        String::from_utf8(self.bytes).map_err(|_| TemplateError::Engine)
    }
}

impl io::Write for BoundedText {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(part.len()) > self.limit {
            self.exceeded = true;
            return Err(io::Error::other("the output limit is exceeded"));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
