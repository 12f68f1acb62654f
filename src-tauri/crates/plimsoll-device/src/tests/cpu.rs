//! Cores within affinity and quota.

use super::machine::Machine;
use crate::{CpuInfo, LinuxProbe, Probe, SystemProbe};

#[test]
fn two_threads_of_a_core_are_one_core() {
    let cpu = Machine::new().four_cores_of_two_threads().probe().cpu();
    assert_eq!(cpu.name.as_deref(), Some("Example CPU @ 3.00GHz"));
    assert_eq!((cpu.physical_cores, cpu.logical), (Some(4), Some(8)));
    assert_eq!(cpu.compute_threads(), 4);
}

#[test]
fn affinity_bounds_the_cores() {
    let machine = Machine::new().four_cores_of_two_threads().file("proc/self/status", "Cpus_allowed_list:\t0,4,6-7\n");
    let cpu = machine.probe().cpu();
    assert_eq!((cpu.physical_cores, cpu.logical), (Some(3), Some(4)));
}

#[test]
fn the_smallest_quota_bounds_the_cores() {
    let machine = Machine::new()
        .four_cores_of_two_threads()
        .unified("/a/b")
        .file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    let cpu = machine.probe().cpu();
    assert_eq!((cpu.physical_cores, cpu.logical), (Some(2), Some(2)));
    let machine = machine.file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    assert_eq!(machine.probe().cpu().physical_cores, Some(1), "half a processor still computes");
}

#[test]
fn a_version_one_quota() {
    let machine = Machine::new()
        .four_cores_of_two_threads()
        .file("proc/self/cgroup", "2:cpu,cpuacct:/app\n")
        .file("proc/self/mountinfo", "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "300000\n")
        .file("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
    assert_eq!(machine.probe().cpu().physical_cores, Some(3));
}

#[test]
fn older_kernels_name_core_and_package() {
    let mut machine = Machine::new().file("proc/self/status", "Cpus_allowed_list: 0-3\n");
    for (processor, package, core) in [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 0)] {
        let topology = format!("sys/devices/system/cpu/cpu{processor}/topology");
        machine = machine
            .file(&format!("{topology}/core_id"), &format!("{core}\n"))
            .file(&format!("{topology}/physical_package_id"), &format!("{package}\n"));
    }
    assert_eq!(machine.probe().cpu().physical_cores, Some(3));
}

#[test]
fn no_topology_is_unknown_not_one() {
    let cpu = Machine::new().probe().cpu();
    assert_eq!((cpu.physical_cores, cpu.logical), (None, Some(8)));
    assert_eq!(cpu.compute_threads(), 8);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(LinuxProbe::new(empty.path()).cpu(), CpuInfo::default());
    let huge = Machine::new().file("proc/self/status", "Cpus_allowed_list: 0-4294967295\n").probe().cpu();
    assert_eq!(huge.logical, Some(8192));
}

#[test]
fn this_machine_computes() {
    let cpu = SystemProbe::new().cpu();
    assert!(cpu.logical.unwrap() >= cpu.physical_cores.unwrap_or(1));
    #[cfg(target_arch = "x86_64")]
    assert_eq!(cpu.features.iter().any(|name| name == "avx2"), std::arch::is_x86_feature_detected!("avx2"));
}
