//! How the rest of a campaign's time is divided: what the next round measures, and for how long.
//!
//! In: the results so far, and the share of the time that is spent. Out: an [`Allotment`], or nothing, where no test
//! is left to be measured. The first two rounds measure every test, the first of them for as long as planned. From
//! then on the time goes to the tests that can still be decided; once there is none, to those that are decided but not
//! well known, and to those that were given up; once all are well known, to all alike. Each decision is a look at the
//! results, so intervals are widened for it (`rqps_stats::Levels`).

mod pace;

use crate::analyse_looked_at;
use crate::error::AnalysisError;
use crate::findings::{Comparison, Findings};
use crate::read::looks;
use pace::Pace;
use rqps_model::plan::{Allotment, Division, Round, TestPlan};
use rqps_model::{Plan, Verdict};
use rqps_store::{Campaign, Status};
use std::collections::BTreeMap;

/// Rounds that measure every test: before, nothing is known of how rounds differ.
const ROUNDS_OF_ALL: u32 = 2;

/// A test that is decided is well known with an interval of half this part of the margin. It decides nearly every
/// effect; what it leaves undecided, next to the margin or after correction, goes on.
const NARROW: f64 = 0.55;

/// What failed in so many rounds in a row will fail in the next one.
const ROUNDS_THAT_FAIL: usize = 2;

/// No test is given up before this share of the time is spent.
const GIVEN_UP_FROM: f64 = 1.0 / 3.0;

/// Half an interval at the end, in standard errors: of the one that shows a change, and of the one for equality.
const HALF_AT_THE_END: f64 = 2.3;
const HALF_OF_EQUAL_AT_THE_END: f64 = 1.95;

/// What a test still needs, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// It is not decided, and could be.
    Open,
    /// It is not decided, and the time that is left will hardly do.
    GivenUp,
    /// It is decided, but with a wide interval.
    Wide,
    /// It is decided with a narrow one: only to know it better still.
    Narrow,
    /// No round would give it a verdict: its builds answer differently, or it fails.
    Nothing,
}

/// What the next round measures; `None` once nothing is left to be measured. `spent` is the share of the time spent so
/// far.
///
/// # Errors
/// Where the results so far cannot be read.
pub fn allot(campaign: &Campaign, spent: f64) -> Result<Option<Allotment>, AnalysisError> {
    let plan = campaign.plan();
    let begun = campaign.rounds_begun();
    let planned = || plan.tests().iter().map(|test| (test.name.clone(), test.seconds)).collect();
    if begun == 0 {
        return Ok(Some(Allotment { spent, seconds: planned(), given_up: Vec::new() }));
    }
    // What is added to a campaign that was complete is chosen by the intervals that it will have then.
    let status = Status { extended_after: None, ..campaign.status().clone() };
    let findings = analyse_looked_at(campaign, None, &status)?;
    let pace = Pace::of(campaign, &findings)?;
    let needs = needs(plan, &findings, &looks::rounds(campaign)?, (spent, pace.share_of_a_round()));
    let chosen: Vec<&TestPlan> = if begun < ROUNDS_OF_ALL { plan.tests() } else { choose(plan, &needs) };
    // A test that writes changes what those after it find, so it goes on as it began.
    let settled = campaign.round(ROUNDS_OF_ALL)?.and_then(|round: Round| round.allotment);
    let seconds_of = |test: &TestPlan| match &settled {
        Some(settled) if test.writes => settled.seconds.get(&test.name).copied().unwrap_or(test.seconds),
        _ => pace.seconds(plan, test, chosen.len()),
    };
    let seconds: BTreeMap<String, f64> = chosen.iter().map(|test| (test.name.clone(), seconds_of(test))).collect();
    let seconds = pace.fitted(plan, seconds, (begun, spent));
    let given_up = given_up(plan, &needs, &seconds);
    Ok((!seconds.is_empty()).then_some(Allotment { spent, seconds, given_up }))
}

/// What each test needs, in the order of the plan; of several numbers of clients or treatments the most urgent counts.
fn needs(plan: &Plan, findings: &Findings, rounds: &[Round], (spent, of_a_round): (f64, f64)) -> Vec<Need> {
    let rounds_left = (1.0 - spent).max(0.0) / of_a_round.max(f64::MIN_POSITIVE);
    let asked = asked(plan, findings.base);
    let of_test = |test: &TestPlan| {
        let levels = findings.tests.iter().filter(|found| found.name == test.name);
        let cells = levels.flat_map(|found| asked.iter().filter_map(|at| found.cells[*at].comparison.as_ref()));
        let cells = cells.filter(|cell| may_be_decided(cell, rounds.iter().filter(|round| round.measures(&test.name))));
        cells.map(|cell| need(cell, plan.margin, spent, rounds_left)).min().unwrap_or(Need::Nothing)
    };
    plan.tests().into_iter().map(of_test).collect()
}

