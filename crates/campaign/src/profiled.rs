//! Rounds that explain a campaign: its plan, cut down to some tests, in which functions are sampled.
//!
//! In: a plan, tests, a time. Out: a plan of as many rounds as fit, with tests long enough for some thousand samples.

use crate::budget::costs;
use rqps_model::plan::{TestPlan, TimeLimit};
use rqps_model::{FORMAT, Plan, human_duration};
use std::time::Duration;

/// Seconds of a test among which the longest that leaves enough rounds is taken: samples come with the seconds, and how
/// much rounds differ is known from rounds.
const SECONDS: [f64; 7] = [10.0, 7.0, 5.0, 3.0, 2.0, 1.0, 0.5];

/// Rounds that there should be, and those that there must be.
const ROUNDS_WANTED: u32 = 6;
const ROUNDS_MIN: u32 = 3;

/// More are not measured, whatever the time.
const ROUNDS_MAX: u32 = 100;

/// Tests that need not be explained are, where each test then has this many seconds, and rounds enough.
const SECONDS_OF_MORE_MIN: f64 = 2.0;

/// Tests of a campaign that are to be explained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToExplain {
    /// All of these.
    pub tests: Vec<String>,
    /// As many of these, from the first on, as the time is enough for.
    pub more: Vec<String>,
}

/// The plan of rounds that explain tests of a campaign, in so many seconds; else what is in the way.
pub fn profiled(plan: &Plan, wanted: &ToExplain, seconds: f64) -> Result<Plan, String> {
    let ToExplain { tests, more } = wanted;
    let with = |count: usize| [&tests[..], &more[..count]].concat();
    let has_time = |plan: &Plan| {
        let is_long = |test: &&TestPlan| test.seconds >= SECONDS_OF_MORE_MIN;
        plan.rounds >= ROUNDS_WANTED && (plan.is_chain() || plan.tests().iter().all(is_long))
    };
    let all_that_fit =
        (1..=more.len()).rev().find_map(|count| of_tests(plan, &with(count), seconds).ok().filter(has_time));
    // Where nothing must be explained, the first of the others is.
    let least = usize::from(tests.is_empty()).min(more.len());
    all_that_fit.map_or_else(|| of_tests(plan, &with(least), seconds), Ok)
}

fn of_tests(plan: &Plan, tests: &[String], seconds: f64) -> Result<Plan, String> {
    // What the kernel does to count events at each switch would be among the functions.
    let mut cut = Plan { format: FORMAT, profiled: true, cpu_events: false, time: None, ..plan.clone() };
    let is_wanted = |test: &TestPlan| tests.contains(&test.name);
    if plan.is_chain() {
        // Each test builds on the one before it.
        cut.stages.retain(|stage| stage.tests.iter().any(is_wanted));
    } else {
        cut.stages.iter_mut().for_each(|stage| stage.tests.retain(is_wanted));
        cut.stages.retain(|stage| !stage.tests.is_empty());
    }
    if cut.stages.is_empty() {
        return Err("there is no test to explain".to_owned());
    }
    let choices = match plan.is_chain() {
        true => vec![cut],
        false => SECONDS.map(|seconds| with_seconds(&cut, seconds)).to_vec(),
    };
    let rounds = |plan: &Plan| {
        let (load, round) = costs(plan);
        ((seconds - load) / round.max(f64::MIN_POSITIVE)).clamp(0.0, f64::from(ROUNDS_MAX)) as u32
    };
    let enough = choices.iter().find(|plan| rounds(plan) >= ROUNDS_WANTED);
    let best = enough.or_else(|| choices.iter().rev().find(|plan| rounds(plan) >= ROUNDS_MIN));
    let Some(best) = best else { return Err(too_short(seconds, &choices[choices.len() - 1])) };
    let time = Some(TimeLimit { seconds, rounds_max: ROUNDS_MAX, division: None });
    Ok(Plan { rounds: rounds(best), time, ..best.clone() })
}

