//! Kept noise in words: the list of calibrations, and what a plan would see.
//!
//! In: calibrations. Out: lines of text.

use super::{Calibration, Host, Shown};
use rqps_analysis::digits::percent;
use rqps_campaign::Foretold;
use rqps_model::{Plan, plural};

/// The list that `rqps calibrate --list` prints; `host` is this one.
pub fn list(kept: &[Calibration], host: &Host) -> String {
    if kept.is_empty() {
        return "nothing is known of this host's noise yet: rqps calibrate --build postgres:17.11\n".to_owned();
    }
    kept.iter().map(|one| line(one, host)).collect()
}

fn line(one: &Calibration, host: &Host) -> String {
    let Calibration { profile, placement, floors, .. } = one;
    let rounds = floors.iter().map(|floor| floor.rounds).max().unwrap_or(0);
    let Shown { build, day, tests, sd_middle, sd_most } = Shown::by(one);
    let is_here = one.host == *host;
    let Host { cpu_model, cpus, kernel } = &one.host;
    let place = if is_here { "this host".to_owned() } else { format!("{cpu_model}, {cpus} CPUs, kernel {kernel}") };
    let (count, rounds) = (plural(tests, "test"), plural(rounds, "round"));
    format!(
        "{day}  {build}  {profile}  {placement}  {count}, {rounds}, sd of a round {} (middle) to {}; {place}\n",
        percent(sd_middle),
        percent(sd_most)
    )
}

/// What a plan would see by what is kept of this host; empty where nothing is known.
pub fn describe(plan: &Plan, foretold: &[Foretold], sources: &[&Calibration]) -> String {
    if foretold.is_empty() {
        return String::new();
    }
    let shown = sources.iter().map(|one| Shown::by(one));
    let named: Vec<String> = shown.map(|Shown { build, day, .. }| format!("{build} on {day}")).collect();
    let several = plan.clients().len() > 1;
    let name = |cell: &Foretold| match several {
        true => format!("{}, {}", cell.test, plural(cell.clients, "client")),
        false => cell.test.clone(),
    };
    let width = foretold.iter().map(|cell| name(cell).len()).max().unwrap_or(0);
    let lines = foretold.iter().map(|cell| format!("  {:width$}  {:>6}\n", name(cell), percent(cell.mde)));
    let unknown = (plan.tests().len() * plan.clients().len()).saturating_sub(foretold.len());
    let unknown = match unknown {
        0 => String::new(),
        count => format!("  of {count} more nothing is known: rqps calibrate --tests\n"),
    };
    format!(
        "\nsmallest change found in 4 of 5 cases, by an A/A of {} on this host\n{}{unknown}",
        named.join(" and "),
        lines.collect::<String>()
    )
}
