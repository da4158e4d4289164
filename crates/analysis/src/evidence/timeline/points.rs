//! Seconds of a step → its timeline over time, no longer than a picture can show.
//!
//! In: rows of each second and client, and watch rows. Out: points of all clients together, and the server's own
//! numbers. Seconds are joined by adding what was done; of response times and of the server's numbers the largest of a
//! piece stays, so that no stall and no peak is smoothed away.

use crate::findings::TimelinePoint;
use crate::read::seconds::{deleted, inserted, queries};
use rqps_model::sample::{MonitorRow, SecondRow};
use std::collections::BTreeMap;

/// A last second of which less than this is there has no rate of its own: a single statement would make a spike of it.
const SHORTEST_SECOND: f64 = 0.5;

/// Numbers that only count up since the server began: shown from the beginning of the step.
const COUNTERS: [&str; 5] = ["checkpoints", "log_bytes", "pages_flushed", "stall_micros", "vacuums"];

/// Numbers of which not the most but the least matters.
const THE_LESS_THE_WORSE: [&str; 1] = ["free_pages"];

/// The kinds whose longest response times are kept.
const KINDS: [&str; 3] = ["insert", "delete", "query"];

#[derive(Clone, Copy, Default)]
struct Second {
    inserted: u64,
    deleted: u64,
    queries: u64,
    longest_ns: [u64; 3],
}

impl Second {
    fn add(&mut self, other: &Second) {
        self.inserted += other.inserted;
        self.deleted += other.deleted;
        self.queries += other.queries;
        self.longest_ns = std::array::from_fn(|at| self.longest_ns[at].max(other.longest_ns[at]));
    }
}

/// The timeline of a step of `seconds` in at most `points` points.
pub(super) fn points(rows: &[SecondRow], seconds: f64, points: usize) -> Vec<TimelinePoint> {
    let sums = by_second(rows, seconds);
    let joined = sums.len().div_ceil(points.max(1)).max(1);
    let mut begin = 0.0;
    let mut timeline = Vec::with_capacity(points);
    for (piece, at) in sums.chunks(joined).zip(1..) {
        let mut sum = Second::default();
        piece.iter().for_each(|second| sum.add(second));
        let is_last = at * joined >= sums.len();
        let end = if is_last { seconds } else { (at * joined) as f64 };
        let per_s = |count: u64| count as f64 / (end - begin);
        let [insert, delete, query] = sum.longest_ns.map(|ns| ns as f64 / 1e6);
        timeline.push(TimelinePoint {
            second: end,
            inserted: per_s(sum.inserted),
            deleted: per_s(sum.deleted),
            queries: per_s(sum.queries),
            longest_insert_ms: insert,
            longest_delete_ms: delete,
            longest_query_ms: query,
        });
        begin = end;
    }
    timeline
}

/// All clients together, second by second; a stub of a last second goes to the one before.
fn by_second(rows: &[SecondRow], seconds: f64) -> Vec<Second> {
    if rows.is_empty() || seconds <= 0.0 {
        return Vec::new();
    }
    let whole = seconds.floor() as usize;
    let has_last = whole == 0 || seconds - seconds.floor() >= SHORTEST_SECOND;
    let mut sums = vec![Second::default(); whole + usize::from(has_last)];
    let last = sums.len() - 1;
    for row in rows {
        sums[row.index().min(last)].add(&Second {
            inserted: inserted(row),
            deleted: deleted(row),
            queries: queries(row),
            longest_ns: KINDS.map(|kind| if row.kind == kind { row.latency_ns_max } else { 0 }),
        });
    }
    sums
}

/// The server's own numbers by name: (second, value), each in at most `points` points.
pub(super) fn server(watch: &[MonitorRow], points: usize) -> BTreeMap<String, Vec<(f64, f64)>> {
    let mut numbers: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in watch {
        for (name, &value) in row.server.iter().filter(|(_, value)| value.is_finite()) {
            numbers.entry(name).or_default().push((row.second, value));
        }
    }
    numbers.into_iter().map(|(name, timeline)| (name.to_owned(), thinned(name, timeline, points))).collect()
}

fn thinned(name: &str, mut timeline: Vec<(f64, f64)>, points: usize) -> Vec<(f64, f64)> {
    let first = timeline.first().map_or(0.0, |point| point.1);
    if COUNTERS.contains(&name) {
        timeline.iter_mut().for_each(|point| point.1 -= first);
    }
    let joined = timeline.len().div_ceil(points.max(1)).max(1);
    let telling = |a: f64, b: f64| if THE_LESS_THE_WORSE.contains(&name) { a.min(b) } else { a.max(b) };
    let of_piece = |piece: &[(f64, f64)]| {
        let (last, value) = piece.iter().copied().reduce(|sum, point| (point.0, telling(sum.1, point.1)))?;
        Some((last, value))
    };
    timeline.chunks(joined).filter_map(of_piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::seconds::tests as seconds;

    fn row(second: u32, client: u32, inserted: u64, longest_ms: u64) -> SecondRow {
        SecondRow { latency_ns_max: longest_ms * 1_000_000, ..seconds::row(second, client, "insert", inserted) }
    }

    #[test]
    fn clients_are_added_and_a_stub_goes_to_the_second_before() {
        let rows = [row(0, 0, 100, 3), row(1, 0, 100, 4), row(2, 0, 20, 9), row(0, 1, 50, 7), row(1, 1, 60, 2)];
        let timeline = points(&rows, 2.25, 100);
        let told: Vec<_> = timeline.iter().map(|p| (p.second, p.inserted, p.longest_insert_ms)).collect();
        assert_eq!(told, [(1.0, 150.0, 7.0), (2.25, 180.0 / 1.25, 9.0)]);
        assert_eq!(points(&rows, 2.5, 100)[2].inserted, 40.0);
        assert_eq!(points(&rows[..1], 0.2, 100)[0].inserted, 500.0);
        assert!(points(&[], 0.0, 100).is_empty());
    }

    #[test]
    fn joined_seconds_lose_no_row_and_no_peak() {
        let rows: Vec<SecondRow> = (0..1000).map(|n| row(n, 0, n.into(), u64::from(n % 7 * 100))).collect();
        let timeline = points(&rows, 999.75, 240);
        assert_eq!((timeline.len(), timeline[0].second, timeline[199].second), (200, 5.0, 999.75));
        let mut begin = 0.0;
        let mut total = 0.0;
        for point in &timeline {
            total += point.inserted * (point.second - begin);
            begin = point.second;
            assert!(point.longest_insert_ms >= 400.0);
        }
        assert!((total - f64::from(999 * 500)).abs() < 1e-6, "{total}");
    }

    #[test]
    fn counters_begin_with_the_step_and_peaks_stay() {
        let watch: Vec<MonitorRow> = (0..10)
            .map(|n| MonitorRow {
                second: f64::from(n + 1),
                server: [
                    ("log_bytes", 500.0 + f64::from(n)),
                    ("dead_rows", f64::from(n % 4)),
                    ("free_pages", f64::from(n)),
                ]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
                ..MonitorRow::default()
            })
            .collect();
        let found = server(&watch, 3);
        assert_eq!(found["log_bytes"], [(4.0, 3.0), (8.0, 7.0), (10.0, 9.0)]);
        assert_eq!(found["dead_rows"], [(4.0, 3.0), (8.0, 3.0), (10.0, 1.0)]);
        assert_eq!(found["free_pages"], [(4.0, 0.0), (8.0, 4.0), (10.0, 8.0)]);
        assert!(server(&[], 3).is_empty());
    }
}
