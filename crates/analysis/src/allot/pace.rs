//! What rounds take, and how noisy tests are inside a round: what the seconds of a test are chosen by.
//!
//! In: the events of a campaign and its comparisons. Out: seconds. A round's ratio varies by what differs between
//! starts of the servers, and by its slices, whose part shrinks with the seconds. With S the spread of starts, W the
//! noise of a second of slices, c what a round takes beside its tests, G the tests it has, w what a test takes beside
//! its counted seconds, and A the samples that a test has in a round, the variance that is left after a given time is
//! smallest with W/S √((c/G + w)/A) seconds (docs/statistics.md).

use crate::findings::Findings;
use crate::read::looks;
use jiff::Timestamp;
use rqps_model::plan::{Round, TestPlan};
use rqps_model::{Event, EventKind, Plan};
use rqps_stats::USUAL_START_SPREAD;
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;

/// A test has at least so many seconds, and so many slices: the mean of fewer is not trimmed well.
const SECONDS_MIN: f64 = 0.2;
const SLICES_MIN: f64 = 20.0;

/// Fewer rounds leave no useful interval.
const ROUNDS_MIN: u32 = 3;

/// What a counted second takes of the clock: a quarter of a short slice is not counted, and switching takes time.
const CLOCK_OF_COUNTED: f64 = 1.35;

/// A test gets at most so many times the seconds that it was planned with.
const TIMES_PLANNED_MAX: f64 = 4.0;

/// What a campaign's rounds have shown of time and noise.
pub(super) struct Pace {
    /// Seconds of the whole campaign.
    limit: f64,
    last: Took,
    /// Variance of a second of slices, of the noisiest cell of each test.
    noise: BTreeMap<String, f64>,
}

/// Seconds that a round took.
#[derive(Debug, Clone, Default, PartialEq)]
struct Took {
    round: f64,
    /// By test, from its begin to its end on all treatments and numbers of clients.
    tests: BTreeMap<String, f64>,
    /// Seconds counted of each of its samples.
    counted: BTreeMap<String, f64>,
}

impl Pace {
    pub(super) fn of(campaign: &Campaign, findings: &Findings) -> Result<Pace, StoreError> {
        let rounds = looks::rounds(campaign)?;
        let limit = campaign.plan().time.map_or(f64::INFINITY, |time| time.seconds);
        let last = rounds.last().map_or_else(Took::default, |last| took(&campaign.events().unwrap_or_default(), last));
        Ok(Pace { limit, last, noise: noise(findings, &rounds) })
    }

    /// The share of the campaign's time that a round like the last one takes.
    pub(super) fn share_of_a_round(&self) -> f64 {
        self.last.round / self.limit
    }

    /// The best seconds of a test in a round of so many tests; as planned where they are not to be changed.
    pub(super) fn seconds(&self, plan: &Plan, test: &TestPlan, tests: usize) -> f64 {
        let may = |it: rqps_model::plan::Division| if test.writes { it.write_seconds } else { it.read_seconds };
        let (Some(noise), true) = (self.noise.get(&test.name), plan.division().is_some_and(may)) else {
            return test.seconds;
        };
        let samples = (plan.treatments.len() * plan.clients().len()) as f64;
        let least = SECONDS_MIN.max(SLICES_MIN * plan.slice_ms / 1000.0).min(test.seconds);
        let best = (noise / USUAL_START_SPREAD.powi(2) * self.beside(test, samples, tests) / samples).sqrt();
        best.clamp(least, TIMES_PLANNED_MAX * test.seconds)
    }

    /// The seconds of a round's tests, shortened where the rounds that a useful interval takes would no longer fit:
    /// `begun` of them have begun, and a share of the time is spent.
    pub(super) fn fitted(
        &self,
        plan: &Plan,
        seconds: BTreeMap<String, f64>,
        (begun, spent): (u32, f64),
    ) -> BTreeMap<String, f64> {
        let missing = f64::from(ROUNDS_MIN.saturating_sub(begun));
        let samples = (plan.treatments.len() * plan.clients().len()) as f64;
        let clock = |counted: &BTreeMap<String, f64>| CLOCK_OF_COUNTED * samples * counted.values().sum::<f64>();
        let beside = (self.last.round - clock(&self.last.counted)).max(0.0);
        let each = self.limit * (1.0 - spent) / missing;
        // Where no round is missing, each may take whatever it likes.
        let part = (each - beside) / clock(&seconds).max(f64::MIN_POSITIVE);
        let least = SECONDS_MIN.max(SLICES_MIN * plan.slice_ms / 1000.0);
        let shorter = |seconds: f64| (seconds * part).max(least.min(seconds));
        match part < 1.0 {
            true => seconds.into_iter().map(|(test, seconds)| (test, shorter(seconds))).collect(),
            false => seconds,
        }
    }

    /// Seconds that a round takes for a test beside what it counts.
    fn beside(&self, test: &TestPlan, samples: f64, tests: usize) -> f64 {
        let Took { round, tests: took, counted } = &self.last;
        let of_round = (round - took.values().sum::<f64>()).max(0.0) / tests.max(1) as f64;
        let own = took.get(&test.name).zip(counted.get(&test.name));
        of_round + own.map_or(0.0, |(took, counted)| (took - samples * counted).max(0.0))
    }
}

fn took(events: &[Event], round: &Round) -> Took {
    let mut found = Took::default();
    let mut last = None;
    for event in events {
        let Some(at) = event.at.parse::<Timestamp>().ok().map(|at| at.as_millisecond() as f64 / 1000.0) else {
            continue;
        };
        match &event.kind {
            EventKind::ServersStart { round: number, .. } if *number == round.number => last = Some(at),
            EventKind::ServersEnd { round: number, seconds } if *number == round.number => found.round += seconds.all(),
            EventKind::TestBegins { place, .. } if place.round == round.number => last = Some(at),
            EventKind::TestEnded { place, .. } if place.round == round.number => {
                *found.tests.entry(place.test.clone()).or_default() += last.map_or(0.0, |last| at - last);
                last = Some(at);
            }
            _ => {}
        }
    }
    found.counted = round.allotment.as_ref().map(|allotment| allotment.seconds.clone()).unwrap_or_default();
    found
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
mod tests {
    use super::*;
    use crate::warnings::campaign::tests::plan;

    #[test]
    fn tests_are_shortened_so_that_three_rounds_fit() {
        // Of two treatments, two tests: 12 s, of which 2.7 s went to counting.
        let seconds = |each: f64| BTreeMap::from([("a".to_owned(), each), ("b".to_owned(), each)]);
        let last = Took { round: 12.0, tests: BTreeMap::new(), counted: seconds(0.5) };
        let pace = Pace { limit: 60.0, last, noise: BTreeMap::new() };
        let fitted = |each: f64, begun: u32, spent: f64| pace.fitted(&plan(3), seconds(each), (begun, spent))["a"];
        assert_eq!(fitted(2.0, 1, 0.3), 2.0, "two more of 20 s");
        let shorter = fitted(4.0, 1, 0.3);
        assert!((9.3 + CLOCK_OF_COUNTED * 4.0 * shorter - 21.0).abs() < 1e-9, "{shorter}: two of 21 s are left");
        assert_eq!(fitted(4.0, 1, 0.9), SECONDS_MIN, "no shorter than that");
        assert_eq!(fitted(4.0, 3, 0.9), 4.0, "three have begun");
    }
}
