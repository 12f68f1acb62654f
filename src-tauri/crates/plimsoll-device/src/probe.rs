//! The interface, and the choice of the probe for this system.

use crate::features::instruction_sets;
use crate::linux::LinuxProbe;
use crate::reading::{CpuInfo, MemoryReading};

/// Reads the machine. Every call reads afresh: free memory is a moving number.
pub trait Probe: Send + Sync {
    /// Memory now.
    fn memory(&self) -> MemoryReading;

    /// The processor.
    fn cpu(&self) -> CpuInfo;
}

/// The machine that this process runs on.
#[derive(Debug, Clone)]
pub struct SystemProbe {
    linux: Option<LinuxProbe>,
}

impl SystemProbe {
    /// The probe for this system.
    pub fn new() -> Self {
        Self { linux: cfg!(target_os = "linux").then(|| LinuxProbe::new("/")) }
    }
}

impl Default for SystemProbe {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe for SystemProbe {
    fn memory(&self) -> MemoryReading {
        self.linux.as_ref().map(LinuxProbe::memory).unwrap_or_default()
    }

    fn cpu(&self) -> CpuInfo {
        let mut cpu = self.linux.as_ref().map(LinuxProbe::cpu).unwrap_or_default();
        if cpu.logical.is_none() {
            cpu.logical = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
        }
        cpu.features = instruction_sets();
        cpu
    }
}
