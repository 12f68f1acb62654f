//! Linux, read from files below a root directory, so that a test can lay out any machine.

mod cgroup;
mod processor;
mod tables;

use std::path::{Path, PathBuf};

use plimsoll_plan::Bytes;

use crate::reading::{CpuInfo, MemoryReading};
use cgroup::Groups;
use tables::{kilobytes, unsigned};

/// Reads `/proc`, `/sys` and the control groups below `root`.
#[derive(Debug, Clone)]
pub struct LinuxProbe {
    root: PathBuf,
}

impl LinuxProbe {
    /// A probe over the files below `root`; `/` for the machine itself.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Memory now.
    pub fn memory(&self) -> MemoryReading {
        let meminfo = self.read("proc/meminfo").unwrap_or_default();
        let status = self.read("proc/self/status").unwrap_or_default();
        let physical = kilobytes(&meminfo, "MemTotal").filter(|total| total.0 > 0);
        let limits = Groups::find(self).memory_limits(self);
        let total = physical.map(|physical| limits.iter().map(|limit| limit.limit).fold(physical, Bytes::min));
        let system = kilobytes(&meminfo, "MemAvailable");
        let available =
            system.map(|system| limits.iter().filter_map(crate::reading::MemoryLimit::room).fold(system, Bytes::min));
        MemoryReading {
            physical,
            total,
            available: available.map(|available| total.map_or(available, |total| available.min(total))),
            process_resident: kilobytes(&status, "VmRSS"),
            process_peak: kilobytes(&status, "VmHWM"),
            limits,
        }
    }

    /// The processor, without its instruction sets: those are asked of the processor itself.
    pub fn cpu(&self) -> CpuInfo {
        processor::read(self)
    }

    /// A file's text, or `None` when it cannot be read.
    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// A file that holds one number.
    fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        unsigned(&self.read(path)?)
    }
}