fn with_seconds(plan: &Plan, seconds: f64) -> Plan {
    let mut plan = plan.clone();
    plan.stages.iter_mut().flat_map(|stage| &mut stage.tests).for_each(|test| test.seconds = seconds);
    plan
}

fn too_short(seconds: f64, shortest: &Plan) -> String {
    let (load, round) = costs(shortest);
    let said = |seconds: f64| human_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let (rounds, remedy) = match shortest.is_chain() {
        true => ("rounds of whole passes", "give more time"),
        false => ("rounds of these tests", "give more time, or fewer tests with --tests"),
    };
    let needed = said(load + f64::from(ROUNDS_MIN) * round);
    format!("{} is too short: {ROUNDS_MIN} {rounds} take about {needed}; {remedy}", said(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(suite: &str) -> Plan {
        let words = [("suite", suite), ("build", "postgres:16.15"), ("build", "postgres:17.11")];
        crate::testing::plan(&words, false)
    }

    fn names(tests: &[&str]) -> ToExplain {
        with_more(tests, &[])
    }

    fn with_more(tests: &[&str], more: &[&str]) -> ToExplain {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToExplain { tests: owned(tests), more: owned(more) }
    }

    #[test]
    fn more_tests_are_explained_as_far_as_the_time_goes() {
        let whole = plan("sysbench");
        let all: Vec<&str> = whole.tests().iter().map(|test| test.name.as_str()).collect();
        let of = |wanted: &ToExplain, seconds| {
            let plan = profiled(&whole, wanted, seconds).expect("a plan");
            plan.tests().iter().map(|test| test.name.clone()).collect::<Vec<_>>()
        };
        let wanted = with_more(&["hot-points"], &all);
        let [short, long] = [of(&wanted, 300.0), of(&wanted, 900.0)];
        assert!(short.len() < long.len() && long.len() < all.len(), "{short:?}, {long:?}");
        assert_eq!(of(&wanted, 80.0), ["hot-points"], "what must be explained is, in less time for each");
        assert_eq!(of(&wanted, 86_400.0), all);
        assert_eq!(of(&with_more(&[], &["scan", "hot-points"]), 80.0), ["scan"], "nothing must be");
    }

    #[test]
    fn a_time_is_spent_on_these_tests_only() {
        let whole = plan("sysbench");
        let few = profiled(&whole, &names(&["hot-points"]), 300.0).expect("a plan");
        assert!(few.profiled && few.rounds >= ROUNDS_WANTED, "{}", few.rounds);
        assert_eq!(few.tests().iter().map(|test| test.name.as_str()).collect::<Vec<_>>(), ["hot-points"]);
        assert_eq!((few.seed, &few.treatments), (whole.seed, &whole.treatments));
        let more = profiled(&whole, &names(&["hot-points", "scan", "insert", "delete"]), 300.0).expect("a plan");
        assert!(more.tests()[0].seconds <= few.tests()[0].seconds);
    }

    #[test]
    fn tests_that_build_on_each_other_are_run_as_a_whole() {
        let whole = plan("insert");
        let passes = profiled(&whole, &names(&["qr100"]), 86_400.0).expect("a plan");
        assert!(passes.profiled && passes.rounds >= ROUNDS_MIN, "{}", passes.rounds);
        assert_eq!(passes.tests(), whole.tests());
        assert_eq!(profiled(&whole, &names(&[]), 86_400.0).expect_err("no"), "there is no test to explain");
    }

    #[test]
    fn what_cannot_be_explained_is_refused_with_the_reason() {
        let refused = |suite, tests: &[&str], seconds| profiled(&plan(suite), &names(tests), seconds).expect_err("no");
        assert!(refused("sysbench", &["hot-points"], 5.0).contains("give more time"));
        assert_eq!(refused("sysbench", &[], 300.0), "there is no test to explain");
        assert!(refused("insert", &["qr100"], 5.0).contains("3 rounds of whole passes"));
    }
}
