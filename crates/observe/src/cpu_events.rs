//! What the CPU itself counts in a server's processes: instructions, cycles, and misses of branches, caches and TLB, in
//! its own code and in the kernel.
//!
//! In: a list of events, the threads of a server. Out: [`CpuEvents`] from the start of its clients to the end of what
//! is counted, as `ProcessProbe` has it, so that CPU time and cycles are of the same work. What the machine or the
//! kernel refuses is kept with its reason, once, and fails nothing.
//!
//! Each thread that is there at the start has counters of its own, which the threads and processes inherit that it
//! makes later, and theirs likewise: so the backends of sessions that are renewed while the test runs are counted from
//! their first instruction, and what they counted is added to their parents' when they end. Opening counters for each
//! session as `SessionMeter` reads it would miss what works in the background, and servers that do not tell which
//! thread serves a session; groups of processes (cgroups) and counters of whole CPUs need root. Nothing is read or
//! switched at the borders of slices. What it costs a server is the time that the kernel takes at each switch of its
//! threads to save and to load counters (docs/explain.md), so that it is only done where it is asked for.

mod events;
mod refusal;

pub use events::{CPU_EVENTS, CountedEvent, KERNEL_EVENTS};

use crate::probe::{Probe, Subject};
use events::Mode;
use perf_event::Counter;
use refusal::{Refusal, too_few_files};
use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
use rqps_model::{Part, Sample};
use std::collections::BTreeMap;
use std::{fs, io};

/// What is counted of some processes, and of those that they make later.
#[derive(Debug, Default)]
pub struct EventCounters {
    counters: Vec<Opened>,
    refused: BTreeMap<(&'static str, Mode), Refusal>,
}

/// A counter of a thread, and of what it makes.
#[derive(Debug)]
struct Opened {
    event: &'static str,
    mode: Mode,
    counter: Counter,
}

impl EventCounters {
    /// Begins to count these events, of which those of a group are counted at the same time, in all threads of these
    /// processes. A thread that is made in the moment between looking for threads and opening the counters of its maker
    /// is missed, and what it makes.
    pub fn start(groups: &[&[CountedEvent]], pids: &[u32]) -> EventCounters {
        let threads: Vec<u32> = pids.iter().flat_map(|&pid| threads_of(pid)).collect();
        let mut counters = EventCounters::default();
        let events: usize = groups.iter().map(|group| group.len()).sum();
        if let Some(refusal) = too_few_files(threads.len() * events * Mode::BOTH.len()) {
            counters.refuse_all(groups, &refusal);
            return counters;
        }
        for thread in threads {
            for (group, mode) in groups.iter().flat_map(|group| Mode::BOTH.map(|mode| (group, mode))) {
                counters.open(group, mode, thread);
            }
        }
        // Not as they are opened: the first would count for some milliseconds more than the last.
        for opened in &mut counters.counters {
            if let Err(error) = opened.counter.enable() {
                counters.refused.insert((opened.event, opened.mode), Refusal::of(&error, opened.mode));
            }
        }
        counters
    }

    fn open(&mut self, group: &[CountedEvent], mode: Mode, thread: u32) {
        let mut leader: Option<usize> = None;
        for event in group.iter().filter(|event| !self.refused.contains_key(&(event.name, mode))).collect::<Vec<_>>() {
            let builder = event.builder(mode, thread);
            let opened = match leader {
                Some(leader) => builder.build_with_group(&mut self.counters[leader].counter),
                None => builder.build(),
            };
            match opened {
                Ok(counter) => {
                    leader.get_or_insert(self.counters.len());
                    self.counters.push(Opened { event: event.name, mode, counter });
                }
                Err(error) if refusal::has_ended(&error) => return,
                Err(error) => _ = self.refused.insert((event.name, mode), Refusal::of(&error, mode)),
            }
        }
    }

    fn refuse_all(&mut self, groups: &[&[CountedEvent]], refusal: &Refusal) {
        for (event, mode) in groups.iter().copied().flatten().flat_map(|event| Mode::BOTH.map(|mode| (event, mode))) {
            self.refused.insert((event.name, mode), refusal.clone());
        }
    }

    /// What was counted until now. An event that was refused of one thread is not known of any.
    pub fn read(&mut self) -> CpuEvents {
        let mut sums: BTreeMap<(&'static str, Mode), EventCount> = BTreeMap::new();
        for Opened { event, mode, counter } in &mut self.counters {
            match counter.read_count_and_time() {
                Ok(read) => {
                    *sums.entry((event, *mode)).or_default() +=
                        EventCount { count: read.count, enabled_ns: read.time_enabled, running_ns: read.time_running };
                }
                Err(error) => _ = self.refused.insert((event, *mode), Refusal::of(&error, *mode)),
            }
        }
        let mut found = CpuEvents::default();
        for ((event, mode), sum) in sums.into_iter().filter(|(key, _)| !self.refused.contains_key(key)) {
            let counts: &mut EventCounts = found.counted.entry(event.to_owned()).or_default();
            *match mode {
                Mode::User => &mut counts.user,
                Mode::Kernel => &mut counts.kernel,
            } = Some(sum);
        }
        found.refused = refusal::by_reason(&self.refused);
        found
    }
}

/// What could not be counted here, by the reason, with what lifts it: the events. Empty where all can be.
pub fn refused_here(groups: &[&[CountedEvent]]) -> BTreeMap<String, Vec<String>> {
    EventCounters::start(groups, &[std::process::id()]).read().refused
}

/// The threads of a process that has not ended.
fn threads_of(pid: u32) -> Vec<u32> {
    let named = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    fs::read_dir(format!("/proc/{pid}/task")).map(|threads| threads.filter_map(named).collect()).unwrap_or_default()
}

/// Counts the CPU's events in a server.
#[derive(Debug, Default)]
pub struct CpuEventProbe {
    counting: Option<EventCounters>,
    counted: Option<CpuEvents>,
}

impl Probe for CpuEventProbe {
    fn start(&mut self, server: &Subject<'_>) {
        self.counting = Some(EventCounters::start(CPU_EVENTS, &(server.pids)()));
    }

    fn stop(&mut self, _server: &Subject<'_>) {
        self.counted = self.counting.take().map(|mut counting| counting.read());
    }

    fn end(&mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        if let Some(server) = server.filter(|_| self.counted.is_none()) {
            self.stop(server);
        }
        sample.cpu_events = self.counted.take();
        Vec::new()
    }
}
