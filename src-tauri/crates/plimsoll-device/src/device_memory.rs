//! From a reading to the planner's input.

use plimsoll_plan::{Bytes, DeviceMemory};

use crate::reading::MemoryReading;

/// Least headroom.
const LEAST_HEADROOM: Bytes = Bytes(256 << 20);

/// Most headroom: what a system with a window takes.
const MOST_HEADROOM: Bytes = Bytes(2 << 30);

/// The machine cannot be planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Total memory could not be read.
    #[error("the total memory of this machine could not be read")]
    UnknownTotal,
}

/// Kept free for the system and for what draws the screen: a sixteenth of the total, within 256 MiB and 2 GiB.
pub fn headroom(total: Bytes) -> Bytes {
    Bytes(total.0 / 16).clamp(LEAST_HEADROOM, MOST_HEADROOM)
}

/// The planner's input for main memory.
///
/// An unknown resident size counts as nothing held: free memory excludes it already, so that the budget's bound by
/// free memory stays right.
pub fn device_memory(name: impl Into<String>, reading: &MemoryReading) -> Result<DeviceMemory, DeviceError> {
    let total = reading.total.ok_or(DeviceError::UnknownTotal)?;
    Ok(DeviceMemory {
        name: name.into(),
        total,
        free: reading.available.map(|available| available.min(total)),
        headroom: headroom(total),
        resident: reading.process_resident.unwrap_or(Bytes::ZERO),
    })
}
