//! Why a template gives no prompt.

use std::error::Error as _;

use minijinja::ErrorKind;

/// What a template exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// The template's own text is too long.
    #[error("the template has {bytes} bytes and may have {limit}")]
    Source {
        /// Its length.
        bytes: usize,
        /// What is allowed.
        limit: usize,
    },
    /// Work and memory: about one unit per instruction and per 64 bytes.
    #[error("the template needs more than {limit} steps")]
    Steps {
        /// What is allowed.
        limit: u64,
    },
    /// The prompt is too long for its messages.
    #[error("the template writes more than {limit} bytes")]
    Output {
        /// What is allowed.
        limit: usize,
    },
    /// A value nested deeper than templates have use for.
    #[error("the template nests values deeper than {limit}")]
    Depth {
        /// What is allowed.
        limit: usize,
    },
}

/// A template cannot be used, or not for these messages.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It is no valid template.
    #[error("the chat template does not compile (line {}): {detail}", line_text(*.line))]
    Compile {
        /// Where, from 1.
        line: Option<usize>,
        /// What is wrong.
        detail: String,
    },
    /// It fails on these messages.
    #[error("the chat template fails (line {}): {detail}", line_text(*.line))]
    Render {
        /// Where, from 1.
        line: Option<usize>,
        /// What is wrong.
        detail: String,
    },
    /// It refuses these messages in its own words.
    #[error("the chat template refuses these messages: {message}")]
    Raised {
        /// Its words.
        message: String,
    },
    /// It exceeds a limit.
    #[error(transparent)]
    Limit(#[from] Limit),
    /// The messages contain every private-use character, so that none is left to mark text with.
    #[error("the messages use every private-use character")]
    NoFreeMarker,
    /// The system gives no thread to render in.
    #[error("no thread to render the chat template in")]
    Thread(#[source] std::io::Error),
    /// The template engine itself failed.
    #[error("the template engine failed")]
    Engine,
}

/// The words of `raise_exception`, carried through the engine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub(super) String);

/// A value that is too deep, carried through the engine.
#[derive(Debug, thiserror::Error)]
#[error("the value is nested deeper than {0}")]
pub(super) struct TooDeep(pub(super) usize);

impl TemplateError {
    /// An error of compiling.
    pub(super) fn of_compile(error: &minijinja::Error) -> Self {
        Self::Compile { line: error.line(), detail: detail(error) }
    }

    /// An error of rendering with `fuel`; `output` is the limit of the output if that was exceeded.
    pub(super) fn of(error: &minijinja::Error, fuel: u64, output: Option<usize>) -> Self {
        if let Some(limit) = output {
            return Limit::Output { limit }.into();
        }
        let mut cause: Option<&(dyn std::error::Error + 'static)> = error.source();
        let mut out_of_fuel = error.kind() == ErrorKind::OutOfFuel;
        while let Some(inner) = cause {
            if let Some(Raised(message)) = inner.downcast_ref() {
                return Self::Raised { message: message.clone() };
            }
            if let Some(&TooDeep(limit)) = inner.downcast_ref() {
                return Limit::Depth { limit }.into();
            }
            out_of_fuel |=
                inner.downcast_ref::<minijinja::Error>().is_some_and(|inner| inner.kind() == ErrorKind::OutOfFuel);
            cause = inner.source();
        }
        if out_of_fuel {
            return Limit::Steps { limit: fuel }.into();
        }
        Self::Render { line: error.line(), detail: detail(error) }
    }
}

fn detail(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

fn line_text(line: Option<usize>) -> String {
    line.map_or_else(|| "?".to_owned(), |line| line.to_string())
}
