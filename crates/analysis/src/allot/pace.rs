//! What rounds take, and how noisy tests are inside a round: what the seconds of a test are chosen by.
//!
//! In: the events of a campaign and its comparisons. Out: seconds. A round's ratio varies by what differs between
//! starts of the servers, and by its slices, whose part shrinks with the seconds. With S the spread of starts, W the
//! noise of a second of slices, c what a round takes beside its tests, G the tests it has, w what a test takes beside
//! its counted seconds, and A the samples that a test has in a round, the variance that is left after a given time is
//! smallest with W/S √((c/G + w)/A) seconds (docs/statistics.md).

use crate::findings::Findings;
use crate::read::took::Took;
use rqps_model::Plan;
use rqps_model::plan::{Division, Round, TestPlan};
use rqps_stats::USUAL_START_SPREAD;
use rqps_store::Campaign;
use std::collections::BTreeMap;

/// A test has at least so many seconds, and so many slices: the mean of fewer is not trimmed well.
const SECONDS_MIN: f64 = 0.2;
const SLICES_MIN: f64 = 20.0;

/// What a counted second takes of the clock at most: a quarter of a short slice is not counted, and switching takes
/// time.
const CLOCK_OF_COUNTED: f64 = 1.35;

/// A test gets at most so many times the seconds that it was planned with.
const TIMES_PLANNED_MAX: f64 = 4.0;

/// What a campaign's rounds have shown of time and noise.
pub(super) struct Pace<'p> {
    pub(super) plan: &'p Plan,
    /// What setups and tests took, when they were last measured.
    pub(super) took: Took,
    /// Variance of a second of slices, of the noisiest cell of each test.
    pub(super) noise: BTreeMap<String, f64>,
    /// Seconds that tests keep, by name, since what they write is what later ones find.
    pub(super) settled: BTreeMap<String, f64>,
}

impl<'p> Pace<'p> {
    /// By the rounds that began, in one of which, if it began, the seconds of tests that write were settled.
    pub(super) fn of(campaign: &'p Campaign, findings: &Findings, rounds: &[Round], settled: u32) -> Pace<'p> {
        let plan = campaign.plan();
        let took = Took::of(plan, campaign.status(), &campaign.events().unwrap_or_default(), rounds);
        let settled = rounds.iter().find(|round| round.number == settled).and_then(|round| round.allotment.clone());
        let mut settled = settled.map(|allotment| allotment.seconds).unwrap_or_default();
        settled.retain(|name, _| plan.tests().iter().any(|test| test.name == *name && test.writes));
        Pace { plan, took, noise: noise(findings, rounds), settled }
    }

    /// The best seconds of tests that share a round: as planned or settled where they are not to be changed.
    pub(super) fn seconds(&self, tests: &[&TestPlan]) -> BTreeMap<String, f64> {
        let beside = self.took.setups(self.plan, tests) / tests.len().max(1) as f64;
        tests.iter().map(|test| (test.name.clone(), self.best(test, beside))).collect()
    }

    fn best(&self, test: &TestPlan, of_round: f64) -> f64 {
        let kept = self.settled.get(&test.name).copied().unwrap_or(test.seconds);
        let (Some(noise), true) = (self.noise.get(&test.name), self.is_open(test)) else { return kept };
        let samples = self.samples();
        let own = self.took.test(&test.name).map_or(0.0, |took| (took.seconds - samples * took.counted).max(0.0));
        let best = (noise / USUAL_START_SPREAD.powi(2) * (of_round + own) / samples).sqrt();
        best.clamp(self.least().min(test.seconds), TIMES_PLANNED_MAX * test.seconds)
    }

    /// What a round with these seconds of tests is expected to take.
    pub(super) fn round(&self, seconds: &BTreeMap<String, f64>) -> f64 {
        let tests: Vec<&TestPlan> = self.measured(seconds).collect();
        let of_test = |test: &&TestPlan| {
            let (beside, of_a_second) = self.clock(&test.name);
            beside + of_a_second * seconds[&test.name]
        };
        self.took.setups(self.plan, &tests) + tests.iter().map(of_test).sum::<f64>()
    }

    /// These seconds, those that may change shortened so that the round takes `room`, as far as that is possible: none
    /// to less than a part of what it is, nor to less than makes sense.
    pub(super) fn fitted(
        &self,
        mut seconds: BTreeMap<String, f64>,
        room: f64,
        least_part: f64,
    ) -> BTreeMap<String, f64> {
        let is_open = |name: &str| self.measured(&seconds).any(|test| test.name == name && self.is_open(test));
        let open: Vec<String> = seconds.keys().filter(|name| is_open(name)).cloned().collect();
        let free: f64 = open.iter().map(|name| self.clock(name).1 * seconds[name]).sum();
        let part = (room - (self.round(&seconds) - free)) / free.max(f64::MIN_POSITIVE);
        if part < 1.0 {
            let least = self.least();
            let open = seconds.iter_mut().filter(|(name, _)| open.contains(name));
            open.for_each(|(_, seconds)| *seconds = (*seconds * part.max(least_part)).max(least.min(*seconds)));
        }
        seconds
    }

    fn measured(&self, seconds: &BTreeMap<String, f64>) -> impl Iterator<Item = &'p TestPlan> {
        self.plan.tests().into_iter().filter(|test| seconds.contains_key(&test.name))
    }

