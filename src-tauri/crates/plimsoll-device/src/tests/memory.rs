//! What is free, under every kind of group (research/memory.md T-G8: max, number, nested, version 1, missing).

use plimsoll_plan::Bytes;

use super::machine::{GIB, MIB, Machine};
use crate::{LimitKind, LinuxProbe, MemoryReading, Probe, SystemProbe};

const GROUP: &str = "sys/fs/cgroup";

#[test]
fn without_groups_the_system_decides() {
    let reading = Machine::new().probe().memory();
    assert_eq!(
        reading,
        MemoryReading {
            physical: Some(Bytes(16 * GIB)),
            total: Some(Bytes(16 * GIB)),
            available: Some(Bytes(12 * GIB)),
            process_resident: Some(Bytes(50 * MIB)),
            process_peak: Some(Bytes(60 * MIB)),
            limits: vec![],
        }
    );
}

#[test]
fn max_is_no_limit() {
    let machine =
        Machine::new().unified("/user.slice/app").file(&format!("{GROUP}/user.slice/app/memory.max"), "max\n");
    let reading = machine.probe().memory();
    assert_eq!((reading.total, reading.available), (Some(Bytes(16 * GIB)), Some(Bytes(12 * GIB))));
    assert!(reading.limits.is_empty());
}

#[test]
fn the_tightest_group_above_decides() {
    let machine = Machine::new()
        .unified("/a/b/c")
        .file(&format!("{GROUP}/a/b/c/memory.max"), "max")
        .file(&format!("{GROUP}/a/b/memory.max"), &(8 * GIB).to_string())
        .file(&format!("{GROUP}/a/b/memory.current"), &GIB.to_string())
        .file(&format!("{GROUP}/a/memory.max"), &(9 * GIB).to_string())
        .file(&format!("{GROUP}/a/memory.current"), &(7 * GIB).to_string())
        .file(&format!("{GROUP}/a/memory.stat"), "anon 5\ninactive_file 1073741824\nfile 9\n");
    let reading = machine.probe().memory();
    assert_eq!(reading.total, Some(Bytes(8 * GIB)));
    // Group a has 9 - (7 - 1 of file cache) GiB left; group b has 7.
    assert_eq!(reading.available, Some(Bytes(3 * GIB)));
    assert_eq!(
        reading.limits.iter().map(|limit| limit.group.as_str()).collect::<Vec<_>>(),
        ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a"]
    );
}

#[test]
fn high_counts_as_well_as_max() {
    let machine = Machine::new()
        .unified("/app")
        .file(&format!("{GROUP}/app/memory.max"), &(8 * GIB).to_string())
        .file(&format!("{GROUP}/app/memory.high"), &(2 * GIB).to_string())
        .file(&format!("{GROUP}/app/memory.current"), &GIB.to_string());
    let reading = machine.probe().memory();
    assert_eq!((reading.total, reading.available), (Some(Bytes(2 * GIB)), Some(Bytes(GIB))));
    assert_eq!(reading.limits[1].kind, LimitKind::CgroupV2High);
}

#[test]
fn a_file_that_was_just_read_is_not_memory_in_use() {
    // ollama PR#15961: current counts the page cache.
    let machine = Machine::new()
        .unified("/app")
        .file(&format!("{GROUP}/app/memory.max"), &(4 * GIB).to_string())
        .file(&format!("{GROUP}/app/memory.current"), &(4 * GIB).to_string())
        .file(&format!("{GROUP}/app/memory.stat"), &format!("inactive_file {}\n", 3 * GIB));
    assert_eq!(machine.probe().memory().available, Some(Bytes(3 * GIB)));
}

#[test]
fn an_overfull_group_has_nothing_left() {
    let machine = Machine::new()
        .unified("/app")
        .file(&format!("{GROUP}/app/memory.max"), &GIB.to_string())
        .file(&format!("{GROUP}/app/memory.current"), &(2 * GIB).to_string());
    assert_eq!(machine.probe().memory().available, Some(Bytes(0)));
}

#[test]
fn version_one_beside_an_empty_version_two() {
    let machine = Machine::new()
        .file("proc/self/cgroup", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n")
        .file(
            "proc/self/mountinfo",
            "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        )
        .file(&format!("{GROUP}/memory/memory.limit_in_bytes"), "9223372036854771712\n")
        .file(&format!("{GROUP}/memory/docker/abc/memory.limit_in_bytes"), &(2 * GIB).to_string())
        .file(&format!("{GROUP}/memory/docker/abc/memory.usage_in_bytes"), &GIB.to_string())
        .file(&format!("{GROUP}/memory/docker/abc/memory.stat"), &format!("total_inactive_file {}\n", GIB / 2));
    let reading = machine.probe().memory();
    assert_eq!((reading.total, reading.available), (Some(Bytes(2 * GIB)), Some(Bytes(3 * GIB / 2))));
    assert_eq!(reading.limits.len(), 1, "version 1's largest number is no limit");
    assert_eq!(reading.limits[0].kind, LimitKind::CgroupV1);
}

#[test]
fn a_container_without_its_own_namespace() {
    // The host's path is in /proc/self/cgroup, and only that group is mounted.
    let machine = Machine::new()
        .file("proc/self/cgroup", "4:memory:/docker/abc/inner\n")
        .file("proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
        .file(&format!("{GROUP}/memory/memory.limit_in_bytes"), &(2 * GIB).to_string())
        .file(&format!("{GROUP}/memory/inner/memory.limit_in_bytes"), &GIB.to_string());
    let reading = machine.probe().memory();
    assert_eq!(reading.total, Some(Bytes(GIB)));
    assert_eq!(reading.available, Some(Bytes(GIB)), "use is unknown, so only the limit itself bounds what is free");
    assert_eq!(reading.limits.iter().map(|limit| limit.used).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_path_outside_the_mount_leaves_the_mount_itself() {
    let machine = Machine::new().unified("/../../other").file(&format!("{GROUP}/memory.max"), &(3 * GIB).to_string());
    assert_eq!(machine.probe().memory().total, Some(Bytes(3 * GIB)));
}

#[test]
fn what_is_not_there_is_unknown() {
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(LinuxProbe::new(empty.path()).memory(), MemoryReading::default());
    let machine = Machine::new().file("proc/meminfo", "MemTotal: 0 kB\nMemAvailable: many kB\n");
    let reading = machine.probe().memory();
    assert_eq!((reading.physical, reading.total, reading.available), (None, None, None));
}

#[test]
#[cfg(target_os = "linux")]
fn this_machine_is_plausible() {
    let reading = SystemProbe::new().memory();
    let (total, available) = (reading.total.unwrap(), reading.available.unwrap());
    assert!(available.0 > 0 && available <= total && total <= reading.physical.unwrap());
    let (resident, peak) = (reading.process_resident.unwrap(), reading.process_peak.unwrap());
    assert!(resident.0 > 1 << 19 && resident <= peak && peak < total, "{resident} {peak}");
}
