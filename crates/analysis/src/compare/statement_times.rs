//! How long the client waited for each kind of statement, in tests that send several → how that compares with the base.
//!
//! In: the histograms of each round. Out: [`StatementTime`]s. A round gives one number for a kind, the mean of its
//! response times; all kinds of all tests are corrected together. Steps of the Insert Benchmark have a table of their
//! own.

use crate::compare::judge::compare;
use crate::compare::round::RoundRatio;
use crate::compare::row::{Pairing, Row};
use crate::findings::{Comparison, StatementTime};
use crate::read::measured::Measured;
use rqps_model::sample::SuiteRecord;
use rqps_stats::Margin;
use rqps_store::{EVENT, FAILED_EVENT};
use std::collections::BTreeMap;

/// Statements of one kind: how many, and nanoseconds of all together.
#[derive(Debug, Clone, Copy, Default)]
struct Took {
    statements: f64,
    ns: f64,
}

impl Took {
    fn mean_us(self) -> f64 {
        self.ns / self.statements / 1e3
    }
}

/// What a round with a number, or all of them, took for each kind of statement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    operations: f64,
    by_kind: BTreeMap<String, Took>,
}

impl Statements {
    fn of(measured: &Measured) -> Statements {
        let kinds =
            measured.histograms.iter().filter(|(kind, found)| !found.is_empty() && is_statement(measured, kind));
        let took = |(kind, found): (&String, &hdrhistogram::Histogram<u64>)| {
            let statements = found.len() as f64;
            (kind.clone(), Took { statements, ns: found.mean() * statements })
        };
        let score = measured.sample.score;
        Statements { operations: score.count as f64 * score.factor, by_kind: kinds.map(took).collect() }
    }

    fn add(&mut self, other: &Statements) {
        self.operations += other.operations;
        for (kind, took) in &other.by_kind {
            let sum = self.by_kind.entry(kind.clone()).or_default();
            sum.statements += took.statements;
            sum.ns += took.ns;
        }
    }
}

/// Whether a histogram is of statements: not of whole events or transactions.
fn is_statement(measured: &Measured, kind: &str) -> bool {
    let is_type = match &measured.sample.record {
        Some(SuiteRecord::TprocC(record)) => record.transactions.iter().any(|one| one.name == kind),
        _ => false,
    };
    ![EVENT, FAILED_EVENT].contains(&kind) && !is_type
}

/// By round with a number; nothing of steps.
pub(crate) fn by_round(rounds: &[Option<Measured>]) -> Vec<Option<Statements>> {
    let of = |measured: &Measured| {
        (measured.has_number() && measured.sample.step().is_none()).then(|| Statements::of(measured))
    };
    rounds.iter().map(|round| round.as_ref().and_then(of)).collect()
}

/// One kind of statement of a test.
pub(crate) struct StatementRow {
    kind: String,
    row: Row,
    /// By treatment the kind over all rounds, and operations.
    sums: Vec<(Took, f64)>,
}

/// The rows of a test that sends several kinds of statement; `arms` by treatment.
pub(crate) fn rows(arms: &[Vec<Option<Statements>>], pairing: Pairing<'_>) -> Vec<StatementRow> {
    let sum = |rounds: &Vec<Option<Statements>>| {
        rounds.iter().flatten().fold(Statements::default(), |mut sum, one| {
            sum.add(one);
            sum
        })
    };
    let sums: Vec<Statements> = arms.iter().map(sum).collect();
    let kinds: Vec<&String> = sums[pairing.base].by_kind.keys().collect();
    if kinds.len() < 2 {
        return Vec::new();
    }
    let of_kind = |kind: &String| StatementRow {
        kind: kind.clone(),
        row: pairing.row(|arm, base| ratios(&arms[arm], &arms[base], kind)),
        sums: sums.iter().map(|sum| (sum.by_kind.get(kind).copied().unwrap_or_default(), sum.operations)).collect(),
    };
    kinds.into_iter().map(of_kind).collect()
}

