//! How a command fails: what is said on standard error, and the exit code.

use std::io::Write as _;
use std::process::ExitCode;

use plimsoll_backend::errors::ToIpc;
use plimsoll_device::DeviceError;
use plimsoll_engine::{EngineError, ModelError};
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::{DoesNotFit, PlanError};

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure(IpcError);

macro_rules! from_errors {
    ($($error:ty),*) => { $( impl From<$error> for Failure {
        fn from(error: $error) -> Self {
            Self(error.to_ipc())
        }
    } )* };
}
from_errors!(DeviceError, ModelError, EngineError, PlanError, DoesNotFit, std::io::Error);

impl Failure {
    pub(crate) fn new(error: IpcError) -> Self {
        Self(error)
    }

    /// The same failure, naming what it speaks of.
    pub(crate) fn of(self, detail: impl Into<String>) -> Self {
        Self(self.0.with_detail(detail))
    }

    /// 2 bad use, 3 refused by the plan or by admission, 1 other.
    fn exit_code(&self) -> u8 {
        match self.0.code {
            ErrorCode::BadSetting => 2,
            ErrorCode::PlanDoesNotFit
            | ErrorCode::ContextAboveTrained
            | ErrorCode::ContextExceeded
            | ErrorCode::OutputLimitExceeded
            | ErrorCode::PromptLimitExceeded
            | ErrorCode::EmptyPrompt
            | ErrorCode::NoTemplate
            | ErrorCode::OutOfMemory => 3,
            _ => 1,
        }
    }

    /// Says what went wrong: as JSON when that was asked for and for every refusal, else in words.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let code = self.exit_code();
        let mut out = std::io::stderr().lock();
        let as_json = if json || code == 3 { serde_json::to_string(&self.0).ok() } else { None };
        let _ = match as_json {
            Some(line) => writeln!(out, "{line}"),
            None => writeln!(out, "plimsoll: {}", self.0.message),
        };
        ExitCode::from(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_follow_the_contract() {
        let code = |code| Failure::new(IpcError::new(code, "")).exit_code();
        assert_eq!(code(ErrorCode::BadSetting), 2);
        assert_eq!(code(ErrorCode::PlanDoesNotFit), 3);
        assert_eq!(code(ErrorCode::ContextExceeded), 3);
        assert_eq!(code(ErrorCode::NoTemplate), 3);
        assert_eq!(code(ErrorCode::NotGguf), 1);
        assert_eq!(code(ErrorCode::Internal), 1);
    }
}
