//! The backend without a window: plan, generate, chat, logits, tokenize, render, bench, perplexity, list, doctor.
//!
//! Exit codes: 0 done, 2 bad use, 3 refused by the plan or by admission (JSON on standard error), 1 anything else.

#![forbid(unsafe_code)]

mod answer;
mod args;
mod bandwidth;
mod bench;
mod chat;
mod failure;
mod generate;
mod logits;
mod machine;
mod model;
mod perplexity;
mod plan;
mod print;
mod render;
mod tokenize;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.command.json();
    start_log();
    match run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Plan(arguments) => plan::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Chat(arguments) => chat::run(arguments),
        Command::Logits(arguments) => logits::run(arguments),
        Command::Tokenize(arguments) => tokenize::run(arguments),
        Command::Render(arguments) => render::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Perplexity(arguments) => perplexity::run(arguments),
        Command::List(arguments) => machine::list(arguments),
        Command::Doctor(arguments) => machine::doctor(arguments),
    }
}

/// The log goes to standard error, and only what `PLIMSOLL_LOG` asks for: standard error is also the interface.
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PLIMSOLL_LOG");
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("off"));
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}
