//! Warnings of one cell from its samples: what failed, what does not add up, what the machine did, what samples noted.
//!
//! In: a [`Cell`]. Out: all its warnings but those from its comparison, in the order in which they are shown.
//! Thresholds are named here with their reason.

use super::cell::Cell;
use super::{advised, answers, client, plan_changes, rates, warning};
use crate::digits::percent;
use crate::evidence;
use crate::findings::{Cost, Warning};
use crate::read::measured::Measured;
use crate::words::rounds_in_words;
use rqps_model::sample::{FailureClass, Failures};
use rqps_model::{WarningKind, plural};
use rqps_stats::median;
use std::collections::BTreeMap;

/// More stolen time than this moves throughput by more than the usual margin.
const STEAL_SHARE: f64 = 0.05;
/// Stolen time that hit one side more than the other by this share is not cancelled by alternating.
const STEAL_DIFFERENCE: f64 = 0.02;
/// Idle time that differs by more than this says that one side waited for something other than a CPU.
const IDLE_DIFFERENCE: f64 = 0.15;
/// Up to this share events are those that were due at the very end of a turn or test, however low the rate.
const SKIPPED_SHARE: f64 = 0.01;
/// From this correlation on, half of the variance of two treatments' slices is common to both.
const IN_STEP: f64 = 0.7;
/// Lost cycles up to this share are what a stall now and then costs.
const CYCLES_LOST_SHARE: f64 = 0.05;

/// All warnings from the samples of a cell.
pub(crate) fn observed(cell: &Cell<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    failures(cell, &mut found);
    accounts(cell, &mut found);
    client::client(cell, &mut found);
    client::idle_sessions(cell, &mut found);
    rates::observed(cell, &mut found);
    machine(cell, &mut found);
    speeds(cell, &mut found);
    cycles(cell, &mut found);
    plan_changes::against_base(cell, &mut found);
    plan_changes::between_rounds(cell, &mut found);
    answers::against_base(cell, &mut found);
    noted_by_samples(cell, &mut found);
    found
}

fn failures(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let present = cell.samples().count();
    let due = (1..).zip(cell.rounds).filter(|(round, _)| !cell.left_out.contains(round));
    let absent: Vec<u32> = due.filter(|(_, sample)| sample.is_none()).map(|(round, _)| round).collect();
    if present > 0 && !absent.is_empty() {
        found.push(warning(WarningKind::Absent, format!("no sample in {}", rounds_in_words(absent))));
    }
    if let Some(rounds) = cell.rounds_where(|m| m.sample.failure.is_some()) {
        let why = cell.samples().find_map(|m| m.sample.failure.as_deref()).unwrap_or_default();
        found.push(warning(WarningKind::Failed, format!("failed in {rounds} of {present}: {why}")));
    }
    if let Some(rounds) = cell.rounds_where(|m| m.sample.failure.is_none() && !m.has_number()) {
        let message = format!("nothing completed in the counted time of {rounds}");
        let advice = "give the test more seconds, or look for locks that block it";
        found.push(advised(WarningKind::Failed, message, advice));
    }
}

fn accounts(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if let Some(rounds) = cell.rounds_where(|m| !m.sample.accounting.is_balanced()) {
        let message = format!("scheduled events are not the sum of succeeded, failed and skipped in {rounds}");
        found.push(warning(WarningKind::Accounting, message));
    }
    errors(cell, found);
    let (scheduled, skipped) = cell.samples().fold((0, 0), |(scheduled, skipped), m| {
        (scheduled + m.sample.accounting.scheduled, skipped + m.sample.accounting.skipped)
    });
    // What a closed loop skips shows as a missed write rate or a failure.
    let share = skipped as f64 / scheduled.max(1) as f64;
    if share >= SKIPPED_SHARE && !cell.is_closed {
        let message = format!("{} of the planned events were never sent", percent(share));
        found.push(warning(WarningKind::Skipped, message));
    }
}

/// Statements that failed, and what was given up for it. Those that took longer than they may are told apart: for them
/// it is the plan that one looks at.
fn errors(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let mut errors: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut timeouts: BTreeMap<&str, u64> = BTreeMap::new();
    for error in cell.samples().flat_map(|m| &m.sample.errors) {
        match (error.class(), cell.timeout_seconds) {
            (FailureClass::Timeout, Some(_)) => *timeouts.entry(&error.statement).or_default() += error.count,
            _ => *errors.entry((&error.code, &error.statement)).or_default() += error.count,
        }
    }
    if let (Some((statement, most)), Some(seconds)) =
        (timeouts.iter().max_by_key(|(_, count)| **count), cell.timeout_seconds)
    {
        let total = plural(timeouts.values().sum::<u64>(), "time");
        let others = if timeouts.len() > 1 { format!(", {most} of them in {statement}") } else { String::new() };
        let statement = if timeouts.len() > 1 { "statements were" } else { &format!("{statement} was") };
        let message = format!("{statement} slower than {seconds} s, and cancelled, {total}{others}");
        found.push(warning(WarningKind::TimedOut, message));
    }
    if let Some(((code, statement), most)) = errors.iter().max_by_key(|(_, count)| **count) {
        let mut message = plural(errors.values().sum::<u64>(), "error");
        message.push_str(&format!(", {most} of them {code} in {statement}"));
        message.push_str(&given_up(cell));
        found.push(warning(WarningKind::Errors, message));
    }
}

