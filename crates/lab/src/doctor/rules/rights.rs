//! What this user may sample and count.
//!
//! In: a checkup. Out: a finding a rule.

use super::super::checkup::Checkup;
use super::super::finding::Finding;
use super::super::system::System;

/// The clocks are those of whole CPUs, which the kernel keeps from others than root at a level above 0.
fn may_profile(system: &System) -> bool {
    system.is_root || system.perf_event_paranoid.is_some_and(|level| level <= 0)
}

pub(super) fn profiling(checkup: &Checkup) -> Option<Finding> {
    let about = "profiles";
    let system = &checkup.system;
    let told =
        system.perf_event_paranoid.map_or("no perf events".to_owned(), |level| format!("perf_event_paranoid {level}"));
    let why = "To say why a test changed, `rqps explain --time` samples functions, blocked sessions and waits.";
    Some(match may_profile(system) {
        true => Finding::good(about, format!("may be taken ({told})")),
        false => Finding::note(
            about,
            format!("may not be taken ({told})"),
            why,
            "`sudo sysctl kernel.perf_event_paranoid=-1`",
        ),
    })
}

pub(super) fn cpu_events(checkup: &Checkup) -> Option<Finding> {
    let about = "CPU events";
    let refused = &checkup.system.cpu_events_refused;
    let Some((reason, _)) = refused.first_key_value() else {
        return Some(Finding::good(about, "may be counted, by --cpu-events"));
    };
    let events: Vec<&str> = refused.values().flatten().map(String::as_str).collect();
    Some(Finding::note(
        about,
        format!("cannot be counted: {}", events.join(", ")),
        "Whether a build runs more instructions, or the same ones slower, is not told; `--cpu-events` goes on without.",
        reason.clone(),
    ))
}

pub(super) fn system_calls(checkup: &Checkup) -> Option<Finding> {
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
