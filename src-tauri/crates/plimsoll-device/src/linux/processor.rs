//! Cores that this process may use.

use std::collections::BTreeSet;

use super::LinuxProbe;
use super::cgroup::Groups;
use super::tables::{after_colon, range_list};
use crate::reading::CpuInfo;

/// More processors than Linux can be built for.
const MOST_PROCESSORS: usize = 8192;

pub(super) fn read(probe: &LinuxProbe) -> CpuInfo {
    let cpuinfo = probe.read("proc/cpuinfo").unwrap_or_default();
    let name = ["model name", "Model", "cpu model"].into_iter().find_map(|key| after_colon(&cpuinfo, key));
    let allowed = allowed_processors(probe);
    let quota = Groups::find(probe).processor_quota(probe);
    let bounded = |count: usize| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        quota.map_or(count, |quota| count.min(quota))
    };
    CpuInfo {
        name: name.filter(|name| !name.is_empty()).map(str::to_owned),
        physical_cores: allowed.as_ref().and_then(|allowed| cores(probe, allowed)).map(bounded),
        logical: allowed.as_ref().map(|allowed| bounded(allowed.len())),
        features: Vec::new(),
    }
}

/// Processors of this process's affinity mask, which control group cpusets narrow as well.
fn allowed_processors(probe: &LinuxProbe) -> Option<Vec<u32>> {
    let status = probe.read("proc/self/status").unwrap_or_default();
    after_colon(&status, "Cpus_allowed_list").and_then(|list| range_list(list, MOST_PROCESSORS)).or_else(|| {
        let online = probe.read("sys/devices/system/cpu/online")?;
        range_list(&online, MOST_PROCESSORS)
    })
}

/// What tells a core from others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Core {
    /// The processors that are its threads.
    Threads(Vec<u32>),
    /// Its package and its number there, from kernels that list no threads.
    Numbered(u64, u64),
}

/// Distinct cores among `allowed`.
fn cores(probe: &LinuxProbe, allowed: &[u32]) -> Option<usize> {
    let cores = allowed.iter().map(|&processor| core(probe, processor)).collect::<Option<BTreeSet<_>>>()?;
    Some(cores.len()).filter(|&count| count > 0)
}

fn core(probe: &LinuxProbe, processor: u32) -> Option<Core> {
    let topology = format!("sys/devices/system/cpu/cpu{processor}/topology");
    let threads = ["core_cpus_list", "thread_siblings_list"]
        .into_iter()
        .find_map(|file| probe.read(format!("{topology}/{file}")))
        .and_then(|list| range_list(&list, MOST_PROCESSORS));
    if let Some(threads) = threads {
        return Some(Core::Threads(threads));
    }
    let package = probe.number(format!("{topology}/physical_package_id")).unwrap_or(0);
    probe.number(format!("{topology}/core_id")).map(|core| Core::Numbered(package, core))
}
