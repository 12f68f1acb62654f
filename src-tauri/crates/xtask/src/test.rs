//! `cargo xtask test`: everything that must hold, phase by phase.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{process, setup, workspace};

/// A phase's name and what it does.
type Phase = (&'static str, fn() -> Result<()>);

/// In the order of what fails soonest. The page comes first, since the window embeds it.
///
/// The two builds that compile the workspace for running name the same targets and features, so that the tests use
/// what the build phase made; clippy shares their build scripts and macros.
const PHASES: &[Phase] = &[
    ("setup", setup::setup),
    ("page: types, lints, format", || process::run(&mut process::npm(&["run", "check"])?)),
    ("page: tests", || process::run(&mut process::npm(&["run", "test"])?)),
    ("page: build", || process::run(&mut process::npm(&["run", "build"])?)),
    ("rust: format", || process::run(&mut process::cargo(&["fmt", "--all", "--check"])?)),
    ("rust: lints", || {
        process::run(&mut process::cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?)
    }),
    ("rust: build", || process::run(&mut process::cargo(&["build", "--workspace", "--bins", "--tests"])?)),
    ("rust: tests", || process::run(with_models(&mut process::cargo(&["test", "--workspace"])?)?)),
    ("real window", real_window),
];

/// Runs the phases up to the first that fails. The last line counts them.
pub(crate) fn test() -> Result<()> {
    let started = Instant::now();
    let mut passed: Vec<(&str, Duration)> = Vec::new();
    for &(name, phase) in PHASES {
        println!("\n==> {name}");
        let phase_started = Instant::now();
        if let Err(error) = phase() {
            println!("\n==> {name}: FAILED after {}\n{error:#}", shown(phase_started.elapsed()));
            report(&passed, started.elapsed());
            let not_run = PHASES.len() - passed.len() - 1;
            println!("{} passed, 1 failed, {not_run} not run", passed.len());
            bail!("{name} failed");
        }
        println!("==> {name}: passed in {}", shown(phase_started.elapsed()));
        passed.push((name, phase_started.elapsed()));
    }
    report(&passed, started.elapsed());
    println!("{} passed, 0 failed", passed.len());
    Ok(())
}

/// The page, the shell and the engine together, driven through WebKit's own driver.
fn real_window() -> Result<()> {
    let mut command =
        process::cargo(&["test", "--workspace", "--test", "e2e", "--", "--test-threads=1", "--nocapture"])?;
    command.env("PLIMSOLL_E2E", "1").env("PLIMSOLL_DESKTOP", workspace::program("plimsoll-desktop")?);
    process::run(with_models(&mut command)?)
}

/// Tells the tests where the real models are. They fail where one is missing.
fn with_models(command: &mut Command) -> Result<&mut Command> {
    Ok(command.env("PLIMSOLL_MODELS", workspace::models()?))
}

fn report(passed: &[(&str, Duration)], total: Duration) {
    println!();
    for (name, time) in passed {
        println!("{name:<28} {:>8}", shown(*time));
    }
    println!("{:<28} {:>8}", "total", shown(total));
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