    /// Whether the seconds of a test may be changed.
    fn is_open(&self, test: &TestPlan) -> bool {
        let may = |it: Division| if test.writes { it.write_seconds } else { it.read_seconds };
        test.timed && self.plan.division().is_some_and(may) && !self.settled.contains_key(&test.name)
    }

    /// What a test takes of the clock: beside its seconds, and for each of them.
    fn clock(&self, test: &str) -> (f64, f64) {
        let of_a_second = CLOCK_OF_COUNTED * self.samples();
        self.took.test(test).map_or((0.0, of_a_second), |took| {
            let of_a_second = of_a_second.min(took.seconds / took.counted.max(f64::MIN_POSITIVE));
            (took.seconds - of_a_second * took.counted, of_a_second)
        })
    }

    /// Samples that a test has in a round.
    fn samples(&self) -> f64 {
        (self.plan.treatments.len() * self.plan.clients().len()) as f64
    }

    fn least(&self) -> f64 {
        SECONDS_MIN.max(SLICES_MIN * self.plan.slice_ms / 1000.0)
    }
}

fn noise(findings: &Findings, rounds: &[Round]) -> BTreeMap<String, f64> {
    let mut noise: BTreeMap<String, f64> = BTreeMap::new();
    for test in &findings.tests {
        for comparison in test.cells.iter().filter_map(|cell| cell.comparison.as_ref()) {
            let of_a_second = comparison.by_round.iter().filter_map(|found| {
                let round = rounds.iter().find(|round| round.number == found.round)?;
                let seconds = round.allotment.as_ref()?.seconds.get(&test.name)?;
                Some(found.cycle_se?.powi(2) * seconds)
            });
            let of_a_second: Vec<f64> = of_a_second.collect();
            if let Ok(mean) = rqps_stats::mean(&of_a_second) {
                let noisiest = noise.entry(test.name.clone()).or_default();
                *noisiest = noisiest.max(mean);
            }
        }
    }
    noise
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::allot::tests::plan as plan_of;
    use crate::read::took::TestTook;

    /// A pace at which setups of servers took 9.3 s beside their tests, and each test what it counted.
    pub(crate) fn pace(plan: &Plan, counted: f64) -> Pace<'_> {
        let setups = plan.stages.iter().map(|stage| ((stage.tests[0].name.clone(), 0), 9.3)).collect();
        let seconds = CLOCK_OF_COUNTED * 2.0 * counted;
        let tests = plan.tests().into_iter().map(|test| ((test.name.clone(), 1), TestTook { seconds, counted }));
        let took = Took { setups, tests: tests.collect() };
        Pace { plan, took, noise: BTreeMap::new(), settled: BTreeMap::new() }
    }

    #[test]
    fn a_round_takes_its_setups_and_what_its_tests_took_when_they_were_last_measured() {
        let plan = plan_of(&[false, false], false);
        let seconds = |each: &[(&str, f64)]| each.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect();
        let mut pace = pace(&plan, 0.5);
        // Of two treatments: 9.3 s beside the tests, and 1.35 s for each.
        assert!((pace.round(&seconds(&[("t0", 0.5), ("t1", 0.5)])) - 12.0).abs() < 1e-9);
        assert!((pace.round(&seconds(&[("t1", 1.0)])) - 12.0).abs() < 1e-9, "one test for twice as long");
        // What a test takes beside its seconds stays as it is.
        pace.took.tests.insert(("t1".to_owned(), 1), TestTook { seconds: 4.35, counted: 0.5 });
        assert!((pace.round(&seconds(&[("t1", 1.0)])) - (9.3 + 3.0 + 2.7)).abs() < 1e-9);
        assert_eq!(pace.round(&seconds(&[])), 0.0);
    }

    #[test]
    fn only_seconds_that_may_change_are_shortened_to_what_fits() {
        let mut plan = plan_of(&[false, false, true], false);
        let seconds = |each: f64| ["t0", "t1", "t2"].map(|name| (name.to_owned(), each)).into_iter().collect();
        let settled = || BTreeMap::from([("t2".to_owned(), 4.0)]);
        let fitted = |plan: &Plan, room: f64, part: f64| {
            Pace { settled: settled(), ..pace(plan, 0.5) }.fitted(seconds(4.0), room, part)
        };
        assert_eq!(fitted(&plan, 42.0, 0.0)["t0"], 4.0, "9.3 s and 10.8 s for each test");
        let shorter = fitted(&plan, 25.5, 0.0);
        assert!((shorter["t0"] - 1.0).abs() < 1e-9 && shorter["t0"] == shorter["t1"], "{shorter:?}");
        assert_eq!(shorter["t2"], 4.0, "a test that writes goes on as it began");
        assert_eq!(fitted(&plan, 10.0, 0.0)["t0"], SECONDS_MIN, "no shorter than that");
        assert_eq!(fitted(&plan, 10.0, 0.5)["t0"], 2.0, "no shorter than half");
        let time = plan.time.as_mut().expect("it has one");
        time.division = time.division.map(|it| Division { read_seconds: false, ..it });
        assert_eq!(fitted(&plan, 10.0, 0.0)["t0"], 4.0, "what the user gave stays");
    }
}
