//! Composition of plan, device, chat and engine: one async method per command. Knows no host.
//!
//! A [`Backend`] owns the data folder, the loaded model, the open conversation and the running answer. A host gives it
//! a way to read the machine and a place for events, and forwards commands.

#![forbid(unsafe_code)]

mod admission;
mod apply;
mod backend;
mod check;
mod coalesce;
mod conversation;
mod core;
mod doctor;
mod draft;
pub mod errors;
mod events;
mod gauge;
mod generation;
mod json_file;
mod load;
mod locking;
mod models;
pub mod paths;
mod preview;
pub mod prompt;
pub mod report;
mod send;
mod settings;
mod slot;
mod stream;

pub use backend::Backend;
pub use core::BackendConfig;
pub use events::EventSink;
