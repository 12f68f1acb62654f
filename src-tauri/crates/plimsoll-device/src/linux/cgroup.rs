//! Control groups: the limits of every group from this process up to where the hierarchy is mounted.
//!
//! Version 2 has `memory.max`, `memory.high` and `cpu.max`; version 1 has `memory.limit_in_bytes` and
//! `cpu.cfs_quota_us`. Both may be mounted at once. Usage is counted without inactive file cache, which the kernel
//! drops when the memory is needed: a model file that was just read is not memory in use. (Kernel documentation,
//! cgroup-v2.rst and cgroup-v1/memory.rst.)

use plimsoll_plan::Bytes;

use super::LinuxProbe;
use super::tables::{counter, unsigned};
use crate::reading::{LimitKind, MemoryLimit};

/// Deepest nesting that is followed.
const DEEPEST: usize = 64;

/// "No limit" of version 1 is the largest multiple of the page size in an i64; no machine has an eighth of it.
const V1_UNLIMITED: u64 = 1 << 60;

/// Directories of this process's groups, each list from the process's own group upwards, without a leading slash.
#[derive(Debug, Default)]
pub(super) struct Groups {
    unified: Vec<String>,
    memory: Vec<String>,
    processor: Vec<String>,
}

impl Groups {
    pub(super) fn find(probe: &LinuxProbe) -> Self {
        let membership = probe.read("proc/self/cgroup").unwrap_or_default();
        let mounts = parse_mounts(&probe.read("proc/self/mountinfo").unwrap_or_default());
        let directories = |controller: Option<&str>| {
            let mount = mounts.iter().find(|mount| mount.serves(controller))?;
            let path = membership.lines().find_map(|line| membership_path(line, controller))?;
            Some(mount.directories(path))
        };
        Self {
            unified: directories(None).unwrap_or_default(),
            memory: directories(Some("memory")).unwrap_or_default(),
            processor: directories(Some("cpu")).unwrap_or_default(),
        }
    }

    /// Memory limits, nearest first.
    pub(super) fn memory_limits(&self, probe: &LinuxProbe) -> Vec<MemoryLimit> {
        let mut limits = Vec::new();
        for group in &self.unified {
            for (kind, file) in [(LimitKind::CgroupV2Max, "memory.max"), (LimitKind::CgroupV2High, "memory.high")] {
                // "max" is no number, and no limit.
                if let Some(limit) = probe.number(format!("{group}/{file}")) {
                    let used = used(probe, group, "memory.current", "inactive_file");
                    limits.push(MemoryLimit { kind, group: format!("/{group}"), limit: Bytes(limit), used });
                }
            }
        }
        for group in &self.memory {
            let limit = probe.number(format!("{group}/memory.limit_in_bytes"));
            if let Some(limit) = limit.filter(|&limit| limit < V1_UNLIMITED) {
                let used = used(probe, group, "memory.usage_in_bytes", "total_inactive_file");
                let kind = LimitKind::CgroupV1;
                limits.push(MemoryLimit { kind, group: format!("/{group}"), limit: Bytes(limit), used });
            }
        }
        limits
    }

    /// Whole processors that the time quotas leave, at least one; `None` = no quota.
    pub(super) fn processor_quota(&self, probe: &LinuxProbe) -> Option<u32> {
        let unified = self.unified.iter().filter_map(|group| {
            let text = probe.read(format!("{group}/cpu.max"))?;
            let (quota, period) = text.trim().split_once(' ')?;
            Some((unsigned(quota)?, unsigned(period)?))
        });
        let legacy = self.processor.iter().filter_map(|group| {
            // -1 is no number, and no quota.
            let quota = probe.number(format!("{group}/cpu.cfs_quota_us"))?;
            Some((quota, probe.number(format!("{group}/cpu.cfs_period_us"))?))
        });
        unified
            .chain(legacy)
            .filter(|&(_, period)| period > 0)
            .map(|(quota, period)| u32::try_from(quota / period).unwrap_or(u32::MAX).max(1))
            .min()
    }
}

fn used(probe: &LinuxProbe, group: &str, current: &str, reclaimable: &str) -> Option<Bytes> {
    let current = probe.number(format!("{group}/{current}"))?;
    let statistics = probe.read(format!("{group}/memory.stat")).unwrap_or_default();
    Some(Bytes(current).minus(Bytes(counter(&statistics, reclaimable).unwrap_or(0))))
}

/// The path in a line of `/proc/self/cgroup`, `id:controllers:path`, if the line is the wanted hierarchy's.
fn membership_path<'a>(line: &'a str, controller: Option<&str>) -> Option<&'a str> {
    let mut fields = line.splitn(3, ':');
    let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let wanted = match controller {
        None => id == "0" && controllers.is_empty(),
        Some(controller) => controllers.split(',').any(|name| name == controller),
    };
    wanted.then_some(path)
}

/// A mounted hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The group that is mounted; not `/` inside a container without a namespace of its own.
    root: String,
    /// Where.
    point: String,
    /// Version 2?
    unified: bool,
    /// Controllers of a version 1 hierarchy.
    options: String,
}

impl Mount {
    fn serves(&self, controller: Option<&str>) -> bool {
        match controller {
            None => self.unified,
            Some(controller) => !self.unified && self.options.split(',').any(|option| option == controller),
        }
    }

    /// Directories from the group at `path` up to the mount point.
    fn directories(&self, path: &str) -> Vec<String> {
        let inside = if self.root == "/" { Some(path) } else { path.strip_prefix(self.root.as_str()) };
        // A path outside what is mounted (a namespace's "/..") leaves the mount point as the only visible group.
        let inside = inside.filter(|path| !path.split('/').any(|part| part == "..")).unwrap_or("");
        let mut parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).take(DEEPEST).collect();
        let point = self.point.trim_matches('/');
        let mut directories = Vec::with_capacity(parts.len() + 1);
        while !parts.is_empty() {
            directories.push(format!("{point}/{}", parts.join("/")));
            parts.pop();
        }
        directories.push(point.to_owned());
        directories
    }
}

/// The control group mounts of `/proc/self/mountinfo`.
fn parse_mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let unified = match after.next()? {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    let options = after.nth(1).unwrap_or_default().to_owned();
    let mut before = before.split(' ').skip(3);
    Some(Mount { root: before.next()?.to_owned(), point: before.next()?.replace("\\040", " "), unified, options })
}
