//! Detects the processor, the memory and what of it is free, behind [`Probe`]; [`FakeProbe`] stands in for tests.
//!
//! What cannot be detected is `None`, never 0 and never "unlimited". Linux is read from `/proc`, `/sys` and the
//! control groups above this process. On macOS and Windows only the number of logical processors and the
//! instruction sets are known; memory reads as unknown there, and a plan is refused until it is stated.

#![forbid(unsafe_code)]

mod device_memory;
mod fake;
mod features;
mod linux;
mod probe;
mod reading;

pub use device_memory::{DeviceError, device_memory, headroom};
pub use fake::FakeProbe;
pub use linux::LinuxProbe;
pub use probe::{Probe, SystemProbe};
pub use reading::{CpuInfo, LimitKind, MemoryLimit, MemoryReading};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests;
