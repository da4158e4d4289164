//! How a given time is spent: how many rounds fit, and where it is open, how long a test is counted in each.
//!
//! In: a plan, the time, and what of the plan is open. Out: the plan with seconds, warm-up and expected rounds. What a
//! round takes is the estimate's rule of thumb; how many rounds there are is decided while measuring, by what rounds
//! took.

use crate::diagnostic::Fault;
use crate::estimate::{Estimate, estimate};
use crate::place::{Place, Spanned};
use rqps_model::plan::{Alternate, Arrival, Division, Renew, Stage, TimeLimit};
use rqps_model::{Plan, human_duration, plural};
use rqps_stats::distribution::student_t_quantile;
use rqps_stats::{PRIOR_DEGREES_OF_FREEDOM, USUAL_START_SPREAD};
use std::time::Duration;

/// Seconds of a test among which the best for a time is found.
const SECONDS: [f64; 12] = [0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0];

/// Shorter than so many slices no test is: the mean of fewer is not trimmed well.
const SLICES_MIN: f64 = 20.0;

/// The warm-up is this part of a test, within limits in seconds.
const WARMUP_PART: f64 = 0.2;
const WARMUP_MIN: f64 = 0.1;
const WARMUP_MAX: f64 = 1.0;

/// Standard deviation of the log ratio of a round that is due to a second of slices; it shrinks with the root of the
/// seconds. As of a usual test in slices of 3 ms (docs/measurement.md).
const SECOND_NOISE: f64 = 0.005;

/// So many cells lend each other what they know of the noise.
const CELLS_THAT_LEND: usize = 8;

/// Fewer rounds leave no useful interval.
const ROUNDS_MIN: u32 = 3;

/// More are not measured, whatever the time.
pub const ROUNDS_MAX: u32 = 1000;

/// A little more than the rule of thumb says is surely enough.
const ENOUGH: f64 = 1.05;

/// A time, and what it decides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Budget {
    /// Seconds, loading included.
    pub(crate) time: Spanned<f64>,
    /// Rounds at most, where that was said.
    pub(crate) rounds_max: Option<u32>,
    /// What else is to be chosen.
    pub(crate) open: Open,
    /// That it is enough if every test is decided, where that was said.
    pub(crate) until_decided: Option<Spanned<bool>>,
}

/// What of a test's length is to be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Open {
    /// Seconds of tests that only read.
    pub(crate) read_seconds: bool,
    /// Seconds of tests that write.
    pub(crate) write_seconds: bool,
    /// Warm-up.
    pub(crate) warmup: bool,
}

impl Budget {
    /// Settles seconds, warm-up and expected rounds of a plan.
    ///
    /// # Errors
    /// Where the time is too short for anything; the shortest that makes sense is named.
    pub(crate) fn spend(&self, plan: &mut Plan) -> Result<(), Fault> {
        let needed = self.rounds_max.unwrap_or(ROUNDS_MIN).min(ROUNDS_MIN);
        let choices = SECONDS.map(|seconds| self.open.settle(plan, seconds));
        let shortest = choices.iter().map(|choice| seconds(choice, needed)).fold(f64::INFINITY, f64::min);
        let time = match self.time.place {
            // A time that nobody gave is as long as it must be.
            Place::Preset(_) => self.time.value.max(shortest * ENOUGH),
            _ => self.time.value,
        };
        let fitting = choices.iter().map(|choice| (self.rounds_within(time, choice), choice));
        let narrowest = fitting
            .filter(|(rounds, _)| *rounds >= needed)
            .min_by(|a, b| half_width(a.1, a.0).total_cmp(&half_width(b.1, b.0)));
        let Some((rounds, best)) = narrowest else { return Err(too_short(time, shortest, needed)) };
        let rounds_max = self.rounds_max.unwrap_or(ROUNDS_MAX);
        let limit = TimeLimit { seconds: time, rounds_max, division: None };
        *plan = Plan { rounds, time: Some(limit), ..best.clone() };
        Ok(())
    }

    /// How the time of a plan is divided, if it can be.
    pub(crate) fn division(&self, plan: &Plan) -> Option<Division> {
        let Open { read_seconds, write_seconds, .. } = self.open;
        let until_decided = self.until_decided.is_some();
        division(plan).map(|_| Division { read_seconds, write_seconds, until_decided })
    }

