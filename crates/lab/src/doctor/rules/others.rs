//! What else is on the host, what time it is there, and how much one build differs from itself.
//!
//! In: a checkup. Out: a finding a rule.

use super::super::checkup::Checkup;
use super::super::finding::{Change, Finding, percent};
use super::super::other_work::BUSY_PROBLEM;
use rqps_model::plural;

/// CPUs that others may use, and that a hypervisor may take, before ratios of short rounds become wide.
const BUSY_NOTE: f64 = 0.02;
const STOLEN_NOTE: f64 = 0.001;
const STOLEN_PROBLEM: f64 = 0.01;

/// A clock that is read without the kernel takes 20 to 50 ns.
const CLOCK_READ_NS_MAX: f64 = 100.0;

/// Rounds of the test in the middle differ by so much where one build is measured against itself: with the first a
/// change of the margin takes a dozen rounds, with the second seventy.
const ROUND_SD_NOTE: f64 = 0.02;
const ROUND_SD_PROBLEM: f64 = 0.05;

pub(super) fn virtual_machine(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn other_work(checkup: &Checkup) -> Option<Finding> {
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

pub(super) fn stolen_time(checkup: &Checkup) -> Option<Finding> {
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

/// What an A/A on this very host has shown.
pub(super) fn own_history(checkup: &Checkup) -> Option<Finding> {
    let about = "noise here";
    let why = "How well two servers of one build agree is what decides which changes are seen; nothing else tells it.";
    let calibrate = "`rqps calibrate --build postgres:17.11` measures it in ten minutes, and `rqps plan` uses it.";
    let Some(shown) = &checkup.own_history else {
        return Some(Finding::note(about, "no build was measured against itself on this host", why, calibrate));
    };
    let found = format!(
        "rounds of {} against itself differed by {} in the middle, {} at most ({}, {})",
        shown.build,
        percent(shown.sd_middle),
        percent(shown.sd_most),
        plural(shown.tests, "test"),
        shown.day
    );
    let remedy = "Do what is said above, then calibrate again; until then give campaigns more `--time`.";
    Some(match shown.sd_middle {
        sd if sd < ROUND_SD_NOTE => Finding::good(about, found),
        sd if sd < ROUND_SD_PROBLEM => Finding::note(about, found, why, remedy),
        _ => Finding::problem(about, found, why, remedy),
    })
}

pub(super) fn clock(checkup: &Checkup) -> Option<Finding> {
    let about = "clock";
    let (source, read_ns) = (checkup.host.clock_source.as_deref()?, checkup.trials.clock.read_ns);
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
