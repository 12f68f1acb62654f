//! What the integration tests, the oracles and the real window's tests share: the repository's files, the recorded
//! fixtures, the two real models, tiny random models, and plans on a roomy machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::missing_panics_doc,
    reason = "test support: a failure is a failed test"
)]

pub mod fixtures;
pub mod models;
pub mod plans;
pub mod repository;
pub mod tiny;
