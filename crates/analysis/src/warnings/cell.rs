//! Warnings of one cell: from its samples while they are in memory, and from its comparison once it is judged.
//!
//! In: a cell's samples, costs and the base's. Out: warnings. Thresholds are named here with their reason.

use super::{percent, plan_changes, rounds_in_words, step, warning};
use crate::advice::{Advice, Kind};
use crate::findings::{Comparison, Cost, PlanFindings, Warning};
use crate::measured::Measured;
use crate::plan_structure::first_difference;
use crate::round::RoundRatio;
use rqps_model::facts::SettingsFacts;
use rqps_model::{Interleave, Verdict, counted};
use std::collections::BTreeMap;

/// A client that takes more of the machine than this leaves too little to the server.
const CLIENT_SHARE_OF_MACHINE: f64 = 0.5;
/// A client that is busy more than this share of its own CPUs is the limit.
const CLIENT_SHARE_OF_ITS_CPUS: f64 = 0.9;
/// More stolen time than this moves throughput by more than the usual margin.
const STEAL_SHARE: f64 = 0.05;
/// Stolen time that hit one side more than the other by this share is not cancelled by alternating.
const STEAL_DIFFERENCE: f64 = 0.02;
/// Idle time that differs by more than this says that one side waited for something else than a CPU.
const IDLE_DIFFERENCE: f64 = 0.15;
/// Sessions that are idle for more of their time than the rest stand beside slices that last longer for one than for another.
const BUSY_SHARE: f64 = 0.9;
/// Up to this share events are those that were due at the very end of a turn or test, however low the rate.
const SKIPPED_SHARE: f64 = 0.01;
/// Lost cycles up to this share are what a stall now and then costs.
const CYCLES_LOST_SHARE: f64 = 0.05;

/// What helps where the client is the limit.
pub(super) const CLIENT_REMEDY: &str =
    "this compares the client as much as the servers: give it more CPUs or fewer clients";

/// What is known of a cell while its samples are in memory.
pub(crate) struct Cell<'a> {
    /// By round, from 1.
    pub(crate) rounds: &'a [Option<Measured>],
    /// The base's, likewise.
    pub(crate) base_rounds: &'a [Option<Measured>],
    pub(crate) ratios: &'a [RoundRatio],
    /// Whether each session sends when its last answer has come.
    pub(crate) is_closed: bool,
    pub(crate) cost: Option<&'a Cost>,
    pub(crate) base_cost: Option<&'a Cost>,
    pub(crate) settings: &'a SettingsFacts,
    pub(crate) plans: &'a [PlanFindings],
    pub(crate) base_plans: &'a [PlanFindings],
}

impl Cell<'_> {
    fn samples(&self) -> impl Iterator<Item = &Measured> {
        self.rounds.iter().flatten()
    }
}

/// Warnings from the samples of a cell.
pub(crate) fn observed(cell: &Cell<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    failures(cell, &mut found);
    accounts(cell, &mut found);
    client(cell, &mut found);
    idle_sessions(cell, &mut found);
    step::observed(cell, &mut found);
    machine(cell, &mut found);
    cycles(cell, &mut found);
    plans(cell, &mut found);
    plan_changes::observed(cell, &mut found);
    told_by_trials(cell, &mut found);
    found
}

fn failures(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let present = cell.samples().count();
    let absent: Vec<u32> = (1..).zip(cell.rounds).filter(|(_, s)| s.is_none()).map(|(round, _)| round).collect();
    if present > 0 && !absent.is_empty() {
        let message = format!("no sample in {}", rounds_in_words(&absent));
        found.push(warning("absent", message, "finish the campaign with `rqps resume`"));
    }
    let failed: Vec<(u32, &str)> =
        cell.samples().filter_map(|m| Some((m.sample.round, m.sample.failure.as_deref()?))).collect();
    if let Some((_, why)) = failed.first() {
        let rounds: Vec<u32> = failed.iter().map(|failure| failure.0).collect();
        let message = format!("failed in {} of {present}: {why}", rounds_in_words(&rounds));
        found.push(warning("failed", message, "see the server's log kept beside the treatment"));
    }
    let empty: Vec<u32> =
        cell.samples().filter(|m| m.sample.failure.is_none() && !m.has_number()).map(|m| m.sample.round).collect();
    if !empty.is_empty() {
        let message = format!("nothing completed in the counted time of {}", rounds_in_words(&empty));
        found.push(warning("failed", message, "give the test more seconds, or look for locks that block it"));
    }
}

