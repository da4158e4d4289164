//! What each thing means for measuring, as rules.
//!
//! In: a checkup. Out: a finding a rule, or none where there is nothing to look at. The limits are stated with each
//! rule; docs/doctor.md tells where they come from.

use super::checkup::Checkup;
use super::finding::{Change, Finding};
use super::system::System;
use super::trials::PingPong;
use rqps_campaign::human_bytes;
use rqps_machine::program_place::{NoHugePages, PLACE, SHMEM_ENABLED};

#[cfg(test)]
mod tests;

type Rule = fn(&Checkup) -> Option<Finding>;

/// In the order in which they are told.
const RULES: [Rule; 21] = [
    virtual_machine,
    cpu_count,
    cpu_quota,
    even_cpus,
    cpus_together,
    threads_of_a_core,
    governor,
    turbo,
    pinning,
    messages_between_cpus,
    memory_nodes,
    other_work,
    stolen_time,
    huge_pages,
    program_pages,
    swap,
    clock,
    flushes,
    copies,
    profiling,
    system_calls,
];

impl Checkup {
    /// What there is to say, in the order in which it is looked at.
    pub fn findings(&self) -> Vec<Finding> {
        RULES.iter().flat_map(|rule| rule(self)).collect()
    }
}

/// What a CPU keeps of its median speed in 95 of 100 pieces of work, on a machine of one's own.
const KEPT_WELL: f64 = 0.95;
const KEPT_BADLY: f64 = 0.8;

/// What CPUs of their own keep of their speed while the others work, which takes some turbo.
const TOGETHER_WELL: f64 = 0.85;

/// CPUs that others may use, and that a hypervisor may take, before ratios of short rounds become wide.
const BUSY_NOTE: f64 = 0.02;
const BUSY_PROBLEM: f64 = 0.1;
const STOLEN_NOTE: f64 = 0.001;
const STOLEN_PROBLEM: f64 = 0.01;

/// A clock that is read without the kernel takes 20 to 50 ns.
const CLOCK_READ_NS_MAX: f64 = 100.0;

/// Messages across CPUs that cost so many times those within one make placement matter.
const ACROSS_NOTE: f64 = 1.5;

/// A flush that is faster is not made by a device.
const FLUSH_US_MIN: f64 = 5.0;

/// Flushes whose slowest hundredth takes so many times the median make durable commits uneven.
const FLUSH_UNEVEN: f64 = 10.0;

/// What was tried beside other work says little of the CPUs.
fn is_disturbed(checkup: &Checkup) -> bool {
    checkup.other_work.cpus_busy >= BUSY_PROBLEM
}

const LOOK_AGAIN: &str = "Other programs ran meanwhile (see other work): look again when they are done.";

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn virtual_machine(checkup: &Checkup) -> Option<Finding> {
    let about = "machine";
    Some(match &checkup.host.virtualization {
        None => Finding::good(about, "no hypervisor"),
        Some(name) => Finding::note(
            about,
            format!("a virtual machine: {name}"),
            "The hypervisor decides when the CPUs run, and what runs beside this machine cannot be seen.",
            "Measure small changes on a machine of your own, or believe only what several rounds agree on.",
        ),
    })
}

fn cpu_count(checkup: &Checkup) -> Option<Finding> {
    let (about, online, allowed) = ("CPUs", checkup.host.cpus as usize, checkup.system.cpus_allowed.len());
    let found = format!("{online} online, {allowed} may be used");
    Some(match allowed {
        _ if allowed < online => Finding::note(
            about,
            found,
            "Servers may use only what this shell may; profiles are sized for that many.",
            "`taskset -p $$` and the shell's control group (`systemctl show -p AllowedCPUs`) say who took the others.",
        ),
        1 => Finding::note(
            about,
            found,
            "What the server does in the background takes its time from the client.",
            "Use a machine with two CPUs or more.",
        ),
        _ => Finding::good(about, found),
    })
}

fn cpu_quota(checkup: &Checkup) -> Option<Finding> {
    let quota = checkup.system.cpu_quota?;
    Some(Finding::problem(
        "CPU quota",
        format!("a control group allows {quota:.2} CPUs on average"),
        "When it is used up, all of rqps and its servers stand still until the next tenth of a second.",
        "Raise it: `systemctl set-property UNIT CPUQuota=`, or the limit of the container.",
    ))
}

