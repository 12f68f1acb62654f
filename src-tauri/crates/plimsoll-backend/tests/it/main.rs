//! The backend on a real model, through its commands and events only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_docs_in_private_items,
    reason = "tests"
)]

mod admission;
mod loading;
mod settings;
mod streaming;
mod support;