fn accounts(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let unbalanced: Vec<u32> =
        cell.samples().filter(|m| !m.sample.accounting.is_balanced()).map(|m| m.sample.round).collect();
    if !unbalanced.is_empty() {
        let message = format!(
            "scheduled events are not the sum of succeeded, failed and skipped in {}",
            rounds_in_words(&unbalanced)
        );
        found.push(warning(
            "accounting",
            message,
            "report it: the client lost count, and its numbers cannot be trusted",
        ));
    }
    let mut errors: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for error in cell.samples().flat_map(|m| &m.sample.errors) {
        *errors.entry((&error.code, &error.statement)).or_default() += error.count;
    }
    if !errors.is_empty() {
        let total: u64 = errors.values().sum();
        let ((code, statement), most) = errors.iter().max_by_key(|(_, count)| **count).expect("there is an error");
        let mut message = counted(total, "error");
        message.push_str(&format!(", {most} of them {code} in {statement}"));
        found.push(warning(
            "errors",
            message,
            "work that failed is not in the throughput: compare the error counts too",
        ));
    }
    let (scheduled, skipped) = cell.samples().fold((0, 0), |(scheduled, skipped), m| {
        (scheduled + m.sample.accounting.scheduled, skipped + m.sample.accounting.skipped)
    });
    // What a step of the Insert Benchmark left out is told by its rate, or by its failure.
    let share = skipped as f64 / scheduled.max(1) as f64;
    if share >= SKIPPED_SHARE && cell.samples().all(|m| m.sample.step().is_none()) {
        let message = format!("{} of the planned events were never sent", percent(share));
        found.push(warning("skipped", message, "the rate is more than this server can do: lower it"));
    }
}

fn client(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if let Some(busy) = step::busy_client(cell) {
        found.push(busy);
        return;
    }
    let (mut client_s, mut server_s, mut machine_s, mut wall_s) = (0.0, 0.0, 0.0, 0.0);
    for used in cell.samples().filter(|m| m.has_number()).map(|m| &m.sample.resources) {
        client_s += used.client.cpu_user_s + used.client.cpu_system_s;
        server_s += used.server.cpu_user_s + used.server.cpu_system_s;
        machine_s += f64::from(used.host.cpus) * used.host.seconds;
        wall_s += used.host.seconds;
    }
    if client_s <= 0.0 {
        return;
    }
    let settings = cell.settings;
    let own_cpus = settings.client_cpus.iter().filter(|cpu| !settings.server_cpus.contains(cpu)).count();
    let is_apart = own_cpus > 0 && own_cpus == settings.client_cpus.len();
    let share_of_own = client_s / (own_cpus as f64 * wall_s);
    let message = if server_s > 0.0 && client_s > server_s {
        format!("the client used {:.1} times the server's CPU time", client_s / server_s)
    } else if machine_s > 0.0 && client_s > CLIENT_SHARE_OF_MACHINE * machine_s {
        format!("the client used {} of the machine", percent(client_s / machine_s))
    } else if is_apart && wall_s > 0.0 && share_of_own > CLIENT_SHARE_OF_ITS_CPUS {
        format!("the client's own CPUs were busy {} of the time", percent(share_of_own))
    } else {
        return;
    };
    found.push(warning("client-bound", message, CLIENT_REMEDY));
}

/// Sessions that had ended their slice and waited for others that had not: throughput is per busy time and leaves that out. A
/// single session waits for nobody. What failed is not in the busy time either, and is told as errors.
fn idle_sessions(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if !cell.is_closed {
        return;
    }
    let (mut busy_s, mut all_s, mut in_slices) = (0.0, 0.0, false);
    let may_wait = |m: &&Measured| {
        m.has_number() && m.sample.clients > 1 && m.sample.step().is_none() && m.sample.errors.is_empty()
    };
    for sample in cell.samples().filter(may_wait).map(|m| &m.sample) {
        busy_s += sample.busy_ns as f64 / 1e9;
        all_s += f64::from(sample.clients) * sample.seconds;
        in_slices |= sample.interleave == Some(Interleave::Slices);
    }
    if all_s <= 0.0 || busy_s >= BUSY_SHARE * all_s {
        return;
    }
    let (edges, longer) = if in_slices { ("slices", "longer slices (`--slice`), ") } else { ("turns", "") };
    let message = format!(
        "sessions were busy {} of the time: at the ends of {edges} they wait for one another, which throughput leaves out",
        percent(busy_s / all_s)
    );
    found.push(warning(
        "idle-sessions",
        message,
        &format!("take {longer}fewer clients than CPUs, or a quieter machine"),
    ));
}

