//! Workspace automation. `cargo xtask --help` lists what there is.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command-line tool talks on stdout")]

mod bench;
mod bundle;
mod contract;
mod display;
mod icons;
mod models;
mod node;
mod packages;
mod process;
mod run;
mod setup;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Plimsoll's workspace automation.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs what is missing: system packages, npm packages, the two test models. Quick when all is there.
    Setup,
    /// Opens the window with SmolLM2 ready to chat.
    Run(run::Options),
    /// Checks everything, phase by phase: page, formatting, lints, tests, the real window.
    Test,
    /// Compares Plimsoll with llama.cpp on this machine, alternately.
    Bench(bench::Options),
    /// Builds an optimised Debian package.
    Bundle,
    /// Makes the icon sets again from icons/plimsoll.svg.
    Icons,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Setup => setup::setup(),
        Task::Run(options) => run::run(&options),
        Task::Test => test::test(),
        Task::Bench(options) => bench::bench(&options),
        Task::Bundle => bundle::bundle(),
        Task::Icons => icons::icons(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
