//! What a round tells of a build beside its throughput, quantiles of latency and costs per operation → how each of them
//! changed relative to the base.
//!
//! In: the samples of each treatment. Out: rows that the judge works on, and [`MeasureComparison`]s. A round gives one
//! number, as it does of throughput; rounds are never merged here, since a merged histogram remembers its worst round
//! only. Each measure is judged apart from the others and from throughput, with a correction over all tests of its own.

use crate::compare::judge::compare;
use crate::compare::round::RoundRatio;
use crate::compare::row::{Pairing, Row};
use crate::evidence::cost::cost;
use crate::evidence::counts::COUNTS;
use crate::findings::{Comparison, Cost, CostField, MeasureComparison};
use crate::read::measured::Measured;
use rqps_model::sample::per_second;
use rqps_stats::{Margin, median};
use rqps_store::EVENT;

/// One number of a round, of which less is better.
struct Measure {
    name: &'static str,
    value: Value,
    /// What is compared of it.
    scale: Scale,
}

/// How a measure is read from a sample with a number; `None` where it is not known.
enum Value {
    OfSample(fn(&Measured) -> Option<f64>),
    OfCost(CostField),
}

/// What is compared of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Its ratio.
    Ratio,
    /// Its difference: it may be 0. Known of tests that write.
    Difference,
}

const fn ratio(name: &'static str, value: fn(&Measured) -> Option<f64>) -> Measure {
    Measure { name, value: Value::OfSample(value), scale: Scale::Ratio }
}

const fn cost_ratio(field: CostField) -> Measure {
    Measure { name: field.name, value: Value::OfCost(field), scale: Scale::Ratio }
}

/// Quantiles of whole events, steadiness, and costs by the names of the fields of [`Cost`]. After these come the counts
/// of the server's work.
const MEASURES: [Measure; 12] = [
    ratio("p50", |sample| quantile(sample, 0.5)),
    ratio("p95", |sample| quantile(sample, 0.95)),
    ratio("p99", |sample| quantile(sample, 0.99)),
    Measure { name: MeasureComparison::SLOW_SECONDS, value: Value::OfSample(slow_seconds), scale: Scale::Difference },
    cost_ratio(Cost::SERVER_CPU),
    cost_ratio(Cost::CLIENT_CPU),
    cost_ratio(Cost::SWITCHES),
    cost_ratio(Cost::SERVER_WRITES),
    cost_ratio(Cost::SERVER_FAULTS),
    cost_ratio(Cost::READ_KB),
    // These are 0, and no ratio, of a device that was asked nothing.
    cost_ratio(Cost::READ_MS),
    cost_ratio(Cost::FLUSH_MS),
];

/// All measures, counts included.
const ALL: usize = MEASURES.len() + COUNTS.len();

fn name(at: usize) -> &'static str {
    MEASURES.get(at).map_or_else(|| COUNTS[at - MEASURES.len()].name, |measure| measure.name)
}

fn scale(at: usize) -> Scale {
    MEASURES.get(at).map_or(Scale::Ratio, |measure| measure.scale)
}

fn value(at: usize, sample: &Measured, cost: Option<&Cost>) -> Option<f64> {
    match MEASURES.get(at).map(|measure| &measure.value) {
        Some(Value::OfSample(value)) => value(sample),
        Some(Value::OfCost(field)) => cost.map(field.of),
        None => COUNTS[at - MEASURES.len()].per_op(sample),
    }
}

/// Whether it is counted by engines, each in its own way.
fn is_of_engine(at: usize) -> bool {
    at >= MEASURES.len() && COUNTS[at - MEASURES.len()].is_of_engine()
}

/// A round's quantile is known from so many slower events: 2,000 events for p99.
const FEWEST_BEYOND: f64 = 20.0;

fn quantile(sample: &Measured, fraction: f64) -> Option<f64> {
    let histogram = sample.histograms.get(EVENT)?;
    let beyond = histogram.len() as f64 * (1.0 - fraction);
    // A fraction such as 0.99 is not exact in binary.
    (beyond > FEWEST_BEYOND - 1e-6).then(|| histogram.value_at_quantile(fraction) as f64)
}

/// Fewer seconds tell nothing of how steady a sample was.
const FEWEST_SECONDS: usize = 10;

/// The share of the seconds in which less than half of the median second's work was done.
fn slow_seconds(sample: &Measured) -> Option<f64> {
    let rates = per_second(&sample.seconds, sample.sample.seconds, |row| row.operations);
    if rates.len() < FEWEST_SECONDS || sample.sample.record.is_some() {
        return None;
    }
    let usual = median(&rates).ok().filter(|usual| *usual > 0.0)?;
    Some(rates.iter().filter(|rate| **rate < usual / 2.0).count() as f64 / rates.len() as f64)
}

