//! What other programs do while rqps does nothing.
//!
//! In: `/proc`, twice. Out: [`OtherWork`]: how many CPUs others kept busy, the busiest of them by name, and how much
//! the hypervisor took.

use rqps_observe::HostMeter;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How many programs are named.
const NAMED: usize = 3;

/// A program is named when it uses this share of a CPU.
const WORTH_NAMING: f64 = 0.01;

/// With so many CPUs busy ratios of short rounds become wide.
pub(super) const BUSY_PROBLEM: f64 = 0.1;

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OtherWork {
    /// How long.
    pub seconds: f64,
    /// CPUs that were busy, on average.
    pub cpus_busy: f64,
    /// CPUs that the hypervisor took, on average.
    pub cpus_stolen: f64,
    /// The busiest programs.
    pub busiest: Vec<Busy>,
}

/// A program that was busy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Busy {
    /// Its name.
    pub name: String,
    /// CPUs that all its processes used together, on average.
    pub cpus: f64,
}

impl OtherWork {
    /// Whether there was so much of it that what was tried beside it says little of the CPUs.
    pub(super) fn disturbs(&self) -> bool {
        self.cpus_busy >= BUSY_PROBLEM
    }

    /// Watches for so long.
    pub fn watch(span: Duration) -> OtherWork {
        let Ok(mut meter) = HostMeter::open(Path::new("/")) else { return OtherWork::default() };
        let (before, was) = (used(), meter.read());
        std::thread::sleep(span);
        let (after, now) = (used(), meter.read());
        let host = now.since(&was);
        let seconds = host.seconds.max(f64::MIN_POSITIVE);
        OtherWork {
            seconds: host.seconds,
            cpus_busy: (host.cpu_user_s + host.cpu_system_s) / seconds,
            cpus_stolen: host.cpu_steal_s / seconds,
            busiest: busiest(&before, &after, seconds),
        }
    }
}

/// Seconds of CPU by process and program; ours left out.
type Used = BTreeMap<(u32, String), f64>;

fn used() -> Used {
    let own = std::process::id();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).filter(|pid| *pid != own);
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, seconds) = name_and_seconds(&stat)?;
        Some(((pid, name), seconds))
    })
    .collect()
}

/// Name, user and system time of `PID (NAME) STATE …`, fields 14 and 15; a name may have blanks and brackets.
fn name_and_seconds(stat: &str) -> Option<(String, f64)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let ticks = rest.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some((name, ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

fn busiest(before: &Used, after: &Used, seconds: f64) -> Vec<Busy> {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for (process, now) in after {
        *by_name.entry(&process.1).or_default() += (now - before.get(process).unwrap_or(&0.0)) / seconds;
    }
    let all = by_name.into_iter().filter(|(_, cpus)| *cpus >= WORTH_NAMING);
    let mut all: Vec<Busy> = all.map(|(name, cpus)| Busy { name: name.to_owned(), cpus }).collect();
    all.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    all.truncate(NAMED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_programs_are_named_with_all_their_processes() {
        let used =
            |rows: &[(u32, &str, f64)]| rows.iter().map(|(pid, name, s)| ((*pid, (*name).to_owned()), *s)).collect();
        let before = used(&[(1, "init", 5.0), (2, "cc", 1.0), (4, "gone", 9.0)]);
        let after =
            used(&[(1, "init", 5.0), (2, "cc", 2.0), (3, "cc", 0.5), (5, "a", 0.1), (6, "b", 0.2), (7, "c", 0.3)]);
        let named = busiest(&before, &after, 2.0);
        let named: Vec<(&str, f64)> = named.iter().map(|busy| (busy.name.as_str(), busy.cpus)).collect();
        assert_eq!(named, [("cc", 0.75), ("c", 0.15), ("b", 0.1)]);
        let seen = OtherWork::watch(Duration::from_millis(50));
        assert!(seen.seconds >= 0.05 && seen.cpus_busy >= 0.0, "{seen:?}");
    }

    #[test]
    fn names_with_brackets_are_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 5 0 0 0 300 200 0 0 20 0 1 0 9 1 1";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(name_and_seconds(stat), Some(("a) b".to_owned(), 500.0 / ticks)));
        assert_eq!(name_and_seconds("7"), None);
    }
}
