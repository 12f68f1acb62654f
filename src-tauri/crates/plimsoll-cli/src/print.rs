//! Standard output, without a panic when the reader has gone.

use std::io::Write as _;

use plimsoll_ipc::{ErrorCode, IpcError};
use serde::Serialize;

use crate::failure::Failure;

/// Prints text as it is.
pub(crate) fn text(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Prints a line.
pub(crate) fn line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
}

/// Prints a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let written = serde_json::to_string(value);
    line(&written.map_err(|error| Failure::new(IpcError::new(ErrorCode::Internal, error.to_string())))?);
    Ok(())
}

/// A byte count for people.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in UNITS {
        if bytes >= unit {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}
