//! Seconds of a sample → its throughput over time, no longer than a picture can show.
//!
//! In: the seconds of one sample. Out: (seconds of the treatment's own time at the end of a piece, throughput in the
//! test's unit). Pieces are joined by adding counts and times, so that no completed statement is lost or weighed twice.
//! The last one ends when counting ends: of some milliseconds it would be one statement more or less, drawn as a spike.

use crate::read::measured::Measured;
use rqps_model::sample::SecondRow;

/// Most points of one series, whatever room there is.
const MOST_POINTS: usize = 240;
/// Fewest points that still show a stall.
const FEWEST_POINTS: usize = 16;
/// A last piece shorter than this, in seconds, belongs to the one before.
const SHORTEST_LAST_SECONDS: f64 = 0.5;
/// What a step of the Insert Benchmark has over time weighs as much as so many series of the other suites.
pub(crate) const SERIES_OF_A_TIMELINE: usize = 5;
/// Points of all series of a campaign together: what a page can carry.
const POINTS_IN_ALL: usize = 150_000;

/// Points that each of `series` series may have.
pub(crate) fn points_allowed(series: usize) -> usize {
    (POINTS_IN_ALL / series.max(1)).clamp(FEWEST_POINTS, MOST_POINTS)
}

/// The throughput of one sample over its own time in at most `points` points.
pub(crate) fn series(measured: &Measured, points: usize) -> Vec<(f64, f64)> {
    let sample = &measured.sample;
    let scale = f64::from(sample.clients) * sample.score.factor * sample.score.unit.seconds() * 1e9;
    // A step has a timeline instead.
    let rows = if sample.step().is_none() { &measured.seconds[..] } else { &[] };
    let joined = rows.len().div_ceil(points.max(1)).max(1);
    pieces(rows, joined)
        .into_iter()
        .map(|piece| {
            let operations: u64 = piece.iter().map(|row| row.operations).sum();
            let busy_ns: u64 = piece.iter().map(|row| row.busy_ns).sum();
            let end = piece.last().map_or(0.0, |row| row.second);
            (end, if busy_ns == 0 { 0.0 } else { operations as f64 / busy_ns as f64 * scale })
        })
        .collect()
}

/// Rows in pieces of `joined`, the last of which is no splinter.
fn pieces(rows: &[SecondRow], joined: usize) -> Vec<&[SecondRow]> {
    let mut pieces: Vec<&[SecondRow]> = rows.chunks(joined).collect();
    if let [.., before, last] = pieces[..]
        && let (Some(begin), Some(end)) = (before.last(), last.last())
        && end.second - begin.second < SHORTEST_LAST_SECONDS
    {
        pieces.truncate(pieces.len() - 2);
        pieces.push(&rows[rows.len() - before.len() - last.len()..]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Slices;

    fn seconds(operations: &[u64]) -> Measured {
        let mut measured = measured(1, 1, Slices::default());
        let row = |(n, &operations): (usize, &u64)| SecondRow {
            second: (n + 1) as f64,
            operations,
            busy_ns: 1_000_000_000,
            ..SecondRow::default()
        };
        measured.seconds = operations.iter().enumerate().map(row).collect();
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
    fn a_splinter_at_the_end_is_joined_with_the_row_before() {
        let mut turns = seconds(&[33_000, 33_577, 409]);
        let splinter = &mut turns.seconds[2];
        (splinter.second, splinter.busy_ns) = (2.0077, 7_700_000);
        let found = series(&turns, 240);
        assert_eq!(found.iter().map(|point| point.0).collect::<Vec<_>>(), [1.0, 2.0077]);
        assert!((found[1].1 - 33_986.0 / 1.0077).abs() < 1e-6, "weighted by time: {}", found[1].1);
        let found = series(&turns, 2);
        assert_eq!(found.len(), 1, "a piece that is nothing but the splinter goes as well: {found:?}");
        turns.seconds[2].second = 2.5;
        assert_eq!(series(&turns, 240).len(), 3, "half a second stands for itself");
        turns.seconds.drain(..2);
        assert_eq!(series(&turns, 240).len(), 1, "alone it is all there is");
    }

    #[test]
    fn large_campaigns_get_coarser_pictures() {
        assert_eq!(points_allowed(10), MOST_POINTS);
        assert_eq!(points_allowed(5880), 25);
        assert_eq!(points_allowed(1_000_000), FEWEST_POINTS);
    }
}
