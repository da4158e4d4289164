//! Which events are counted, as data: those of the CPU, and those that the kernel counts itself on any machine.

use perf_event::Builder;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};

/// Where a server is when an event is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// In its own code.
    User,
    /// In the kernel.
    Kernel,
}

impl Mode {
    pub(super) const BOTH: [Mode; 2] = [Mode::User, Mode::Kernel];

    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::User => "user",
            Mode::Kernel => "kernel",
        }
    }
}

/// An event that is counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedEvent {
    /// What samples call it.
    pub name: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Hardware(Hardware),
    /// Reads that this cache did not have.
    Missed(CacheId),
    Software(Software),
}

const fn hardware(name: &'static str, event: Hardware) -> CountedEvent {
    CountedEvent { name, kind: Kind::Hardware(event) }
}

const fn missed(name: &'static str, cache: CacheId) -> CountedEvent {
    CountedEvent { name, kind: Kind::Missed(cache) }
}

const fn software(name: &'static str, event: Software) -> CountedEvent {
    CountedEvent { name, kind: Kind::Software(event) }
}

/// The events of the CPU. Those of which a ratio is taken are a group, so that they are of the same moments; groups are
/// no larger, since a CPU with few counters would never have room for them.
pub const CPU_EVENTS: &[&[CountedEvent]] = &[
    &[hardware("instructions", Hardware::INSTRUCTIONS), hardware("cycles", Hardware::CPU_CYCLES)],
    &[hardware("branch_misses", Hardware::BRANCH_MISSES)],
    // Of the last cache before memory, on most CPUs.
    &[hardware("cache_references", Hardware::CACHE_REFERENCES), hardware("cache_misses", Hardware::CACHE_MISSES)],
    &[missed("dtlb_misses", CacheId::DTLB), missed("itlb_misses", CacheId::ITLB)],
];

/// Events of the kernel. They need no PMU, so that the way to count can be tried, and its cost be measured, on any
/// machine.
pub const KERNEL_EVENTS: &[&[CountedEvent]] = &[
    &[software("page_faults", Software::PAGE_FAULTS), software("minor_faults", Software::PAGE_FAULTS_MIN)],
    &[software("task_clock_ns", Software::TASK_CLOCK)],
    &[software("context_switches", Software::CONTEXT_SWITCHES), software("migrations", Software::CPU_MIGRATIONS)],
    &[software("major_faults", Software::PAGE_FAULTS_MAJ), software("alignment_faults", Software::ALIGNMENT_FAULTS)],
];

impl CountedEvent {
    /// A counter of it for a thread and what that makes, which does not count yet.
    pub(super) fn builder(&self, mode: Mode, thread: u32) -> Builder<'static> {
        let mut builder = match self.kind {
            Kind::Hardware(event) => Builder::new(event),
            Kind::Missed(which) => Builder::new(Cache { which, operation: CacheOp::READ, result: CacheResult::MISS }),
            Kind::Software(event) => Builder::new(event),
        };
        builder.observe_pid(thread.cast_signed()).inherit(true).exclude_hv(true);
        builder.exclude_user(mode == Mode::Kernel).exclude_kernel(mode == Mode::User);
        builder
    }
}
