//! The contract between the page and the backend: commands, DTOs, events and error codes.
//!
//! Nothing here depends on a host or on the engine. Every type is plain data: it serialises to JSON with
//! camelCase fields, and ts-rs writes the same shape to `ui/src/lib/ipc/generated.ts`. Byte counts are `u64`
//! and stay below 2^53, so that JSON numbers carry them exactly.

mod commands;
mod conversation;
mod error;
mod events;
mod generation;
mod memory;
mod models;
mod settings;
pub mod typescript;

pub use commands::COMMANDS;
pub use conversation::*;
pub use error::*;
pub use events::*;
pub use generation::*;
pub use memory::*;
pub use models::*;
pub use settings::*;
