//! Integration tests: the layering of the workspace, the contract, tokenizers, templates, memory, bad input.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs,
    reason = "tests"
)]

mod bad_files;
mod bad_requests;
mod contract;
mod desk;
mod layering;
mod memory;
mod render;
mod source_rules;
mod tokens;
