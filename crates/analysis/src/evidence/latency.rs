//! Histograms of all rounds → latency by statement kind: quantiles and a curve.
//!
//! In: the histograms (nanoseconds) that samples keep, one per statement kind. Out: [`LatencyFindings`], `event`
//! first. Histograms are merged whole; quantiles are never averaged.

use crate::findings::LatencyFindings;
use crate::read::measured::Measured;
use hdrhistogram::Histogram;
use rqps_store::EVENT;
use std::collections::BTreeMap;

/// The quantiles with names: p50, p90, p95, p99, p99.9; the largest comes beside them.
const NAMED: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// Points of the curve for each factor of ten by which the rest above a percentile shrinks.
const POINTS_PER_DECADE: i32 = 8;
/// Decades of the curve: up to p99.999.
const DECADES: i32 = 5;

/// Latency over all rounds that have a number.
pub(crate) fn latency<'a>(rounds: impl Iterator<Item = &'a Measured>) -> Vec<LatencyFindings> {
    let mut merged: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
    for measured in rounds {
        for (kind, histogram) in &measured.histograms {
            match merged.get_mut(kind.as_str()) {
                Some(sum) => {
                    // Writers use an auto-resizing histogram; only a foreign file could be out of range here.
                    sum.auto(true);
                    if sum.add(histogram).is_err() {
                        continue;
                    }
                }
                None => {
                    merged.insert(kind, histogram.clone());
                }
            }
        }
    }
    let mut found: Vec<LatencyFindings> =
        merged.iter().filter(|(_, h)| !h.is_empty()).map(|(kind, histogram)| describe(kind, histogram)).collect();
    found.sort_by_key(|latency| latency.kind != EVENT);
    found
}

fn describe(kind: &str, histogram: &Histogram<u64>) -> LatencyFindings {
    let count = histogram.len();
    let curve_fractions: Vec<f64> = (0..=POINTS_PER_DECADE * DECADES)
        .map(|point| 1.0 - 10f64.powf(-f64::from(point) / f64::from(POINTS_PER_DECADE)))
        // Beyond this the curve would only repeat the largest value.
        .take_while(|fraction| (1.0 - fraction) * count as f64 >= 1.0)
        .collect();
    let mut fractions = curve_fractions.clone();
    fractions.extend(NAMED);
    let values = quantiles_us(histogram, &fractions);
    let largest = histogram.max() as f64 / 1e3;
    let (curve_values, named) = values.split_at(curve_fractions.len());
    let mut curve: Vec<(f64, f64)> =
        curve_fractions.iter().map(|fraction| fraction * 100.0).zip(curve_values.iter().copied()).collect();
    curve.push((100.0, largest));
    let mut quantiles_us = [largest; 6];
    quantiles_us[..named.len()].copy_from_slice(named);
    LatencyFindings { kind: kind.to_owned(), count, quantiles_us, curve }
}

/// Values at some fractions in one pass: asking the histogram for each walks all its buckets each time.
fn quantiles_us(histogram: &Histogram<u64>, fractions: &[f64]) -> Vec<f64> {
    let count = histogram.len();
    let mut ranks: Vec<(usize, u64)> = fractions
        .iter()
        .enumerate()
        .map(|(index, fraction)| (index, ((fraction * count as f64).ceil() as u64).clamp(1, count)))
        .collect();
    ranks.sort_by_key(|&(_, rank)| rank);
    let mut values = vec![0.0; fractions.len()];
    let mut wanted = ranks.into_iter().peekable();
    let mut seen = 0;
    for bucket in histogram.iter_recorded() {
        seen += bucket.count_since_last_iteration();
        let highest = bucket.value_iterated_to().min(histogram.max());
        while let Some((index, _)) = wanted.next_if(|&(_, rank)| rank <= seen) {
            values[index] = highest as f64 / 1e3;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Slices;

    fn with(kinds: &[(&str, &[u64])]) -> Measured {
        let mut measured = measured(1, 1, Slices::default());
        for (kind, values) in kinds {
            let mut histogram = Histogram::new(3).unwrap();
            values.iter().for_each(|&value| histogram.record(value).unwrap());
            measured.histograms.insert((*kind).to_owned(), histogram);
        }
        measured
    }

    #[test]
    fn rounds_are_merged_and_event_comes_first() {
        let first: Vec<u64> = (1..=500).map(|n| n * 1000).collect();
        let second: Vec<u64> = (501..=1000).map(|n| n * 1000).collect();
        let rounds = [with(&[("commit", &[7000]), ("event", &first)]), with(&[("event", &second)])];
        let found = latency(rounds.iter());
        assert_eq!(found.iter().map(|l| l.kind.as_str()).collect::<Vec<_>>(), ["event", "commit"]);
        assert_eq!(found[0].count, 1000);
        for (got, expected) in found[0].quantiles_us.iter().zip([500.0, 900.0, 950.0, 990.0, 999.0, 1000.0]) {
            assert!((got / expected - 1.0).abs() < 0.002, "{got} for {expected}");
        }
        assert!((found[1].quantiles_us[0] / 7.0 - 1.0).abs() < 0.002);
    }

    #[test]
    fn agrees_with_the_histogram_at_every_point_of_the_curve() {
        let values: Vec<u64> = (0..20_000u64).map(|n| 1000 + n * n % 7_919_000).collect();
        let round = with(&[("event", &values)]);
        let histogram = &round.histograms["event"];
        let found = latency(std::iter::once(&round));
        let curve = &found[0].curve;
        assert!((30..=45).contains(&curve.len()), "{} points", curve.len());
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        for &(percentile, value) in curve {
            let expected = histogram.value_at_percentile(percentile) as f64 / 1e3;
            assert!((value / expected - 1.0).abs() < 0.002, "p{percentile}: {value} for {expected}");
        }
    }

    #[test]
    fn nothing_recorded_is_nothing_found() {
        assert!(latency([with(&[("event", &[])]), with(&[])].iter()).is_empty());
        assert_eq!(latency(std::iter::once(&with(&[("event", &[5000])])))[0].count, 1);
    }
}
