//! Seconds of a sample → its throughput over time, no longer than a picture can show.
//!
//! In: the intervals of one sample. Out: (seconds of the treatment's own time at the end of a piece, throughput in the
//! test's unit). Pieces are joined by adding counts and times, so that no completed statement is lost or weighed twice.

use crate::measured::Measured;

/// Most points of one series, whatever room there is.
const MOST_POINTS: usize = 240;
/// Fewest points that still show a stall.
const FEWEST_POINTS: usize = 16;
/// What a step of the Insert Benchmark has over time weighs as much as so many series of the other suites.
pub(crate) const SERIES_OF_A_STEP: usize = 5;
/// Points of all series of a campaign together: what a page can carry.
const POINTS_IN_ALL: usize = 150_000;

/// Points that each of `series` series may have.
pub(crate) fn points_allowed(series: usize) -> usize {
    (POINTS_IN_ALL / series.max(1)).clamp(FEWEST_POINTS, MOST_POINTS)
}

/// The throughput of one sample over its own time in at most `points` points.
pub(crate) fn series(measured: &Measured, points: usize) -> Vec<(f64, f64)> {
    let sample = &measured.sample;
    let scale = f64::from(sample.clients) * sample.unit_per_operation * 1e9;
    let joined = measured.intervals.len().div_ceil(points.max(1)).max(1);
    let pieces = measured.intervals.chunks(joined);
    pieces
        .map(|piece| {
            let operations: u64 = piece.iter().map(|interval| interval.operations).sum();
            let busy_ns: u64 = piece.iter().map(|interval| interval.busy_ns).sum();
            let end = piece.last().map_or(0.0, |interval| interval.second);
            (end, if busy_ns == 0 { 0.0 } else { operations as f64 / busy_ns as f64 * scale })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::tests::measured;
    use rqps_model::sample::{Interval, Slices};

    fn seconds(operations: &[u64]) -> Measured {
        let mut measured = measured(1, 1, Slices::default());
        let interval = |(n, &operations): (usize, &u64)| Interval {
            second: (n + 1) as f64,
            operations,
            busy_ns: 1_000_000_000,
            ..Interval::default()
        };
        measured.intervals = operations.iter().enumerate().map(interval).collect();
        measured
    }

    #[test]
    fn short_series_stay_as_they_are() {
        assert_eq!(series(&seconds(&[10, 20, 0]), 240), [(1.0, 10.0), (2.0, 20.0), (3.0, 0.0)]);
        assert!(series(&seconds(&[]), 240).is_empty());
    }

    #[test]
    fn long_series_are_joined_without_losing_a_statement() {
        let operations: Vec<u64> = (1..=1000).collect();
        let joined = series(&seconds(&operations), 240);
        assert_eq!(joined.len(), 200);
        assert_eq!(joined[0], (5.0, 3.0));
        let mean = joined.iter().map(|point| point.1).sum::<f64>() / 200.0;
        assert!((mean - 500.5).abs() < 1e-9);
    }

    #[test]
    fn large_campaigns_get_coarser_pictures() {
        assert_eq!(points_allowed(10), MOST_POINTS);
        assert_eq!(points_allowed(5880), 25);
        assert_eq!(points_allowed(1_000_000), FEWEST_POINTS);
    }
}
