//! A sound machine, and each fault by itself.

use super::super::{CpuSpeed, FlushTime, OtherWork, PingPong, System, Trials, other_work::Busy};
use super::*;
use crate::floors::Shown;
use rqps_machine::program_place::{NoHugePages, PLACE};
use rqps_model::checkup::Level;
use rqps_model::facts::HostFacts;

/// An A/A whose rounds differed by so much.
fn shown(sd_middle: f64) -> Shown {
    Shown { build: "pg1711".to_owned(), day: "2026-11-27".to_owned(), tests: 32, sd_middle, sd_most: 0.1 }
}

/// A machine of one's own, on which nothing is wrong.
fn sound() -> Checkup {
    let cpu = |cpu| CpuSpeed { cpu, per_second: 1e4, kept: 0.99, longest_gap_ms: 0.2, together: 0.97 };
    let pair = |other| PingPong { cpus: [0, other], per_second: 1e5 };
    Checkup {
        host: HostFacts {
            cpus: 2,
            threads_per_core: Some(1),
            governor: Some("performance".to_owned()),
            turbo: Some(false),
            memory_bytes: 16 << 30,
            transparent_huge_pages: Some("madvise".to_owned()),
            memory_nodes: Some(1),
            clock_source: Some("tsc".to_owned()),
            reflink: true,
            ..HostFacts::default()
        },
        system: System {
            cpus_allowed: vec![0, 1],
            clock_sources: vec!["tsc".to_owned(), "hpet".to_owned()],
            memory_available_bytes: Some(15 << 30),
            open_files_limit: Some(1 << 19),
            perf_event_paranoid: Some(0),
            ..System::default()
        },
        other_work: OtherWork { seconds: 5.0, ..OtherWork::default() },
        trials: Trials {
            cpus: vec![cpu(0), cpu(1)],
            ping_pong: vec![pair(0), pair(1)],
            can_pin: true,
            clock: super::super::ClockSpeed { read_ns: 25.0 },
            flush: Some(FlushTime { median_us: 90.0, p99_us: 300.0 }),
        },
        own_history: Some(shown(0.01)),
    }
}

/// What is not good after a change.
fn told(change: impl FnOnce(&mut Checkup)) -> Vec<(&'static str, Level)> {
    let mut checkup = sound();
    change(&mut checkup);
    let findings = checkup.findings().into_iter().filter(|finding| finding.level != Level::Good);
    findings
        .inspect(|finding| assert!(!finding.why.is_empty() && !finding.remedy.is_empty(), "{finding:?}"))
        .map(|finding| (finding.about, finding.level))
        .collect()
}

#[test]
fn a_machine_of_ones_own_is_fit() {
    assert!(told(|_| ()).is_empty());
    assert_eq!(sound().findings().len(), RULES.len() - 3, "no quota, no hypervisor, pinning is not told");
}

#[test]
fn each_fault_is_told_alone() {
    use Level::{Note, Problem};
    type Fault = fn(&mut Checkup);
    let cases: [(&str, Level, Fault); 31] = [
        ("machine", Note, |c| c.host.virtualization = Some("KVM".to_owned())),
        ("CPUs", Note, |c| c.host.cpus = 4),
        ("CPU quota", Problem, |c| c.system.cpu_quota = Some(1.5)),
        ("even speed", Note, |c| c.trials.cpus[1].kept = 0.9),
        ("even speed", Problem, |c| c.trials.cpus[0].kept = 0.5),
        ("CPUs together", Problem, |c| c.trials.cpus[1].together = 0.6),
        ("threads of a core", Note, |c| c.host.threads_per_core = Some(2)),
        ("CPU frequency", Note, |c| c.host.governor = Some("powersave".to_owned())),
        ("turbo", Note, |c| c.host.turbo = Some(true)),
        ("messages", Note, |c| c.trials.ping_pong[1].per_second = 2e4),
        ("memory", Note, |c| c.system.memory_available_bytes = Some(11 << 30)),
        ("memory nodes", Note, |c| c.host.memory_nodes = Some(2)),
        ("other work", Note, |c| c.other_work.cpus_busy = 0.05),
        ("other work", Problem, |c| {
            c.other_work.cpus_busy = 1.2;
            c.other_work.busiest = vec![Busy { name: "cc1".to_owned(), cpus: 1.2 }];
        }),
        ("huge pages", Note, |c| c.host.transparent_huge_pages = Some("always".to_owned())),
        ("program pages", Note, |c| c.system.no_huge_programs = Some(NoHugePages::NotInKernel)),
        ("program pages", Note, |c| c.system.no_huge_programs = Some(NoHugePages::Denied)),
        ("program pages", Note, |c| {
            let (place, found) = (PLACE.into(), "nothing mounted".to_owned());
            c.system.no_huge_programs = Some(NoHugePages::NotMounted { place, found });
        }),
        ("program pages", Note, |c| {
            let (place, why) = (PLACE.into(), "Permission denied".to_owned());
            c.system.no_huge_programs = Some(NoHugePages::Closed { place, why });
        }),
        ("swap", Note, |c| c.host.swap_bytes = 1 << 30),
        ("swap", Problem, |c| (c.host.swap_bytes, c.system.swap_used_bytes) = (1 << 30, 1 << 20)),
        ("clock", Problem, |c| c.trials.clock.read_ns = 900.0),
        ("flushes", Note, |c| c.trials.flush = Some(FlushTime { median_us: 1.0, p99_us: 2.0 })),
        ("copies of data", Note, |c| c.host.reflink = false),
        ("open files", Note, |c| c.system.open_files_limit = Some(4096)),
        ("profiles", Note, |c| c.system.perf_event_paranoid = Some(1)),
        ("CPU events", Note, |c| {
            let events = ["cycles", "instructions"].map(str::to_owned);
            c.system.cpu_events_refused = [("there is no PMU; use another machine".to_owned(), events.into())].into();
        }),
        ("system calls", Note, |c| c.system.syscalls_refused = Some("tracefs is not mounted".to_owned())),
        ("noise here", Note, |c| c.own_history = None),
        ("noise here", Note, |c| c.own_history = Some(shown(0.03))),
        ("noise here", Problem, |c| c.own_history = Some(shown(0.06))),
    ];
    for (about, level, change) in cases {
        assert_eq!(told(change), [(about, level)]);
    }
    let stolen = told(|c| (c.host.virtualization, c.other_work.cpus_stolen) = (Some("KVM".to_owned()), 0.1));
    assert_eq!(stolen, [("machine", Note), ("stolen time", Problem)]);
}

#[test]
fn cpus_that_were_tried_beside_other_work_are_not_judged() {
    let told = told(|c| (c.trials.cpus[0].kept, c.trials.cpus[0].together, c.other_work.cpus_busy) = (0.1, 0.5, 2.0));
    assert_eq!(told, [("even speed", Level::Note), ("CPUs together", Level::Note), ("other work", Level::Problem)]);
}
