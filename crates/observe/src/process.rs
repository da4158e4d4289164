//! What a group of processes did: a server's tree, whose members come and go while it works.
//!
//! In: process ids, given anew at each reading, and their files in `/proc`. Out: `ProcessReading`, whose differences
//! are the model's `ProcessUse`. Made for the beginning and end of a test (tens of microseconds a process), not for
//! slices.
//!
//! CPU time, faults and IO of a process that ended move to its parent when that waits for it (`cutime`, `cmajflt`,
//! `io`), so every process counts with its waited-for children and a closed connection's backend is not lost. Until
//! then they are its own, so one that ended counts, too, where it is among the ids; it is no process any more, and has
//! no memory. Context switches are handed on to no process: with processes and threads that come and go they cannot be
//! summed. A process of one thread counts the nanoseconds of `schedstat`; the clock ticks of `stat` would lose up to 10
//! ms for each of many backends. Ended children and processes of several threads are known in ticks only.

use crate::probe::{Probe, Subject};
use crate::proctext::{numbers, value_of};
use rqps_machine::proc_stat::PidStat;
use rqps_model::sample::ProcessUse;
use rqps_model::{Part, Sample};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Totals of a group of processes at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessReading {
    /// All CPU time, as exact as it is known.
    pub(crate) cpu_ns: u64,
    /// User and system time in clock ticks: only their proportion counts.
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
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
    /// With its waited-for children.
    counts: ProcessReading,
}

/// A backend that ends between the reading of its own files and of its parent's makes the reading wrong: read again.
const TRIES: usize = 10;

impl ProcessMeter {
    /// A meter that has seen nothing yet.
    pub fn new() -> ProcessMeter {
        ProcessMeter::default()
    }

    /// Totals of the given processes, of those seen before that are still there, and of those that are gone.
    pub fn read(&mut self, pids: &[u32]) -> ProcessReading {
        let wanted: BTreeSet<u32> = pids.iter().chain(self.seen.keys()).copied().collect();
        let mut now = BTreeMap::new();
        let mut before = inherited(&wanted);
        for _ in 0..TRIES {
            now = wanted.iter().filter_map(|&pid| Some((pid, Process::read(pid)?))).collect();
            let after = inherited(&wanted);
            if after == before {
                break;
            }
            before = after;
        }
        // A number seen before that now belongs to another process: that one counts only if it is among the ids.
        now.retain(|pid, process| {
            pids.contains(pid) || self.seen.get(pid).is_some_and(|old| old.stat.start == process.stat.start)
        });
        self.settle(now);

        let mut total = self.ended;
        for process in self.seen.values() {
            total.add(&process.counts);
        }
        total.processes = self.living().count() as u32;
        total
    }

    /// Like `read`, with memory. Slow where processes map much shared memory: for the end of a test only.
    pub fn read_full(&mut self, pids: &[u32]) -> ProcessReading {
        let mut total = self.read(pids);
        total.memory_bytes = Some(memory_bytes(self.living()));
        total
    }

    fn living(&self) -> impl Iterator<Item = u32> + Clone {
        self.seen.iter().filter(|(_, process)| !process.stat.has_ended()).map(|(&pid, _)| pid)
    }

    /// Takes over a new state of the group, keeping what vanished processes did and no other inherited.
    fn settle(&mut self, now: BTreeMap<u32, Process>) {
        for (pid, old) in std::mem::replace(&mut self.seen, now) {
            let is_there = self.seen.get(&pid).is_some_and(|process| process.stat.start == old.stat.start);
            if !is_there && !self.seen.contains_key(&old.stat.parent) {
                self.ended.add(&old.counts);
            }
        }
    }
}

/// Who of them is there, and what each has from children it waited for: it changes whenever one of the group is gone.
fn inherited(pids: &BTreeSet<u32>) -> BTreeMap<u32, (u64, u64, u64)> {
    let of = |stat: PidStat| (stat.children_user, stat.children_system, stat.children_minor_faults);
    pids.iter().filter_map(|&pid| Some((pid, of(pid_stat(pid)?)))).collect()
}

/// `None` of a process that is just being waited for, too: what it did is handed to its parent in that moment.
fn pid_stat(pid: u32) -> Option<PidStat> {
    PidStat::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?).filter(|stat| stat.state != b'X')
}

impl Process {
    /// `None` if there is no such process, or none any more.
    fn read(pid: u32) -> Option<Process> {
        let stat = pid_stat(pid)?;
        let ns_per_tick = ns_per_tick();
        let own_ns = (stat.user + stat.system) * ns_per_tick;
        let exact_ns = || {
            let schedstat = fs::read(format!("/proc/{pid}/schedstat")).ok()?;
            // The file is about the first thread only, and says 0 where the kernel does not count.
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
        Some(Process { stat, counts })
    }
}

pub(crate) fn ns_per_tick() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Bytes that reached or left storage, from `/proc/PID/io`.
pub(crate) fn io_bytes(text: &[u8]) -> (u64, u64) {
    (value_of(text, "read_bytes").unwrap_or(0), value_of(text, "write_bytes").unwrap_or(0))
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

/// What a server's processes did from the start of its clients to the end of what is counted: what connections cost
/// would be a good part of a short test.
#[derive(Debug, Default)]
pub struct ProcessProbe {
    meter: ProcessMeter,
    before: ProcessReading,
    used: Option<ProcessUse>,
}

impl Probe for ProcessProbe {
    fn start(&mut self, server: &Subject<'_>) {
        self.before = self.meter.read(&(server.pids)());
    }

    fn stop(&mut self, server: &Subject<'_>) {
        self.used = Some(self.meter.read_full(&(server.pids)()).since(&self.before));
    }

    fn end(&mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        if let Some(server) = server.filter(|_| self.used.is_none()) {
            self.stop(server);
        }
        sample.resources.server = self.used.unwrap_or_default();
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
