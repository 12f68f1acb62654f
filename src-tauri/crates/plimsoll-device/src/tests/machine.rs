//! A file tree that looks like a Linux machine.

use crate::LinuxProbe;

pub(super) const GIB: u64 = 1 << 30;
pub(super) const MIB: u64 = 1 << 20;

pub(super) struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    /// 16 GiB of memory, 12 GiB available, a process of 50 MiB with a peak of 60 MiB, no groups.
    pub(super) fn new() -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap() };
        machine
            .file(
                "proc/meminfo",
                "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:   12582912 kB\nBuffers: 1 kB\n",
            )
            .file(
                "proc/self/status",
                "Name:\tplimsoll\nVmPeak:\t  999999 kB\nVmHWM:\t   61440 kB\nVmRSS:\t   51200 kB\nCpus_allowed:\tff\n\
                 Cpus_allowed_list:\t0-7\n",
            )
            .file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU @ 3.00GHz\n\nprocessor\t: 1\n")
    }

    pub(super) fn file(self, path: &str, text: &str) -> Self {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A version 2 hierarchy in which this process is in `group`.
    pub(super) fn unified(self, group: &str) -> Self {
        self.file("proc/self/cgroup", &format!("0::{group}\n")).file(
            "proc/self/mountinfo",
            "22 1 0:20 / / rw - ext4 /dev/sda rw\n31 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
        )
    }

    /// Processors as pairs of threads: 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    pub(super) fn four_cores_of_two_threads(mut self) -> Self {
        for processor in 0..8 {
            let path = format!("sys/devices/system/cpu/cpu{processor}/topology/core_cpus_list");
            self = self.file(&path, &format!("{},{}\n", processor % 4, processor % 4 + 4));
        }
        self
    }

    pub(super) fn probe(&self) -> LinuxProbe {
        LinuxProbe::new(self.root.path())
    }
}
