//! How the rest of a campaign's time is divided: what the next round measures, and for how long.
//!
//! In: the results so far, and the share of the time that is spent. Out: an [`Allotment`], or why there is none. The
//! first two rounds measure every test, the first of them for as long as planned. From then on the time goes to the
//! tests that can still be decided; once there is none, to those that are decided but not well known, and to those that
//! were given up; once all are well known, to all alike. A round has as many of them as fit in the time that is left,
//! by what each took when it was last measured. Each decision is a look at the results, so intervals are widened for it
//! (`rqps_stats::Levels`).

mod pace;

use crate::analyse_looked_at;
use crate::error::AnalysisError;
use crate::findings::{Comparison, Findings};
use crate::read::looks;
use pace::Pace;
use rqps_model::plan::{Allotment, Division, Round, TestPlan, TimeLimit};
use rqps_model::{Plan, Verdict};
use rqps_store::{Campaign, Status};
use std::collections::BTreeMap;

/// Rounds that measure every test: before, nothing is known of how rounds differ. In the last of them the seconds of
/// tests that write are settled: these change what those after them find, and so go on as they began.
const ROUNDS_OF_ALL: u32 = 2;

/// Fewer rounds leave no useful interval: until they have begun, seconds are shortened as far as that makes sense.
const ROUNDS_MIN: u32 = 3;

/// Later they are shortened to no less than this part, so that one more round fits; what is still too much is left out.
const SHORTENED_TO: f64 = 0.5;

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

/// A test's need, and of one that is not decided how many rounds more would do.
type Wants = (Need, f64);

/// What comes after the rounds that began.
#[derive(Debug, Clone, PartialEq)]
pub enum NextRound {
    /// A round that measures this.
    Measures(Allotment),
    /// None: another round would show nothing that is wanted.
    NothingLeft,
    /// None: what is left to be measured does not fit in the time.
    NoTimeLeft,
}

/// What the next round measures. `spent` is the share of the time spent so far.
///
/// # Errors
/// Where the results so far cannot be read.
pub fn allot(campaign: &Campaign, spent: f64) -> Result<NextRound, AnalysisError> {
    let (plan, begun) = (campaign.plan(), campaign.rounds_begun());
    if begun == 0 {
        let seconds = plan.tests().iter().map(|test| (test.name.clone(), test.seconds)).collect();
        return Ok(NextRound::Measures(Allotment { spent, seconds, given_up: Vec::new() }));
    }
    // What is added to a campaign that was complete is chosen by the intervals that it will have then.
    let status = Status { extended_after: None, ..campaign.status().clone() };
    let findings = analyse_looked_at(campaign, None, &status)?;
    let rounds = looks::rounds(campaign)?;
    let ahead = Ahead { pace: Pace::of(campaign, &findings, &rounds, ROUNDS_OF_ALL), begun, spent };
    Ok(ahead.next(&ahead.wants(&findings, &rounds)))
}

/// The rounds to come. Tests are told by their index in the plan.
struct Ahead<'p> {
    pace: Pace<'p>,
    /// Rounds that began.
    begun: u32,
    /// Share of the time that is spent.
    spent: f64,
}

impl<'p> Ahead<'p> {
    fn next(&self, wants: &[Wants]) -> NextRound {
        let plan = self.pace.plan;
        let steps: &[&[Need]] = match plan.division().is_some_and(|division: Division| division.until_decided) {
            _ if self.begun < ROUNDS_OF_ALL => return self.all(),
            true => &[&[Need::Open], &[Need::GivenUp]],
            false => &[&[Need::Open], &[Need::GivenUp, Need::Wide], &[Need::Narrow]],
        };
        let mut is_wanted = false;
        for step in steps {
            let mut wanted: Vec<usize> = (0..wants.len()).filter(|at| step.contains(&wants[*at].0)).collect();
            wanted.sort_by(|a, b| urgency(&wants[*a], &wants[*b]));
            is_wanted |= !wanted.is_empty();
            if let Some(seconds) = self.fitting(&wanted) {
                let given_up = given_up(plan, wants, &seconds);
                return NextRound::Measures(Allotment { spent: self.spent, seconds, given_up });
            }
        }
        if is_wanted { NextRound::NoTimeLeft } else { NextRound::NothingLeft }
    }

