//! What a group of processes did: a server's tree, whose members come and go while it works.
//!
//! In: process ids, given anew at each reading, and their files in `/proc`. Out: `ProcessReading`, whose differences are
//! the model's `ProcessUse`. Made for the beginning and end of a test (tens of microseconds a process), not for slices.
//!
//! CPU time, faults and IO of a process that ended move to its parent when that waits for it (`cutime`, `cmajflt`,
//! `io`), so every process counts with its waited-for children and a closed connection's backend is not lost. Context
//! switches do not move, so the last seen ones of a vanished process are kept: what it did after that is missed.
//! A process of one thread counts the nanoseconds of `schedstat`; the clock ticks of `stat` would lose up to 10 ms for
//! each of many backends. Ended children and processes of several threads are known in ticks only.

use crate::proctext::{PidStat, number, numbers, value_of};
use rqps_model::sample::ProcessUse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Totals of a group of processes at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessReading {
    /// All CPU time, as exact as it is told.
    pub(crate) cpu_ns: u64,
    /// User and system time in clock ticks: only their proportion counts.
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: u32,
}

/// With fewer ticks than this the proportion of user and system time is taken from all that the meter has seen.
const TICKS_FOR_PROPORTION: u64 = 50;

impl ProcessReading {
    /// What happened between an earlier reading and this one.
    pub fn since(&self, earlier: &ProcessReading) -> ProcessUse {
        let cpu_s = self.cpu_ns.saturating_sub(earlier.cpu_ns) as f64 / 1e9;
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        let (user, system) =
            if user + system >= TICKS_FOR_PROPORTION { (user, system) } else { (self.user_ticks, self.system_ticks) };
        let user_share = if user + system == 0 { 1.0 } else { user as f64 / (user + system) as f64 };
        ProcessUse {
            cpu_user_s: cpu_s * user_share,
            cpu_system_s: cpu_s * (1.0 - user_share),
            voluntary_switches: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary_switches: self.involuntary.saturating_sub(earlier.involuntary),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            memory_bytes: self.memory_bytes.unwrap_or(0),
            processes: self.processes,
        }
    }

    fn add(&mut self, other: &ProcessReading) {
        self.cpu_ns += other.cpu_ns;
        self.user_ticks += other.user_ticks;
        self.system_ticks += other.system_ticks;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
    }
}

/// Follows a group of processes from reading to reading.
#[derive(Debug, Default)]
pub struct ProcessMeter {
    seen: BTreeMap<u32, Process>,
    ended: ProcessReading,
}

/// A process as last seen.
#[derive(Debug, Clone, Default)]
struct Process {
    stat: PidStat,
    /// With its waited-for children; switches apart.
    counts: ProcessReading,
    switches: Switches,
}

/// A backend that ends between the reading of its own files and of its parent's makes the reading wrong: read again.
const TRIES: usize = 3;

impl ProcessMeter {
    /// A meter that has seen nothing yet.
    pub fn new() -> ProcessMeter {
        ProcessMeter::default()
    }

    /// Totals of the given processes, of those seen before that still live, and of those that ended.
    pub fn read(&mut self, pids: &[u32]) -> ProcessReading {
        let wanted: BTreeSet<u32> = pids.iter().chain(self.seen.keys()).copied().collect();
        let mut now = BTreeMap::new();
        for _ in 0..TRIES {
            now = wanted.iter().filter_map(|&pid| Some((pid, Process::read(pid)?))).collect();
            if self.parents_are_unchanged(&now) {
                break;
            }
        }
        // A number seen before that now belongs to another process: that one counts only if it was asked for.
        now.retain(|pid, process| {
            pids.contains(pid) || self.seen.get(pid).is_some_and(|old| old.stat.start == process.stat.start)
        });
        self.settle(now);

        let mut total = self.ended;
        for process in self.seen.values() {
            total.add(&process.counts);
            total.voluntary += process.switches.voluntary();
            total.involuntary += process.switches.involuntary();
        }
        total.processes = self.seen.len() as u32;
        total
    }

    /// Like `read`, with memory. Slow where processes map much shared memory: for the end of a test only.
    pub fn read_full(&mut self, pids: &[u32]) -> ProcessReading {
        let mut total = self.read(pids);
        total.memory_bytes = Some(memory_bytes(self.seen.keys().copied()));
        total
    }

    /// Whether no parent inherited from a child since `now` was read. Children seen before have parents too: one that
    /// was there for the last reading may have ended just after its parent was read for this one.
    fn parents_are_unchanged(&self, now: &BTreeMap<u32, Process>) -> bool {
        let parents: BTreeSet<u32> =
            now.values().chain(self.seen.values()).map(|process| process.stat.parent).collect();
        parents.into_iter().filter_map(|pid| Some((pid, now.get(&pid)?))).all(|(pid, process)| {
            let inherited = |stat: &PidStat| (stat.children_user, stat.children_system, stat.children_minor_faults);
            pid_stat(pid).is_none_or(|stat| inherited(&stat) == inherited(&process.stat))
        })
    }