    /// How many rounds of a plan fit.
    fn rounds_within(&self, time: f64, plan: &Plan) -> u32 {
        let (load, round) = costs(plan);
        let fitting = ((time - load) / round.max(f64::MIN_POSITIVE)).clamp(0.0, f64::from(ROUNDS_MAX));
        (fitting as u32).min(self.rounds_max.unwrap_or(ROUNDS_MAX))
    }
}

/// How the time of a plan can be divided, with the seconds of its tests as they are; `None` where every round must
/// measure all tests: where they build on each other or each build works on a clock of its own, since then a pass is
/// what it is; and at a rate, since throughput then shows nothing.
pub fn division(plan: &Plan) -> Option<Division> {
    let is_divisible = |stage: &Stage| {
        stage.alternate == Alternate::SideBySide && !stage.has_own_clocks() && stage.renew != Renew::Once
    };
    let may_leave_out = plan.arrival == Arrival::Closed && plan.stages.iter().all(is_divisible);
    may_leave_out.then_some(Division { read_seconds: false, write_seconds: false, until_decided: false })
}

impl Open {
    /// The plan of one round with tests of this length, where that is open.
    fn settle(&self, plan: &Plan, seconds: f64) -> Plan {
        let seconds = seconds.max(SLICES_MIN * plan.slice_ms / 1000.0);
        let is_open = |writes: bool| if writes { self.write_seconds } else { self.read_seconds };
        let mut plan = Plan { rounds: 1, ..plan.clone() };
        let tests = plan.stages.iter_mut().flat_map(|stage| &mut stage.tests);
        tests.filter(|test| is_open(test.writes)).for_each(|test| test.seconds = seconds);
        if self.warmup {
            plan.warmup_seconds = (seconds * WARMUP_PART).clamp(WARMUP_MIN, WARMUP_MAX);
        }
        plan
    }
}

/// Seconds that a plan takes with so many rounds.
fn seconds(plan: &Plan, rounds: u32) -> f64 {
    let (load, round) = costs(plan);
    load + f64::from(rounds) * round
}

/// Seconds before the first round, and of a round.
pub(crate) fn costs(plan: &Plan) -> (f64, f64) {
    let Estimate { load_seconds, restart_seconds, work_seconds, test_seconds, .. } =
        estimate(&Plan { rounds: 1, ..plan.clone() });
    (load_seconds, restart_seconds + work_seconds + test_seconds)
}

/// Half of the 95 % interval of a usual test, as a fraction, after so many rounds.
pub(crate) fn half_width(plan: &Plan, rounds: u32) -> f64 {
    let tests = plan.tests();
    let shortest = tests.iter().map(|test| test.seconds).fold(f64::INFINITY, f64::min);
    let spread = (USUAL_START_SPREAD.powi(2) + SECOND_NOISE.powi(2) / shortest).sqrt();
    // One round has no interval; the longer it is the better, all the same.
    let degrees_of_freedom = if rounds < 2 { 0.5 } else { f64::from(rounds - 1) + lent(plan) };
    student_t_quantile(0.975, degrees_of_freedom) * spread / f64::from(rounds.max(1)).sqrt()
}

/// Degrees of freedom that the cells of a plan lend each other.
pub(crate) fn lent(plan: &Plan) -> f64 {
    let cells = plan.tests().len() * plan.clients().len() * plan.treatments.len().saturating_sub(1);
    if cells < CELLS_THAT_LEND { 0.0 } else { PRIOR_DEGREES_OF_FREEDOM }
}

/// What is wrong with an end by decisions where every round measures all tests.
pub(crate) fn undivided(plan: &Plan) -> Fault {
    let why = match plan.why_continued.as_ref().or(plan.why_one_by_one.as_ref()) {
        Some(why) => format!(": {why}"),
        None => String::new(),
    };
    Fault::error(format!("here every round measures every test, whatever is decided{why}"))
        .help("leave `until-decided` out, or say how many `rounds`")
}

fn too_short(time: f64, shortest: f64, rounds: u32) -> Fault {
    let said = |seconds: f64| human_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let enough = flag_time(shortest * ENOUGH);
    let rounds = plural(rounds, "round");
    Fault::error(format!("{} is too short: {rounds} of these tests take about {}", said(time), said(shortest)))
        .expected(format!("{enough} or more, or fewer tests, builds, clients or rows"))
}

/// A time that is no shorter, in words that `--time` takes.
pub fn flag_time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 60.0 => format!("{:.0}s", (seconds / 5.0).ceil() * 5.0),
        seconds => format!("{:.0}m", (seconds / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests;