    /// A round of every test.
    fn all(&self) -> NextRound {
        let seconds = self.seconds(&self.pace.plan.tests());
        match self.fits(&seconds) {
            true => NextRound::Measures(Allotment { spent: self.spent, seconds, given_up: Vec::new() }),
            false => NextRound::NoTimeLeft,
        }
    }

    /// The seconds of a round of these tests, the most urgent of which comes first, without those that no longer fit.
    fn fitting(&self, wanted: &[usize]) -> Option<BTreeMap<String, f64>> {
        let (mut kept, mut found) = (Vec::new(), None);
        for at in wanted {
            kept.push(*at);
            let seconds = self.seconds(&round_of(self.pace.plan, &kept));
            match self.fits(&seconds) {
                true => found = Some(seconds),
                false => _ = kept.pop(),
            }
        }
        found
    }

    /// The seconds of tests that share a round, shortened where a round or one of those that a useful interval takes
    /// would no longer fit.
    fn seconds(&self, tests: &[&TestPlan]) -> BTreeMap<String, f64> {
        let missing = ROUNDS_MIN.min(self.pace.plan.rounds_max()).saturating_sub(self.begun);
        let least_part = if missing > 0 { 0.0 } else { SHORTENED_TO };
        self.pace.fitted(self.pace.seconds(tests), self.left() / f64::from(missing.max(1)), least_part)
    }

    fn fits(&self, seconds: &BTreeMap<String, f64>) -> bool {
        // What was shortened takes just what is left, but for rounding.
        self.pace.round(seconds) <= self.left() * (1.0 + 1e-9)
    }

    /// Seconds that are left.
    fn left(&self) -> f64 {
        self.pace.plan.time.map_or(f64::MAX, |time: TimeLimit| time.latest_end()) * (1.0 - self.spent).max(0.0)
    }

    /// What each test wants; of several numbers of clients or treatments the most urgent counts.
    fn wants(&self, findings: &Findings, rounds: &[Round]) -> Vec<Wants> {
        let plan = self.pace.plan;
        let asked = asked(plan, findings.base);
        let of_test = |test: &TestPlan| {
            let levels = findings.tests.iter().filter(|found| found.name == test.name);
            let cells = levels.flat_map(|found| asked.iter().filter_map(|at| found.cells[*at].comparison.as_ref()));
            let measured = || rounds.iter().filter(|round| round.measures(&test.name));
            let cells = cells.filter(|cell| may_be_decided(cell, measured()));
            cells.map(|cell| wants(cell, plan.margin)).min_by(urgency).unwrap_or((Need::Nothing, 0.0))
        };
        let mut wants: Vec<Wants> = plan.tests().into_iter().map(of_test).collect();
        if self.spent >= GIVEN_UP_FROM {
            self.give_up(&mut wants);
        }
        wants
    }

    /// Gives up the tests that the time will not decide. Those that take the fewest rounds come first: as many are kept
    /// as rounds of them fit that decide the last of them. So what is hopeless takes no time from the others, and what
    /// the last round happened to measure has no part in it.
    fn give_up(&self, wants: &mut [Wants]) {
        let mut open: Vec<usize> = (0..wants.len()).filter(|at| wants[*at].0 == Need::Open).collect();
        open.sort_by(|a, b| urgency(&wants[*a], &wants[*b]));
        let within_reach = |count: &usize| wants[open[count - 1]].1 <= self.rounds_left(&open[..*count]);
        let kept = (1..=open.len()).rev().find(within_reach).unwrap_or(0);
        open[kept..].iter().for_each(|at| wants[*at].0 = Need::GivenUp);
    }

    /// How many rounds of these tests fit.
    fn rounds_left(&self, wanted: &[usize]) -> f64 {
        let plan = self.pace.plan;
        let round = self.pace.round(&self.pace.seconds(&round_of(plan, wanted)));
        (self.left() / round.max(f64::MIN_POSITIVE)).min(f64::from(plan.rounds_max().saturating_sub(self.begun)))
    }
}

fn urgency(a: &Wants, b: &Wants) -> std::cmp::Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