fn even_cpus(checkup: &Checkup) -> Option<Finding> {
    let about = "even speed";
    let worst = checkup.trials.cpus.iter().min_by(|a, b| a.kept.total_cmp(&b.kept))?;
    let found = format!(
        "CPU {} kept {} of its speed in 95 of 100 pieces of work; its longest gap was {:.1} ms",
        worst.cpu,
        percent(worst.kept),
        worst.longest_gap_ms
    );
    let why = "Others share the CPUs or their caches: what runs now is slowed more than what runs next.";
    let remedy =
        "Stop what else runs here and ask whose the other CPUs of the host are; let builds alternate in slices.";
    Some(match worst.kept {
        kept if kept >= KEPT_WELL => Finding::good(about, found),
        _ if is_disturbed(checkup) => Finding::note(about, found, why, LOOK_AGAIN),
        kept if kept >= KEPT_BADLY => Finding::note(about, found, why, remedy),
        _ => Finding::problem(about, found, why, remedy),
    })
}

fn cpus_together(checkup: &Checkup) -> Option<Finding> {
    let about = "CPUs together";
    let cpus = &checkup.trials.cpus;
    let worst = cpus.iter().filter(|_| cpus.len() > 1).min_by(|a, b| a.together.total_cmp(&b.together))?;
    let found = format!("CPU {} does {} of what it does alone while all work", worst.cpu, percent(worst.together));
    if worst.together >= TOGETHER_WELL {
        return Some(Finding::good(about, found));
    }
    let why = "They share cores, turbo, or a budget of the hypervisor: a session's speed depends on its neighbours.";
    if is_disturbed(checkup) {
        return Some(Finding::note(about, found, why, LOOK_AGAIN));
    }
    let remedy = "Turn off threads of a core and turbo; in a cloud, take a size with whole cores.";
    Some(Finding::problem(about, found, why, remedy))
}

fn threads_of_a_core(checkup: &Checkup) -> Option<Finding> {
    let about = "threads of a core";
    Some(match checkup.host.threads_per_core? {
        0 | 1 => Finding::good(about, "one: every CPU is a core"),
        threads => Finding::note(
            about,
            format!("{threads} CPUs share a core"),
            "What runs on one of them takes up to half the speed of the other.",
            "`echo off | sudo tee /sys/devices/system/cpu/smt/control` (until the next boot)",
        )
        .changed_by(const { &[Change::setting("/sys/devices/system/cpu/smt/control", "off")] }),
    })
}

fn governor(checkup: &Checkup) -> Option<Finding> {
    let about = "CPU frequency";
    Some(match checkup.host.governor.as_deref()? {
        "performance" => Finding::good(about, "governor performance"),
        other => Finding::note(
            about,
            format!("governor {other}"),
            "The frequency follows the load, with a delay: what waits more runs slower.",
            "`sudo cpupower frequency-set -g performance`",
        )
        .changed_by(
            const { &[Change::setting("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance")] },
        ),
    })
}

