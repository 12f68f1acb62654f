//! Oracles: what the engine computes, next to independent implementations.
//!
//! The float reference is candle: weights dequantized by `candle-core`, a 32-bit forward pass by
//! `candle-transformers`. llama.cpp's likelihoods are recorded (`fixtures/perplexity.json`). Every test prints its
//! numbers; run with `--nocapture` to see them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    missing_docs,
    reason = "tests"
)]

mod agreement;
mod chunking;
mod logits;
mod perplexity;
mod reference;
mod storage_types;
