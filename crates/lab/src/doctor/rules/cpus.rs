//! CPUs: how many, how even, who shares them, and what a message between them costs.
//!
//! In: a checkup. Out: a finding a rule.

use super::super::checkup::Checkup;
use super::super::finding::{Change, Finding, percent};
use super::super::trials::PingPong;

/// What a CPU keeps of its median speed in 95 of 100 pieces of work, on a machine of one's own.
const KEPT_WELL: f64 = 0.95;
const KEPT_BADLY: f64 = 0.8;

/// What CPUs of their own keep of their speed while the others work, which takes some turbo.
const TOGETHER_WELL: f64 = 0.85;

/// Messages across CPUs that cost so many times those within one make placement matter.
const ACROSS_NOTE: f64 = 1.5;

const LOOK_AGAIN: &str = "Other programs ran meanwhile (see other work): look again when they are done.";

pub(super) fn cpu_count(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn cpu_quota(checkup: &Checkup) -> Option<Finding> {
    let quota = checkup.system.cpu_quota?;
    Some(Finding::problem(
        "CPU quota",
        format!("a control group allows {quota:.2} CPUs on average"),
        "When it is used up, all of rqps and its servers stand still until the next tenth of a second.",
        "Raise it: `systemctl set-property UNIT CPUQuota=`, or the limit of the container.",
    ))
}

pub(super) fn even_cpus(checkup: &Checkup) -> Option<Finding> {
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
        _ if checkup.other_work.disturbs() => Finding::note(about, found, why, LOOK_AGAIN),
        kept if kept >= KEPT_BADLY => Finding::note(about, found, why, remedy),
        _ => Finding::problem(about, found, why, remedy),
    })
}

pub(super) fn cpus_together(checkup: &Checkup) -> Option<Finding> {
    let about = "CPUs together";
    let cpus = &checkup.trials.cpus;
    let worst = cpus.iter().filter(|_| cpus.len() > 1).min_by(|a, b| a.together.total_cmp(&b.together))?;
    let found = format!("CPU {} does {} of what it does alone while all work", worst.cpu, percent(worst.together));
    if worst.together >= TOGETHER_WELL {
        return Some(Finding::good(about, found));
    }
    let why = "They share cores, turbo, or a budget of the hypervisor: a session's speed depends on its neighbours.";
    if checkup.other_work.disturbs() {
        return Some(Finding::note(about, found, why, LOOK_AGAIN));
    }
    let remedy = "Turn off threads of a core and turbo; in a cloud, take a size with whole cores.";
    Some(Finding::problem(about, found, why, remedy))
}

pub(super) fn threads_of_a_core(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn governor(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn turbo(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn pinning(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn messages_between_cpus(checkup: &Checkup) -> Option<Finding> {
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