fn turbo(checkup: &Checkup) -> Option<Finding> {
    let about = "turbo";
    if !checkup.host.turbo? {
        return Some(Finding::good(about, "off"));
    }
    Some(
        Finding::note(
            about,
            "on",
            "The frequency depends on temperature and on how many CPUs work.",
            "`echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo`, elsewhere \
         `echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost`",
        )
        .changed_by(
            const {
                &[
                    Change::setting("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
                    Change::setting("/sys/devices/system/cpu/cpufreq/boost", "0"),
                ]
            },
        ),
    )
}

fn pinning(checkup: &Checkup) -> Option<Finding> {
    if checkup.trials.can_pin {
        return None;
    }
    Some(Finding::problem(
        "pinning",
        "threads cannot be pinned to a CPU",
        "The scheduler moves sessions between CPUs, which changes their speed several-fold.",
        "Leave the sandbox or container that forbids sched_setaffinity.",
    ))
}

fn messages_between_cpus(checkup: &Checkup) -> Option<Finding> {
    let about = "messages";
    let (within, across) = checkup.trials.ping_pong.split_first()?;
    let slowest = across.iter().min_by(|a, b| a.per_second.total_cmp(&b.per_second))?;
    let ratio = within.per_second / slowest.per_second;
    let told =
        |pair: &PingPong| format!("{:.0} a second between CPUs {} and {}", pair.per_second, pair.cpus[0], pair.cpus[1]);
    let found = format!("{:.0} a second on CPU {}, {}", within.per_second, within.cpus[0], told(slowest));
    if ratio < ACROSS_NOTE {
        return Some(Finding::good(about, found));
    }
    Some(Finding::note(
        about,
        found,
        "A session is as much faster while client and server share a CPU, so placement decides what is measured.",
        "Keep `--placement same`, the default, for few clients; with `split` and `free` compare nothing across hosts.",
    ))
}

fn memory_nodes(checkup: &Checkup) -> Option<Finding> {
    let about = "memory nodes";
    Some(match checkup.system.numa_nodes {
        0 => return None,
        1 => Finding::good(about, "one"),
        nodes => Finding::note(
            about,
            format!("{nodes} NUMA nodes"),
            "Memory of another node is slower, and which node a buffer lies on changes with each start.",
            "Start rqps on one of them: `numactl --cpunodebind=0 --membind=0 rqps run …`",
        ),
    })
}

fn other_work(checkup: &Checkup) -> Option<Finding> {
    let (about, work) = ("other work", &checkup.other_work);
    let names: Vec<String> = work.busiest.iter().map(|busy| format!("{} {:.2}", busy.name, busy.cpus)).collect();
    let by = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    let found = format!("{:.2} CPUs busy over {:.0} s{by}", work.cpus_busy, work.seconds);
    let why = "It takes CPU time and caches from whatever is measured at that moment.";
    let remedy = "Stop it, or measure when it is done; `systemctl list-timers` shows what comes by itself.";
    Some(match work.cpus_busy {
        busy if busy < BUSY_NOTE => Finding::good(about, found),
        busy if busy < BUSY_PROBLEM => Finding::note(about, found, why, remedy),
        _ => Finding::problem(about, found, why, remedy),
    })
}

fn stolen_time(checkup: &Checkup) -> Option<Finding> {
    let about = "stolen time";
    let stolen = checkup.other_work.cpus_stolen;
    checkup.host.virtualization.as_ref()?;
    let found = format!("the hypervisor took {stolen:.3} CPUs");
    let why = "Other machines ran on these CPUs meanwhile; few hypervisors tell all of it.";
    let remedy = "Take a size with CPUs of its own, or measure at another hour.";
    Some(match stolen {
        _ if stolen < STOLEN_NOTE => Finding::good(about, found),
        _ if stolen < STOLEN_PROBLEM => Finding::note(about, found, why, remedy),
        _ => Finding::problem(about, found, why, remedy),
    })
}

fn huge_pages(checkup: &Checkup) -> Option<Finding> {
    let about = "huge pages";
    Some(match checkup.host.transparent_huge_pages.as_deref()? {
        "always" => Finding::note(
            about,
            "transparent huge pages: always",
            "The kernel joins and splits pages while servers run, at moments of its own.",
            "`echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled` (until the next boot)",
        )
        .changed_by(const { &[Change::setting("/sys/kernel/mm/transparent_hugepage/enabled", "madvise")] }),
        other => Finding::good(about, format!("transparent huge pages: {other}")),
    })
}

fn program_pages(checkup: &Checkup) -> Option<Finding> {
    let about = "program pages";
    let why = "In which small pages a program lies moves a test by up to a fifth; with `--program-pages huge` servers \
               run from copies in huge pages.";
    Some(match &checkup.system.no_huge_programs {
        None => Finding::good(about, format!("can be huge: {PLACE} is there")),
        Some(NoHugePages::NotInKernel) => {
            let remedy = "Use a kernel with CONFIG_TRANSPARENT_HUGEPAGE.";
            Finding::note(about, "only small: this kernel has no huge ones for files in memory", why, remedy)
        }
        Some(NoHugePages::Denied) => {
            let remedy = format!("`echo never | sudo tee {SHMEM_ENABLED}`, and look again");
            let change = const { &[Change::setting(SHMEM_ENABLED, "never"), Change::program_place(PLACE)] };
            Finding::note(about, "only small: the kernel denies huge ones", why, remedy).changed_by(change)
        }
        Some(NoHugePages::NotMounted { found, .. }) => {
            let remedy = format!(
                "`sudo mkdir -p {PLACE} && sudo mount -t tmpfs -o huge=always,mode=1777,nosuid,nodev rqps {PLACE}` (until \
                 the next boot)"
            );
            let change = const { &[Change::program_place(PLACE)] };
            Finding::note(about, format!("only small: {PLACE} has {found}"), why, remedy).changed_by(change)
        }
        Some(NoHugePages::Closed { why: closed, .. }) => {
            let remedy = format!("`sudo chmod 1777 {PLACE}`");
            Finding::note(about, format!("only small: {PLACE} may not be written ({closed})"), why, remedy)
        }
    })
}

fn swap(checkup: &Checkup) -> Option<Finding> {
    let about = "swap";
    let (all, used) = (checkup.host.swap_bytes, checkup.system.swap_used_bytes);
    let why = "A buffer that was swapped out is slow on one build and not on the next.";
    Some(match (all, used) {
        (0, _) => Finding::good(about, "none"),
        (_, 0) => Finding::note(about, format!("{}, not used", human_bytes(all)), why, "`sudo swapoff -a`"),
        _ => {
            let found = format!("{} of {} used", human_bytes(used), human_bytes(all));
            Finding::problem(about, found, why, "`sudo swapoff -a`, and less memory for the servers (`--machine`)")
        }
    })
}

fn clock(checkup: &Checkup) -> Option<Finding> {
    let about = "clock";
    let (source, read_ns) = (checkup.system.clock_source.as_deref()?, checkup.trials.clock.read_ns);
    let found = format!("{source}, read in {read_ns:.0} ns");
    if read_ns <= CLOCK_READ_NS_MAX {
        return Some(Finding::good(about, found));
    }
    let why = "Client and servers read the clock twice a statement or more, and each read is a call of the kernel.";
    Some(if checkup.system.clock_sources.iter().any(|clock| clock == "tsc") {
        let remedy = "`echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource`";
        Finding::problem(about, found, why, remedy).changed_by(
            const { &[Change::setting("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")] },
        )
    } else {
        let remedy =
            "The kernel does not trust this machine's counter; ask the hypervisor's owner, or use another machine.";
        Finding::problem(about, found, why, remedy)
    })
}

fn flushes(checkup: &Checkup) -> Option<Finding> {
    let about = "flushes";
    let place = format!("{} on {}", checkup.host.filesystem, checkup.host.device);
    let Some(flush) = &checkup.trials.flush else {
        return Some(Finding::note(
            about,
            format!("not tried: {place} makes no file without a name here"),
            "How long a durable commit takes on this disk is not known.",
            "Choose another folder with --data DIR or RQPS_DATA.",
        ));
    };
    let found = format!("{:.0} µs, the slowest hundredth {:.0} µs ({place})", flush.median_us, flush.p99_us);
    Some(if flush.median_us < FLUSH_US_MIN {
        Finding::note(
            about,
            found,
            "Nothing was written to a device, so durable commits (profiles that end in _sync) cost nothing here.",
            "Measure durable commits on a disk: --data DIR or RQPS_DATA.",
        )
    } else if flush.p99_us > FLUSH_UNEVEN * flush.median_us {
        Finding::note(
            about,
            found,
            "Durable commits (profiles that end in _sync) and checkpoints are as uneven as the disk.",
            "Use a disk with a cache that survives a power failure, or profiles without durable commits.",
        )
    } else {
        Finding::good(about, found)
    })
}

fn copies(checkup: &Checkup) -> Option<Finding> {
    let about = "copies of data";
    let free = checkup.system.disk_free_bytes.map(|bytes| format!("; {} free", human_bytes(bytes))).unwrap_or_default();
    if checkup.host.reflink {
        return Some(Finding::good(about, format!("share blocks ({}){free}", checkup.host.filesystem)));
    }
    Some(Finding::note(
        about,
        format!("are written in full ({}){free}", checkup.host.filesystem),
        "Each round begins with a copy of the data for each server, which takes time and room.",
        "A folder on XFS (made with reflink=1, the default) or Btrfs copies at once: --data DIR or RQPS_DATA.",
    ))
}

/// The clocks are those of whole CPUs, which the kernel keeps from others than root at a level above 0.
fn may_profile(system: &System) -> bool {
    system.is_root || system.perf_event_paranoid.is_some_and(|level| level <= 0)
}

fn profiling(checkup: &Checkup) -> Option<Finding> {
    let about = "profiles";
    let system = &checkup.system;
    let told =
        system.perf_event_paranoid.map_or("no perf events".to_owned(), |level| format!("perf_event_paranoid {level}"));
    let why = "To say why a test changed, `rqps explain --time` samples functions, blocked sessions and waits.";
    Some(match (may_profile(system), system.has_pmu) {
        (true, true) => Finding::good(about, format!("may be taken ({told})")),
        (true, false) => Finding::note(
            about,
            format!("may be taken; there is no PMU ({told})"),
            "rqps samples by a timer of the kernel and needs none, but no tool counts instructions or cache misses here.",
            "Use a machine of your own, or a virtual one whose hypervisor passes the PMU on.",
        ),
        (false, _) => Finding::note(
            about,
            format!("may not be taken ({told})"),
            why,
            "`sudo sysctl kernel.perf_event_paranoid=-1`",
        ),
    })
}

fn system_calls(checkup: &Checkup) -> Option<Finding> {
    let about = "system calls";
    if !may_profile(&checkup.system) {
        return None;
    }
    Some(match &checkup.system.syscalls_refused {
        None => Finding::good(about, "may be counted by name"),
        Some(refused) => Finding::note(
            about,
            "cannot be counted by name",
            "`rqps explain --time` goes on without: which calls a build makes more or fewer of is not told.",
            refused.clone(),
        ),
    })
}