/// The measures of one round, as far as they are known and can be compared.
pub(crate) type RoundMeasures = [Option<f64>; ALL];

/// The measures of each round with a number, of a test that `writes` or not.
pub(crate) fn by_round(rounds: &[Option<Measured>], writes: bool) -> Vec<Option<RoundMeasures>> {
    let is_comparable = |scale: Scale, value: f64| match scale {
        Scale::Ratio => value > 0.0,
        Scale::Difference => writes,
    };
    let of = |sample: &Measured| {
        let cost = cost(std::iter::once(sample), None, 1.0);
        std::array::from_fn(|at| value(at, sample, cost.as_ref()).filter(|value| is_comparable(scale(at), *value)))
    };
    rounds.iter().map(|round| round.as_ref().filter(|sample| sample.has_number()).map(of)).collect()
}

/// A test's rows, one per measure.
pub(crate) type MeasureRows = [Row; ALL];

/// The rows of a test; `arms` and `alike` by treatment, `alike` where its engine is the base's.
pub(crate) fn rows(arms: &[Vec<Option<RoundMeasures>>], alike: &[bool], pairing: Pairing<'_>) -> MeasureRows {
    let is_like = |arm: usize, base: usize, measure| alike[arm] == alike[base] || !is_of_engine(measure);
    std::array::from_fn(|measure| {
        pairing.row(|arm, base| match is_like(arm, base, measure) {
            true => ratios(&arms[arm], &arms[base], measure),
            false => Vec::new(),
        })
    })
}

/// As ratios of thrift: what takes half as much is twice as good, so that verdicts read as those of throughput do. A
/// difference stands where the logarithm of a ratio stands, so that the margin is one of points.
fn ratios(arm: &[Option<RoundMeasures>], base: &[Option<RoundMeasures>], measure: usize) -> Vec<RoundRatio> {
    let rounds = arm.iter().zip(base).zip(1..);
    rounds
        .filter_map(|((arm, base), round)| {
            let (base, arm) = (base.as_ref()?[measure]?, arm.as_ref()?[measure]?);
            let log_ratio = match scale(measure) {
                Scale::Ratio => (base / arm).ln(),
                Scale::Difference => base - arm,
            };
            Some(RoundRatio::whole(round, log_ratio))
        })
        .collect()
}

/// Compares the measures of all tests: by test and treatment those that can be compared.
pub(crate) fn judged(
    tests: &[MeasureRows],
    treatments: usize,
    base: usize,
    margin: Margin,
) -> Vec<Vec<Vec<MeasureComparison>>> {
    let mut found = vec![vec![Vec::new(); treatments]; tests.len()];
    for at in 0..ALL {
        let rows: Vec<Row> = tests.iter().map(|rows| rows[at].clone()).collect();
        for (test, comparisons) in compare(&rows, base, margin).into_iter().enumerate() {
            for (treatment, comparison) in comparisons.into_iter().enumerate() {
                found[test][treatment].extend(comparison.map(|comparison| of_measure(at, &comparison)));
            }
        }
    }
    found
}

