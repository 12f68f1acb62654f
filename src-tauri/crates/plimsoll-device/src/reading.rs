//! What a probe reads.

use plimsoll_plan::Bytes;
use serde::{Deserialize, Serialize};

/// Memory at one instant. Every unknown is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryReading {
    /// Physical memory.
    pub physical: Option<Bytes>,
    /// The least of physical memory and the limits above this process.
    pub total: Option<Bytes>,
    /// What this process can still take: the least of the system's available memory and the room under each limit.
    pub available: Option<Bytes>,
    /// Resident memory of this process.
    pub process_resident: Option<Bytes>,
    /// Largest resident memory of this process so far.
    pub process_peak: Option<Bytes>,
    /// The limits, nearest to the process first.
    pub limits: Vec<MemoryLimit>,
}

/// Which interface states a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// `memory.limit_in_bytes` of control groups version 1.
    CgroupV1,
    /// `memory.max` of version 2: above it the group is killed.
    CgroupV2Max,
    /// `memory.high` of version 2: above it the group is throttled.
    CgroupV2High,
}

/// A memory limit on this process or on a group above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Which interface states it.
    pub kind: LimitKind,
    /// The group's path.
    pub group: String,
    /// The limit.
    pub limit: Bytes,
    /// What the group uses, without the file cache that the kernel gives back on demand; `None` = unknown.
    pub used: Option<Bytes>,
}

impl MemoryLimit {
    /// What the group can still take; `None` = unknown.
    pub fn room(&self) -> Option<Bytes> {
        self.used.map(|used| self.limit.minus(used))
    }
}

/// The processor, as far as this process may use it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuInfo {
    /// Its name.
    pub name: Option<String>,
    /// Physical cores that this process may run on, bounded by the time quota of the groups above it.
    pub physical_cores: Option<u32>,
    /// Logical processors that this process may run on.
    pub logical: Option<u32>,
    /// Instruction sets that matter to the kernels, for example `avx2`.
    pub features: Vec<String>,
}

impl CpuInfo {
    /// Compute threads when the user names none: the physical cores, else the logical processors, else one.
    pub fn compute_threads(&self) -> u32 {
        self.physical_cores.or(self.logical).unwrap_or(1).max(1)
    }
}
