//! What the seconds of a step tell: the rate held most of the time, and where next to nothing was written.
//!
//! In: rows of seconds, or sums of them. Out: rates, [`Stall`]s. It judges no build against another.

use rqps_model::insert::{Stall, StepRecord};
use rqps_model::sample::{SecondRow, per_second};

/// Rows inserted in a row of seconds.
pub(crate) fn inserted(row: &SecondRow) -> u64 {
    if row.kind == "insert" { row.rows } else { 0 }
}

/// Rows deleted.
pub(crate) fn deleted(row: &SecondRow) -> u64 {
    if row.kind == "delete" { row.rows } else { 0 }
}

/// Queries answered.
pub(crate) fn queries(row: &SecondRow) -> u64 {
    if row.kind == "query" { row.operations } else { 0 }
}

/// The rate that was reached or exceeded in `share` of the seconds: 0.5 gives the median, 0.99 a rate that only the
/// slowest hundredth was below. `None` for fewer than ten seconds, as published.
pub(crate) fn rate_held_in(share: f64, per_second: &[f64]) -> Option<f64> {
    const SECONDS_MIN: usize = 10;
    let mut falling = per_second.to_vec();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let place = ((share * falling.len() as f64).ceil() as usize).clamp(1, falling.len().max(1)) - 1;
    (falling.len() >= SECONDS_MIN).then(|| falling[place])
}

/// Seconds in which less than a tenth of the usual was inserted, by all clients together. While indexes are built
/// nothing is meant to be inserted.
pub(crate) fn stalls(record: &StepRecord, rows: &[SecondRow]) -> Vec<Stall> {
    if record.rows_indexed.is_some() {
        return Vec::new();
    }
    let found = rqps_stats::stalls(&per_second(rows, record.seconds, inserted));
    found.iter().map(|stall| Stall { from_second: stall.start as u32, seconds: stall.len() as u32 }).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a client did of a kind in a second: as many rows as statements.
    pub(crate) fn row(second: u32, client: u32, kind: &str, count: u64) -> SecondRow {
        SecondRow {
            second: f64::from(second) + 1.0,
            client: Some(client),
            kind: kind.to_owned().into(),
            operations: count,
            rows: count,
            ..SecondRow::default()
        }
    }

    #[test]
    fn a_held_rate_is_exceeded_most_of_the_time() {
        let rates: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(rate_held_in(0.5, &rates), Some(101.0));
        assert_eq!(rate_held_in(0.99, &rates), Some(3.0));
        assert_eq!(rate_held_in(1.0, &rates), Some(1.0));
        assert_eq!(rate_held_in(0.5, &rates[..9]), None);
    }
}