    /// Takes over a new state of the group, keeping what vanished processes did and nobody inherited.
    fn settle(&mut self, now: BTreeMap<u32, Process>) {
        for (pid, mut old) in std::mem::replace(&mut self.seen, now) {
            match self.seen.get_mut(&pid) {
                Some(process) if process.stat.start == old.stat.start => {
                    old.switches.update(&process.switches);
                    process.switches = old.switches;
                }
                _ => {
                    self.ended.voluntary += old.switches.voluntary();
                    self.ended.involuntary += old.switches.involuntary();
                    if !self.seen.contains_key(&old.stat.parent) {
                        self.ended.add(&old.counts);
                    }
                }
            }
        }
    }
}

fn pid_stat(pid: u32) -> Option<PidStat> {
    PidStat::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

impl Process {
    /// `None` if there is no such process, or none any more.
    fn read(pid: u32) -> Option<Process> {
        let stat = pid_stat(pid)?;
        let ns_per_tick = ns_per_tick();
        let own_ns = (stat.user + stat.system) * ns_per_tick;
        let exact_ns = || {
            let schedstat = fs::read(format!("/proc/{pid}/schedstat")).ok()?;
            // The file tells of the first thread only, and says 0 where the kernel does not count.
            numbers(&schedstat).next().filter(|&ns| ns > 0 && stat.threads == 1)
        };
        let (read_bytes, write_bytes) = fs::read(format!("/proc/{pid}/io")).map_or((0, 0), |text| io_bytes(&text));
        let children_ns = (stat.children_user + stat.children_system) * ns_per_tick;
        let counts = ProcessReading {
            cpu_ns: exact_ns().unwrap_or(own_ns) + children_ns,
            user_ticks: stat.user + stat.children_user,
            system_ticks: stat.system + stat.children_system,
            minor_faults: stat.minor_faults + stat.children_minor_faults,
            major_faults: stat.major_faults + stat.children_major_faults,
            read_bytes,
            write_bytes,
            ..ProcessReading::default()
        };
        Some(Process { stat, counts, switches: Switches::read(pid) })
    }
}

pub(crate) fn ns_per_tick() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Bytes that reached or left storage, from `/proc/PID/io`.
pub(crate) fn io_bytes(text: &[u8]) -> (u64, u64) {
    (value_of(text, "read_bytes").unwrap_or(0), value_of(text, "write_bytes").unwrap_or(0))
}

/// Voluntary and involuntary switches from a thread's `status`.
pub(crate) fn switches_of(status: &[u8]) -> Option<(u64, u64)> {
    value_of(status, "voluntary_ctxt_switches").zip(value_of(status, "nonvoluntary_ctxt_switches"))
}

/// Context switches of a process's threads; the kernel drops those of ended threads from sight, so they are kept.
#[derive(Debug, Clone, Default)]
struct Switches {
    live: BTreeMap<u32, (u64, u64)>,
    ended: (u64, u64),
}

impl Switches {
    fn read(pid: u32) -> Switches {
        let tasks = thread_ids(pid);
        let status = |tid: u32| switches_of(&fs::read(format!("/proc/{pid}/task/{tid}/status")).ok()?);
        let live = tasks.into_iter().filter_map(|tid| Some((tid, status(tid)?))).collect();
        Switches { live, ended: (0, 0) }
    }

    fn update(&mut self, now: &Switches) {
        for (tid, old) in std::mem::replace(&mut self.live, now.live.clone()) {
            // A count that went back belongs to a new thread with an old number.
            if self.live.get(&tid).is_none_or(|new| new.0 < old.0 || new.1 < old.1) {
                self.ended = (self.ended.0 + old.0, self.ended.1 + old.1);
            }
        }
    }

    fn voluntary(&self) -> u64 {
        self.ended.0 + self.live.values().map(|switches| switches.0).sum::<u64>()
    }

    fn involuntary(&self) -> u64 {
        self.ended.1 + self.live.values().map(|switches| switches.1).sum::<u64>()
    }
}

pub(crate) fn thread_ids(pid: u32) -> Vec<u32> {
    numeric_entries(&format!("/proc/{pid}/task"))
}

fn numeric_entries(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| u32::try_from(number(entry.file_name().as_encoded_bytes())?).ok()).collect()
}

/// A process and all its living descendants, itself first.
pub fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        numeric_entries("/proc").into_iter().filter_map(|pid| Some((pid, pid_stat(pid)?.parent))).collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found
}

/// Resident memory, each page counted once: by the kernel's proportional sizes, else by what is not shared plus the
/// largest shared part.
pub(crate) fn memory_bytes(pids: impl Iterator<Item = u32> + Clone) -> u64 {
    let proportional = |pid: u32| {
        let rollup = fs::read(format!("/proc/{pid}/smaps_rollup")).ok()?;
        value_of(&rollup, "Pss").map(|kb| kb * 1024)
    };
    if let Some(sizes) = pids.clone().map(proportional).collect::<Option<Vec<u64>>>() {
        return sizes.into_iter().sum();
    }
    let page_bytes = rustix::param::page_size() as u64;
    let (mut private, mut shared_max) = (0, 0);
    for pid in pids {
        let statm = fs::read(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = numbers(&statm).skip(1);
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        private += resident.saturating_sub(shared);
        shared_max = shared.max(shared_max);
    }
    (private + shared_max) * page_bytes
}

#[cfg(test)]
mod tests;
