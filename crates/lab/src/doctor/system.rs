//! Settings and limits of this host that are read from files of the kernel.
//!
//! In: `/proc`, `/sys`, the limits of this process, the data folder. Out: [`System`]. What cannot be found out is
//! `None`, never an error.

use rqps_machine::program_place::{self, NoHugePages};
use rqps_observe::cpu_events;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MEMINFO: &str = "/proc/meminfo";

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct System {
    /// CPUs that this process may use.
    pub cpus_allowed: Vec<usize>,
    /// How many CPUs a control group allows on average, where it limits them.
    pub cpu_quota: Option<f64>,
    /// The clocks that the kernel could read the time from.
    pub clock_sources: Vec<String>,
    /// Bytes of memory that programs could have.
    pub memory_available_bytes: Option<u64>,
    /// Bytes that were swapped out.
    pub swap_used_bytes: u64,
    /// Bytes that are free on the disk of the data folder.
    pub disk_free_bytes: Option<u64>,
    /// Files that a process may have open at most; `None` without a limit.
    pub open_files_limit: Option<u64>,
    /// Who may profile: -1 everybody, 1 own programs with the kernel, 2 own programs without it, 3 and 4 root only.
    pub perf_event_paranoid: Option<i64>,
    /// Why events of the CPU such as cycles cannot be counted: by the reason, the events; empty where all can be.
    pub cpu_events_refused: BTreeMap<String, Vec<String>>,
    /// Why system calls cannot be counted, where that is so.
    pub syscalls_refused: Option<String>,
    /// Why programs cannot lie in huge pages; `None` where they can.
    pub no_huge_programs: Option<NoHugePages>,
    /// Whether this is root.
    pub is_root: bool,
}

impl System {
    /// Reads all of it.
    pub fn read(data: &Path) -> System {
        let meminfo = fs::read_to_string(MEMINFO).unwrap_or_default();
        let bytes = |name: &str| Some(kilobytes(&meminfo, name)? * 1024);
        let swap = bytes("SwapTotal").zip(bytes("SwapFree")).map_or(0, |(all, free)| all.saturating_sub(free));
        System {
            cpus_allowed: cpus_allowed(),
            cpu_quota: cpu_quota(),
            clock_sources: words("/sys/devices/system/clocksource/clocksource0/available_clocksource"),
            memory_available_bytes: memory_available(),
            swap_used_bytes: swap,
            disk_free_bytes: data.ancestors().find_map(|folder| rqps_machine::free_bytes(folder).ok()),
            open_files_limit: getrlimit(Resource::Nofile).maximum,
            perf_event_paranoid: line("/proc/sys/kernel/perf_event_paranoid").and_then(|text| text.parse().ok()),
            cpu_events_refused: cpu_events::refused_here(cpu_events::CPU_EVENTS),
            syscalls_refused: rqps_profile::check_syscalls().err().map(|refused| refused.to_string()),
            no_huge_programs: program_place::find(Path::new(program_place::PLACE)).err(),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}

/// Bytes of memory that programs could have.
pub fn memory_available() -> Option<u64> {
    Some(kilobytes(&fs::read_to_string(MEMINFO).ok()?, "MemAvailable")? * 1024)
}

fn cpus_allowed() -> Vec<usize> {
    let mask = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect()
}

/// The smallest quota of the control groups that this process is in (second version of control groups).
fn cpu_quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folders = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    let quotas = folders.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup"));
    let limits = quotas.filter_map(|folder| quota(&fs::read_to_string(folder.join("cpu.max")).ok()?));
    limits.min_by(f64::total_cmp)
}

/// Reads `150000 100000` as 1.5 CPUs; `max 100000` is no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|period| *period > 0.0)?)
}

fn kilobytes(meminfo: &str, name: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.trim().split(' ').next()?.parse().ok()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn words(path: &str) -> Vec<String> {
    line(path).map(|text| text.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read() {
        assert_eq!((quota("150000 100000\n"), quota("max 100000"), quota("")), (Some(1.5), None, None));
        let meminfo = "MemTotal:       24567890 kB\nSwapFree:              0 kB\n";
        assert_eq!((kilobytes(meminfo, "MemTotal"), kilobytes(meminfo, "Swap")), (Some(24_567_890), None));
    }

    #[test]
    fn this_host_has_what_every_host_has() {
        let system = System::read(Path::new("/proc/self/not/there"));
        assert!(!system.cpus_allowed.is_empty() && system.memory_available_bytes > Some(1 << 20), "{system:?}");
        assert!(!system.clock_sources.is_empty(), "{system:?}");
    }
}