fn machine(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let Some(cost) = cell.cost else { return };
    let base = cell.base_cost.unwrap_or(cost);
    if cost.steal_share > STEAL_SHARE {
        let message = format!("the hypervisor took {} of the CPU time", percent(cost.steal_share));
        found.push(warning("steal", message, "measure on a machine that is not shared, or with more rounds"));
    } else if (cost.steal_share - base.steal_share).abs() > STEAL_DIFFERENCE {
        let (own, other) = (percent(cost.steal_share), percent(base.steal_share));
        let message = format!("the hypervisor took {own} of the CPU time here and {other} on the base");
        found.push(warning("steal", message, "measure this test again: the two did not run under the same conditions"));
    }
    if (cost.idle_share - base.idle_share).abs() > IDLE_DIFFERENCE {
        let (own, other) = (percent(cost.idle_share), percent(base.idle_share));
        let message = format!("the CPUs were idle {own} of the time, on the base {other}");
        found.push(warning(
            "idle",
            message,
            "one side waited for something else than a CPU: look at IO, locks and placement",
        ));
    }
}

fn cycles(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let used: usize = cell.ratios.iter().map(|ratio| ratio.cycles).sum();
    let lost: usize = cell.ratios.iter().map(|ratio| ratio.cycles_lost).sum();
    let share = lost as f64 / (used + lost).max(1) as f64;
    if share > CYCLES_LOST_SHARE {
        let message = format!("in {} of the cycles one side completed nothing", percent(share));
        found.push(warning("cycles-lost", message, "take longer slices, or turns, for this test"));
    }
}

fn plans(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    for plan in cell.plans.iter().filter(|plan| plan.differs) {
        let base = cell.base_plans.iter().find(|base| base.statement == plan.statement);
        let Some((old, new)) = base.and_then(|base| first_difference(&base.plan, &plan.plan)) else { continue };
        let message = format!("another plan for {}: {new} instead of {old}", plan.statement);
        found.push(warning("plan-changed", message, ""));
    }
}

/// What trials noted themselves, each note once.
fn told_by_trials(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let mut notes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for measured in cell.samples() {
        for note in &measured.sample.warnings {
            notes.entry(note).or_default().push(measured.sample.round);
        }
    }
    for (note, rounds) in notes {
        found.push(warning("trial", format!("{note} ({})", rounds_in_words(&rounds)), ""));
    }
}

/// Warnings from the comparison of a cell.
pub(crate) fn judged(comparison: &Comparison, kind: Kind, margin: f64) -> Vec<Warning> {
    let mut found = Vec::new();
    if let (Some(low), Some(high)) = (comparison.low, comparison.high)
        && (comparison.rqps.ln() - comparison.median.ln()).abs() > 0.5 * (high.ln() - low.ln())
    {
        let message = format!("mean {:.3} and median {:.3} of the rounds disagree", comparison.rqps, comparison.median);
        found.push(warning("skewed", message, "look at the single rounds: one of them is unlike the others"));
    }
    if comparison.is_taken_back() {
        let q = comparison.remark.as_deref().unwrap_or("q above 0.05");
        let message = format!("the interval does not contain 1, but of so many comparisons some do so by chance: {q}");
        found.push(warning("chance", message, &Advice::of(comparison, kind).words()));
        return found;
    }
    // What was shown needs no more power; only where nothing was does it matter what could have been.
    if let Some(mde) = comparison.mde
        && mde > margin
        && comparison.verdict == Verdict::Undecided
    {
        found.push(warning("noisy", could_not_see(mde), &Advice::of(comparison, kind).words()));
    }
    found
}

/// What would have stayed unseen. A loss cannot be larger than the whole, and twice as fast is as far as half as fast.
fn could_not_see(mde: f64) -> String {
    if mde > 1.0 {
        return "not even a halving could be seen".to_owned();
    }
    format!("changes below {} could not be seen", percent(mde))
}

#[cfg(test)]
mod tests;
