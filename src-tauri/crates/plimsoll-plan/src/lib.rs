//! Pure memory planning: a model's shape, a device's memory and the user's settings become a [`MemoryPlan`].
//!
//! The plan names every byte before anything is loaded, and the engine's slab is laid out from it: the allocator
//! has no other input. This crate does no I/O, has no async code and reads no clock.

#![forbid(unsafe_code)]

mod admission;
mod budget;
mod choice;
mod error;
mod kv;
mod layout;
mod memory_plan;
mod search;
mod shape;
mod units;
mod weights;

pub use admission::{AdmissionLimits, KvPool, Lease, Refusal, Request, Shortage, admit};
pub use budget::budget;
pub use error::{DoesNotFit, PlanError};
pub use kv::{KvClass, page_bytes, pages_per_chat};
pub use layout::SEGMENT_ALIGNMENT;
pub use memory_plan::{Candidate, HostItem, HostPart, MemoryPlan, Region, RegionName, Segment, SegmentBytes};
pub use search::plan;
pub use shape::*;
pub use units::{Bytes, Tokens};
pub use weights::weight_bytes;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests;