/// Tests that a round leaves out although they are not decided.
fn given_up(plan: &Plan, needs: &[Need], measured: &BTreeMap<String, f64>) -> Vec<String> {
    let tests = plan.tests().into_iter().zip(needs);
    let left_out = tests.filter(|(test, need)| **need == Need::GivenUp && !measured.contains_key(&test.name));
    left_out.map(|(test, _)| test.name.clone()).collect()
}

/// The treatments that a user asks about: what is there only to show the noise takes no time from them. Where there is
/// nothing else, it is what is asked about.
fn asked(plan: &Plan, base: usize) -> Vec<usize> {
    let others: Vec<usize> = (0..plan.treatments.len()).filter(|at| *at != base).collect();
    let is_control = |at: &usize| plan.is_control(*at, base);
    match others.iter().all(is_control) {
        true => others,
        false => others.into_iter().filter(|at| !is_control(at)).collect(),
    }
}

/// Whether another round could give a comparison a verdict, of which these rounds measured its test. Where verdicts are
/// held back there is no interval however many rounds there are; and what failed in the last rounds will fail again.
fn may_be_decided<'r>(comparison: &Comparison, measured: impl DoubleEndedIterator<Item = &'r Round>) -> bool {
    let is_held_back = comparison.n >= 2 && comparison.low.is_none();
    let has_ratio = |round: &Round| comparison.by_round.iter().any(|found| found.round == round.number);
    !is_held_back && measured.rev().take(ROUNDS_THAT_FAIL).any(has_ratio)
}

fn need(comparison: &Comparison, margin: f64, spent: f64, rounds_left: f64) -> Need {
    let may_give_up = spent >= GIVEN_UP_FROM;
    let given_up = if may_give_up { Need::GivenUp } else { Need::Open };
    let (Some(low), Some(high)) = (comparison.low, comparison.high) else { return given_up };
    let half = 0.5 * (high / low).ln();
    match comparison.verdict {
        Verdict::Undecided if !is_within_reach(comparison, margin, rounds_left) => given_up,
        Verdict::Undecided => Need::Open,
        _ if half <= NARROW * margin.ln_1p() => Need::Narrow,
        Verdict::Equal | Verdict::Regressed | Verdict::Improved => Need::Wide,
    }
}

/// Whether so many more rounds would decide a test, if its mean stays within a standard error of where it is.
fn is_within_reach(comparison: &Comparison, margin: f64, rounds_left: f64) -> bool {
    let own = f64::from(comparison.n) - 1.0;
    let (floor, weight) = (comparison.floor.unwrap_or(0.0), comparison.floor_weight.unwrap_or(0.0));
    let variance = (own * comparison.sd.unwrap_or(0.0).powi(2) + weight * floor.powi(2)) / (own + weight).max(1.0);
    let standard_error = (variance / (f64::from(comparison.n) + rounds_left)).sqrt();
    let mean = comparison.rqps.ln().abs();
    let shows_a_change = mean + standard_error > HALF_AT_THE_END * standard_error;
    let nearest = (mean - standard_error).max(0.0);
    let shows_equality = nearest + HALF_OF_EQUAL_AT_THE_END * standard_error < margin.ln_1p();
    shows_a_change || shows_equality
}

/// The tests of a round: the open ones; without any, those that are given up or known too little; without these, all
/// that can be measured, since the time is there to be used. Tests that write and come before one that is measured run
/// in any case, so they are measured too.
fn choose<'p>(plan: &'p Plan, needs: &[Need]) -> Vec<&'p TestPlan> {
    let until_decided = plan.division().is_some_and(|division: Division| division.until_decided);
    let steps: &[&[Need]] = match until_decided {
        true => &[&[Need::Open], &[Need::GivenUp]],
        false => &[&[Need::Open], &[Need::GivenUp, Need::Wide], &[Need::Narrow]],
    };
    let wanted = steps.iter().copied().find(|step| needs.iter().any(|need| step.contains(need))).unwrap_or_default();
    let tests = plan.tests();
    let is_wanted = |name: &str| tests.iter().zip(needs).any(|(test, need)| test.name == name && wanted.contains(need));
    let mut chosen: Vec<&TestPlan> = Vec::new();
    for stage in &plan.stages {
        let last = stage.tests.iter().rposition(|test| is_wanted(&test.name));
        let until_last = stage.tests.iter().take(last.map_or(0, |last| last + 1));
        chosen.extend(until_last.filter(|test| test.writes || is_wanted(&test.name)));
    }
    chosen
}

#[cfg(test)]
mod tests;