/// Tests that are left out although they are not decided: the time that is left will hardly do.
fn given_up(plan: &Plan, wants: &[Wants], measured: &BTreeMap<String, f64>) -> Vec<String> {
    let tests = plan.tests().into_iter().zip(wants);
    let left_out = tests.filter(|(test, wants)| wants.0 <= Need::GivenUp && !measured.contains_key(&test.name));
    left_out.map(|(test, _)| test.name.clone()).collect()
}

/// The treatments that a user asks about: what is there only to show the noise takes no time from them. Where there is
/// nothing else, it is what is asked about.
fn asked(plan: &Plan, base: usize) -> Vec<usize> {
    let shows_noise_only = plan.shows_noise_only(base);
    let is_asked = |at: &usize| *at != base && (shows_noise_only || !plan.is_control(*at, base));
    (0..plan.treatments.len()).filter(is_asked).collect()
}

/// Whether another round could give a comparison a verdict, of which these rounds measured its test. Where verdicts are
/// held back there is no interval however many rounds there are; and what failed in the last rounds will fail again.
fn may_be_decided<'r>(comparison: &Comparison, measured: impl DoubleEndedIterator<Item = &'r Round>) -> bool {
    let is_held_back = comparison.n >= 2 && comparison.low.is_none();
    let has_ratio = |round: &Round| comparison.by_round.iter().any(|found| found.round == round.number);
    !is_held_back && measured.rev().take(ROUNDS_THAT_FAIL).any(has_ratio)
}

fn wants(comparison: &Comparison, margin: f64) -> Wants {
    let (Some(low), Some(high)) = (comparison.low, comparison.high) else { return (Need::Open, f64::INFINITY) };
    let half = 0.5 * (high / low).ln();
    match comparison.verdict {
        Verdict::Undecided => (Need::Open, rounds_to_decide(comparison, margin)),
        _ if half <= NARROW * margin.ln_1p() => (Need::Narrow, 0.0),
        Verdict::Equal | Verdict::Regressed | Verdict::Improved => (Need::Wide, 0.0),
    }
}

/// How many more rounds would decide a comparison, if its mean stays within a standard error of where it is.
fn rounds_to_decide(comparison: &Comparison, margin: f64) -> f64 {
    let own = f64::from(comparison.n) - 1.0;
    let (floor, weight) = (comparison.floor.unwrap_or(0.0), comparison.floor_weight.unwrap_or(0.0));
    let variance = (own * comparison.sd.unwrap_or(0.0).powi(2) + weight * floor.powi(2)) / (own + weight).max(1.0);
    let mean = comparison.rqps.ln().abs();
    // The largest standard errors with which the mean, a standard error further out, shows a change; and with which,
    // one nearer to nothing, it shows equality. It is no nearer than nothing itself.
    let shows_a_change = mean / (HALF_AT_THE_END - 1.0);
    let margin = margin.ln_1p();
    let shows_equality = ((margin - mean) / (HALF_OF_EQUAL_AT_THE_END - 1.0)).min(margin / HALF_OF_EQUAL_AT_THE_END);
    let standard_error = shows_a_change.max(shows_equality).max(f64::MIN_POSITIVE);
    (variance / standard_error.powi(2) - f64::from(comparison.n)).max(0.0)
}

/// The tests of a round that is to measure some: with those that write and come before one of them on the same data,
/// which run in any case.
fn round_of<'p>(plan: &'p Plan, wanted: &[usize]) -> Vec<&'p TestPlan> {
    let tests = plan.tests();
    let is_wanted = |test: &TestPlan| wanted.iter().any(|at| tests[*at].name == test.name);
    let mut chosen: Vec<&TestPlan> = Vec::new();
    for stage in &plan.stages {
        let last = stage.tests.iter().rposition(is_wanted);
        let until_last = stage.tests.iter().take(last.map_or(0, |last| last + 1));
        let runs_anyway = |test: &TestPlan| test.writes && !stage.has_servers_per_test();
        chosen.extend(until_last.filter(|test| runs_anyway(test) || is_wanted(test)));
    }
    chosen
}

#[cfg(test)]
mod tests;