/// The same as a ratio of amounts, above 1 where the base took less; or as the difference that it is.
fn of_measure(at: usize, thrift: &Comparison) -> MeasureComparison {
    let is_difference = scale(at) == Scale::Difference;
    let amount = |thrift: f64| if is_difference { -thrift.ln() } else { 1.0 / thrift };
    MeasureComparison {
        measure: name(at).to_owned(),
        is_difference,
        ratio: amount(thrift.rqps),
        low: thrift.high.map(amount),
        high: thrift.low.map(amount),
        by_round: thrift.by_round.iter().map(|round| (round.round, amount(round.rqps))).collect(),
        verdict: thrift.verdict,
        remark: thrift.remark.clone(),
        n: thrift.n,
        mde: thrift.mde.map(|mde| if is_difference { mde.ln_1p() } else { mde }),
        q: thrift.q,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use hdrhistogram::Histogram;
    use rqps_model::Verdict;
    use rqps_model::sample::{SecondRow, Slices};
    use rqps_stats::Looking;

    /// A round of so many events, one in fifty of which is slow.
    fn round(events: u64, usual: u64, slow: u64) -> Option<Measured> {
        let mut measured = measured(1000, 1_000_000_000, Slices::default());
        let mut histogram = Histogram::new(3).unwrap();
        histogram.record_n(usual, events * 98 / 100).unwrap();
        histogram.record_n(slow, events - events * 98 / 100).unwrap();
        measured.histograms.insert(EVENT.to_owned(), histogram);
        Some(measured)
    }

    fn compared(base: &[Option<Measured>], arm: &[Option<Measured>]) -> Vec<MeasureComparison> {
        let arms = [by_round(base, true), by_round(arm, true)];
        let pairing = Pairing { base: 0, pairs: &[], planted: &[], missed: &[None, None], looking: Looking::default() };
        let rows = rows(&arms, &[true, true], pairing);
        let mut found = judged(&[rows], 2, 0, Margin::default()).remove(0).remove(1);
        // The client counts rows whatever the test is about.
        found.retain(|one| one.measure != "rows_returned");
        found
    }

    #[test]
    fn a_slow_tail_regresses_where_the_middle_stays() {
        let base = [round(4000, 100_000, 200_000), round(4000, 100_400, 201_000), round(4000, 100_200, 200_500)];
        let arm = [round(4000, 100_200, 300_000), round(4000, 100_300, 302_000), round(4000, 100_300, 300_500)];
        let found = compared(&base, &arm);
        let verdicts: Vec<(&str, Verdict)> = found.iter().map(|one| (one.measure.as_str(), one.verdict)).collect();
        assert_eq!(verdicts, [("p50", Verdict::Equal), ("p95", Verdict::Equal), ("p99", Verdict::Regressed)]);
        let p99 = &found[2];
        assert!((p99.ratio - 1.5).abs() < 0.01 && p99.low.unwrap() > 1.4 && p99.high.unwrap() < 1.6, "{p99:?}");
        assert_eq!(p99.by_round.len(), 3);
    }

    #[test]
    fn a_quantile_of_too_few_events_is_not_compared() {
        let few = |events| [round(events, 100_000, 200_000), round(events, 101_000, 200_000)];
        let quantiles = |events| -> Vec<String> {
            compared(&few(events), &few(events)).into_iter().map(|one| one.measure).collect()
        };
        assert_eq!(quantiles(2000), ["p50", "p95", "p99"]);
        assert_eq!(quantiles(1999), ["p50", "p95"]);
        assert_eq!(quantiles(399), ["p50"]);
        assert!(quantiles(39).is_empty());
    }

    /// A round of 20 seconds, in so many of which next to nothing is done.
    fn uneven(slow: usize) -> Option<Measured> {
        let mut measured = measured(1000, 1_000_000_000, Slices::default());
        measured.sample.seconds = 20.0;
        let row = |second: usize| SecondRow {
            second: second as f64,
            operations: if second <= slow { 40 } else { 100 },
            ..SecondRow::default()
        };
        measured.seconds = (1..=20).map(row).collect();
        Some(measured)
    }

    #[test]
    fn seconds_at_half_the_rate_are_compared_as_a_difference() {
        let found = compared(&[uneven(0), uneven(1), uneven(0)], &[uneven(4), uneven(5), uneven(4)]);
        let [slow] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (slow.measure.as_str(), slow.verdict, slow.is_difference),
            ("slow_seconds", Verdict::Regressed, true)
        );
        assert!((slow.ratio - 0.2).abs() < 1e-9 && slow.by_round.iter().all(|(_, by)| (by - 0.2).abs() < 1e-9));
        // No second is slow on either side: that is no change, and it is shown.
        let steady = compared(&[uneven(0), uneven(0)], &[uneven(0), uneven(0)]);
        assert_eq!((steady[0].verdict, steady[0].ratio.abs() < 1e-12), (Verdict::Equal, true));
        let reads = [by_round(&[uneven(0)], false), by_round(&[uneven(4)], false)];
        assert!(reads.iter().flatten().flatten().all(|round| round[..MEASURES.len()].iter().all(Option::is_none)));
        let mut short = [uneven(2), uneven(2)];
        short.iter_mut().flatten().for_each(|round| round.sample.seconds = 9.5);
        assert!(compared(&short, &short).is_empty());
    }

    #[test]
    fn costs_are_compared_by_round() {
        let spent = |cpu_s: f64| {
            let mut measured = measured(1000, 1_000_000_000, Slices::default());
            measured.sample.resources.operations = 1000;
            measured.sample.resources.server.cpu_user_s = cpu_s;
            Some(measured)
        };
        let found = compared(&[spent(0.5), spent(0.51), spent(0.5)], &[spent(0.6), spent(0.61), spent(0.6)]);
        let [server] = &found[..] else { panic!("{found:?}") };
        assert_eq!((server.measure.as_str(), server.verdict), ("server_cpu_us", Verdict::Regressed));
        assert!((server.ratio - 1.2).abs() < 0.005);
    }
}