/// The events that were given up, by class, and how many attempts were repeated, where samples tell.
fn given_up(cell: &Cell<'_>) -> String {
    let failures = cell.samples().fold(Failures::default(), |all, m| all + m.sample.failures);
    if failures.is_none() {
        return String::new();
    }
    let retried: u64 = cell.samples().map(|m| m.sample.accounting.retried).sum();
    let classes = FailureClass::ALL.into_iter().map(|class| (class, *{ failures }.of(class)));
    let classes: Vec<String> =
        classes.filter(|(_, count)| *count > 0).map(|(class, count)| format!("{count} {class}")).collect();
    let repeated = if retried > 0 { format!("; {} repeated", plural(retried, "attempt")) } else { String::new() };
    format!("; events given up: {}{repeated}", classes.join(", "))
}

fn machine(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let Some(cost) = cell.cost else { return };
    let base = cell.base_cost.unwrap_or(cost);
    if cost.steal_share > STEAL_SHARE {
        let message = format!("the hypervisor took {} of the CPU time", percent(cost.steal_share));
        found.push(warning(WarningKind::Steal, message));
    } else if (cost.steal_share - base.steal_share).abs() > STEAL_DIFFERENCE {
        let (own, other) = (percent(cost.steal_share), percent(base.steal_share));
        let message = format!("the hypervisor took {own} of the CPU time here and {other} on the base");
        found.push(advised(
            WarningKind::Steal,
            message,
            "measure this test again: the two did not run under the same conditions",
        ));
    }
    if idles_differently(cost, base) {
        let (own, other) = (percent(cost.idle_share), percent(base.idle_share));
        let message = format!("the CPUs were idle {own} of the time, on the base {other}");
        found.push(warning(WarningKind::Idle, message));
    }
}

/// Samples that ran at two speeds, with the cause where it is known.
fn speeds(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let samples: Vec<_> = cell.samples().filter_map(|m| Some((m, evidence::speeds::speeds(m)?))).collect();
    let Some((_, worst)) = samples.iter().min_by(|a, b| a.1.slow_to_fast.total_cmp(&b.1.slow_to_fast)) else { return };
    let (share, speed) = (percent(worst.slow_share), percent(worst.slow_to_fast));
    let rounds = rounds_in_words(samples.iter().map(|(m, _)| m.sample.round));
    let worst = if samples.len() > 1 { "; in the worst," } else { ":" };
    let message =
        format!("ran at two speeds in {rounds}{worst} {share} of the time at {speed} of the speed of the rest");
    if let Some(correlation) = in_step(cell, samples.iter().map(|(m, _)| *m)) {
        let other = "what it is compared with was slow at the same time";
        let message = format!("{message}; {other} (their slices correlate by {correlation:.2})");
        let advice = "it was the machine and not the build, such as other load, a neighbour on the same core, or the \
                      clock of the CPU: neighbouring slices are affected alike, but a quieter machine needs fewer rounds";
        return found.push(advised(WarningKind::TwoSpeeds, message, advice));
    }
    let placements: Vec<_> = samples.iter().map(|(m, _)| m.sample.placement.as_ref()).collect();
    let refused = placements.iter().flatten().find_map(|placed| placed.refused.as_deref());
    let could_move = cell.settings.client_cpus.len() > 1 && (refused.is_some() || placements.contains(&None));
    let moves = "the scheduler could move sessions between CPUs";
    let advice = match refused {
        Some(reason) => format!("{moves}, since they could not be placed: {reason}"),
        None => format!("{moves}: use placement same"),
    };
    found.push(advised(WarningKind::TwoSpeeds, message, if could_move { &advice } else { "" }));
}

/// How the rates of another treatment correlate with these samples', in the middle of them, where both were slow and
/// fast in the same cycles.
fn in_step<'a>(cell: &Cell<'_>, samples: impl Iterator<Item = &'a Measured>) -> Option<f64> {
    let other = |round| cell.other_rounds.iter().flatten().find(|other| other.sample.round == round);
    let found = samples.filter_map(|m| evidence::speeds::in_step(m, other(m.sample.round)?));
    median(&found.collect::<Vec<f64>>()).ok().filter(|correlation| *correlation >= IN_STEP)
}

/// Whether the CPUs were idle for much more or much less of the time than on the base.
pub(crate) fn idles_differently(cost: &Cost, base: &Cost) -> bool {
    (cost.idle_share - base.idle_share).abs() > IDLE_DIFFERENCE
}

fn cycles(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let used: usize = cell.ratios.iter().map(|ratio| ratio.cycles).sum();
    let lost: usize = cell.ratios.iter().map(|ratio| ratio.cycles_lost).sum();
    let share = lost as f64 / (used + lost).max(1) as f64;
    if share > CYCLES_LOST_SHARE {
        let message = format!("in {} of the cycles one side completed nothing", percent(share));
        found.push(warning(WarningKind::CyclesLost, message));
    }
}

/// What samples noted themselves, each note once.
fn noted_by_samples(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let mut notes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for measured in cell.samples() {
        for note in &measured.sample.warnings {
            notes.entry(note).or_default().push(measured.sample.round);
        }
    }
    for (note, rounds) in notes {
        found.push(warning(WarningKind::Trial, format!("{note} ({})", rounds_in_words(rounds))));
    }
}

#[cfg(test)]
mod tests;
