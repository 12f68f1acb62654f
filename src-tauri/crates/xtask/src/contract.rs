//! The TypeScript half of the contract.

use std::fs;

use anyhow::{Context as _, Result};

use crate::workspace;

/// Writes ui/src/lib/ipc/generated.ts if the Rust types say something else now.
pub(crate) fn write() -> Result<()> {
    let file = workspace::ui()?.join("src/lib/ipc/generated.ts");
    let wanted = plimsoll_ipc::typescript::module();
    if fs::read_to_string(&file).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    println!("setup: writing {}", file.display());
    fs::write(&file, wanted).with_context(|| file.display().to_string())
}
