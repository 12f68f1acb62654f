//! The real window: the built program under Xvfb, driven through WebKit's own WebDriver.
//!
//! `cargo xtask test` runs it. A plain `cargo test` runs only what needs no window, and says so: the program, which
//! embeds the built page, is not among what cargo builds for a test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod numbers;
mod scenarios;
mod window;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let mut trials = numbers::trials();
    if std::env::var_os("PLIMSOLL_E2E").is_some() {
        // One window at a time: they measure.
        arguments.test_threads = Some(1);
        trials.extend(scenarios::trials());
    } else if !arguments.list {
        eprintln!("\n*** The tests of the real window are NOT run here. `cargo xtask test` runs them. ***\n");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test under its name; a panic fails it.
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
