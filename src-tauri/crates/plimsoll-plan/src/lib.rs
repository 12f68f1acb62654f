//! Pure memory planning: a model's shape, a device's memory and the user's settings become a [`MemoryPlan`].
//!
//! The plan names every byte before anything is loaded, and the engine's slab is laid out from it: the allocator
//! has no other input. This crate does no I/O, has no async code and reads no clock.

mod shape;
mod units;

pub use shape::*;
pub use units::{Bytes, Tokens};
