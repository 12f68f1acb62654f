//! Running other programs.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// Runs a program with its output on the terminal. Anything but success is an error that shows the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Runs a program and returns what it prints on stdout; its stderr stays on the terminal.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown}: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{shown} printed something that is not UTF-8"))
}

/// Does the program exist and succeed? Prints nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Cargo, from the root.
pub(crate) fn cargo(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root()?);
    Ok(command)
}

/// npm, from the page's folder.
pub(crate) fn npm(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.args(arguments).current_dir(workspace::ui()?);
    Ok(command)
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
