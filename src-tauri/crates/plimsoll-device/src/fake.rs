//! A machine made of numbers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_plan::Bytes;

use crate::probe::Probe;
use crate::reading::{CpuInfo, MemoryReading};

/// A probe that reads what a test wrote.
#[derive(Debug, Default)]
pub struct FakeProbe {
    state: Mutex<(MemoryReading, CpuInfo)>,
}

impl FakeProbe {
    /// A machine with `total` memory of which `available` is free, one core, and a process of 32 MiB.
    pub fn new(total: Bytes, available: Bytes) -> Self {
        let resident = Some(Bytes(32 << 20));
        let memory = MemoryReading {
            physical: Some(total),
            total: Some(total),
            available: Some(available),
            process_resident: resident,
            process_peak: resident,
            limits: Vec::new(),
        };
        let cpu = CpuInfo {
            name: Some("Fake processor".to_owned()),
            physical_cores: Some(1),
            logical: Some(2),
            features: Vec::new(),
        };
        Self { state: Mutex::new((memory, cpu)) }
    }

    /// Replaces the memory reading.
    pub fn set_memory(&self, memory: MemoryReading) {
        self.lock().0 = memory;
    }

    /// Changes what is free, as another program would.
    pub fn set_available(&self, available: Option<Bytes>) {
        self.lock().0.available = available;
    }

    /// Replaces the processor.
    pub fn set_cpu(&self, cpu: CpuInfo) {
        self.lock().1 = cpu;
    }

    fn lock(&self) -> MutexGuard<'_, (MemoryReading, CpuInfo)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Probe for FakeProbe {
    fn memory(&self) -> MemoryReading {
        self.lock().0.clone()
    }

    fn cpu(&self) -> CpuInfo {
        self.lock().1.clone()
    }
}