/// As ratios of speed, so that they read as those of throughput do.
fn ratios(arm: &[Option<Statements>], base: &[Option<Statements>], kind: &str) -> Vec<RoundRatio> {
    let mean = |round: &Option<Statements>| Some(round.as_ref()?.by_kind.get(kind)?.mean_us().ln());
    let rounds = arm.iter().zip(base).zip(1..);
    rounds.filter_map(|((arm, base), round)| Some(RoundRatio::whole(round, mean(base)? - mean(arm)?))).collect()
}

/// Compares the statements of all tests: by test and treatment those that can be compared, without shares.
pub(crate) fn judged(
    tests: &[Vec<StatementRow>],
    treatments: usize,
    base: usize,
    margin: Margin,
) -> Vec<Vec<Vec<StatementTime>>> {
    let rows: Vec<Row> = tests.iter().flatten().map(|one| one.row.clone()).collect();
    let mut compared = compare(&rows, base, margin).into_iter();
    let of_test = |test: &Vec<StatementRow>| {
        let mut found = vec![Vec::new(); treatments];
        for (one, comparisons) in test.iter().zip(&mut compared) {
            for (at, comparison) in comparisons.into_iter().enumerate() {
                found[at].extend(comparison.map(|speed| time(one, at, base, &speed)));
            }
        }
        found
    };
    tests.iter().map(of_test).collect()
}

fn time(one: &StatementRow, at: usize, base: usize, speed: &Comparison) -> StatementTime {
    let per_op = |(took, operations): (Took, f64)| took.ns / 1e3 / operations;
    StatementTime {
        statement: one.kind.clone(),
        base_us: one.sums[base].0.mean_us(),
        us: one.sums[at].0.mean_us(),
        base_us_per_op: per_op(one.sums[base]),
        us_per_op: per_op(one.sums[at]),
        low: speed.high.map(|high| 1.0 / high),
        high: speed.low.map(|low| 1.0 / low),
        q: speed.q,
        share: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use hdrhistogram::Histogram;
    use rqps_model::sample::Slices;
    use rqps_stats::Looking;

    /// A round of 100 events, each of 9 reads of 100 µs and one write that takes as long as given.
    fn round(write_us: u64) -> Option<Measured> {
        let mut measured = measured(1000, 1_000_000_000, Slices::default());
        for (kind, statements, us) in [("read", 900, 100), ("write", 100, write_us), (EVENT, 100, 900 + write_us)] {
            let mut histogram = Histogram::new(3).unwrap();
            histogram.record_n(us * 1000, statements).unwrap();
            measured.histograms.insert(kind.to_owned(), histogram);
        }
        Some(measured)
    }

    fn compared(base: &[Option<Measured>], arm: &[Option<Measured>]) -> Vec<StatementTime> {
        let arms = [by_round(base), by_round(arm)];
        let pairing = Pairing { base: 0, pairs: &[], planted: &[], missed: &[None, None], looking: Looking::default() };
        judged(&[rows(&arms, pairing)], 2, 0, Margin::default()).remove(0).remove(1)
    }

    #[test]
    fn the_statement_that_takes_longer_is_found() {
        let base = [round(200), round(202), round(201)];
        let found = compared(&base, &[round(300), round(302), round(303)]);
        let [read, write] = &found[..] else { panic!("{found:?}") };
        assert_eq!((read.statement.as_str(), write.statement.as_str()), ("read", "write"));
        assert!(!read.is_sure() && write.is_sure(), "{found:?}");
        assert!((write.us / write.base_us - 1.5).abs() < 0.01, "{write:?}");
        assert!(write.low.unwrap() > 1.45 && write.high.unwrap() < 1.55, "{write:?}");
        // One statement in ten.
        assert!((write.base_us_per_op - 20.1).abs() < 0.1 && (read.us_per_op - 90.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn one_kind_is_the_test_itself() {
        let mut rounds = [round(200), round(200)];
        rounds.iter_mut().flatten().for_each(|round| _ = round.histograms.remove("read"));
        assert!(compared(&rounds, &rounds).is_empty());
    }
}
