//! What each client did in each second of a step, and the seconds in which next to nothing was written.
//!
//! In: completed statements with their moment. Out: [`SecondRow`]s and [`Stall`]s. A second and client costs 56 bytes and room
//! for the planned seconds is made beforehand: a day of one client is 5 MB, and nothing else grows with a run.

use serde::{Deserialize, Serialize};

const SECOND_NS: u64 = 1_000_000_000;

/// What a second must not be below to be no stall: this part of the median rate.
const STALL_DIVISOR: u64 = 10;

/// Room for seconds of a step that ends with its rows, not by the clock.
const UNPLANNED_SECONDS: usize = 2048;

/// One second of one client. What was completed counts in the second of its completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondRow {
    /// Seconds since the step began, counted from 0. The last one of a step is not a whole one.
    pub second: u32,
    /// The client, counted from 0.
    pub client: u32,
    /// Rows inserted.
    pub inserted: u32,
    /// Rows deleted.
    pub deleted: u32,
    /// Queries answered.
    pub queries: u32,
    /// Inserts tried again.
    pub insert_retries: u32,
    /// Deletes tried again.
    pub delete_retries: u32,
    /// Queries tried again.
    pub query_retries: u32,
    /// Largest response time of an insert.
    pub longest_insert_ns: u64,
    /// Largest response time of a delete.
    pub longest_delete_ns: u64,
    /// Largest response time of a query.
    pub longest_query_ns: u64,
}

/// Seconds in a row in which less than a tenth of the usual was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// The first of them, counted from the begin of the step.
    pub from_second: u32,
    /// How many there are.
    pub seconds: u32,
}

/// The rows of one client.
#[derive(Debug)]
pub(crate) struct Seconds {
    start_ns: u64,
    client: u32,
    rows: Vec<SecondRow>,
}

impl Seconds {
    /// For a client whose step takes about so long.
    pub(crate) fn new(client: u32, planned_seconds: Option<f64>) -> Seconds {
        let room = planned_seconds.map_or(UNPLANNED_SECONDS, |seconds| (seconds * 1.1) as usize + 60);
        Seconds { start_ns: 0, client, rows: Vec::with_capacity(room) }
    }

    /// The step begins.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// The row that `now` belongs to.
    #[inline]
    pub(crate) fn at(&mut self, now: u64) -> &mut SecondRow {
        let index = (now.saturating_sub(self.start_ns) / SECOND_NS) as usize;
        self.fill(index + 1);
        &mut self.rows[index]
    }

    /// The rows of all seconds that have begun before `end_ns`.
    pub(crate) fn finish(mut self, end_ns: u64) -> Vec<SecondRow> {
        self.fill(end_ns.saturating_sub(self.start_ns).div_ceil(SECOND_NS) as usize);
        self.rows
    }

    #[inline]
    fn fill(&mut self, count: usize) {
        while self.rows.len() < count {
            self.rows.push(SecondRow { second: self.rows.len() as u32, client: self.client, ..SecondRow::default() });
        }
    }
}

/// A number for each whole second of a step of `seconds`, summed over all clients.
pub fn per_second(rows: &[SecondRow], seconds: f64, number: impl Fn(&SecondRow) -> u32) -> Vec<u64> {
    let mut sums = vec![0; seconds as usize];
    for row in rows {
        if let Some(sum) = sums.get_mut(row.second as usize) {
            *sum += u64::from(number(row));
        }
    }
    sums
}

/// The rate that was reached or exceeded in `share` of the seconds: 0.5 gives the median, 0.99 a rate that only the slowest
/// hundredth was below. `None` for fewer than ten seconds, as published.
pub fn rate_held_in(share: f64, per_second: &[u64]) -> Option<u64> {
    const SECONDS_MIN: usize = 10;
    let mut falling = per_second.to_vec();
    falling.sort_unstable_by(|a, b| b.cmp(a));
    let place = ((share * falling.len() as f64).ceil() as usize).clamp(1, falling.len().max(1)) - 1;
    (falling.len() >= SECONDS_MIN).then(|| falling[place])
}

/// The seconds below a tenth of the median.
pub fn stalls(per_second: &[u64]) -> Vec<Stall> {
    let mut sorted = per_second.to_vec();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    let mut stalls: Vec<Stall> = Vec::new();
    for (second, rate) in (0u32..).zip(per_second) {
        if rate * STALL_DIVISOR >= median {
            continue;
        }
        match stalls.last_mut() {
            Some(stall) if stall.from_second + stall.seconds == second => stall.seconds += 1,
            _ => stalls.push(Stall { from_second: second, seconds: 1 }),
        }
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_without_anything_have_rows_too() {
        let mut seconds = Seconds::new(3, Some(5.0));
        seconds.begin(7 * SECOND_NS);
        seconds.at(7 * SECOND_NS).inserted += 1;
        seconds.at(10 * SECOND_NS - 1).inserted += 2;
        seconds.at(11 * SECOND_NS).deleted += 4;
        let rows = seconds.finish(12 * SECOND_NS + 1);
        assert_eq!(rows.iter().map(|row| row.inserted).collect::<Vec<_>>(), [1, 0, 2, 0, 0, 0]);
        assert!(rows.iter().zip(0..).all(|(row, second)| (row.second, row.client) == (second, 3)));
        let twice = [rows.clone(), rows].concat();
        assert_eq!(per_second(&twice, 5.9, |row| row.inserted), [2, 0, 4, 0, 0]);
    }

    #[test]
    fn a_stall_is_dated_and_counted() {
        let check = |rates: &[u64], expected: &[(u32, u32)]| {
            let found: Vec<_> = stalls(rates).iter().map(|stall| (stall.from_second, stall.seconds)).collect();
            assert_eq!(found, expected, "{rates:?}");
        };
        check(&[100, 100, 0, 9, 10, 100, 100, 0], &[(2, 2), (7, 1)]);
        check(&[100, 90, 110, 10], &[]);
        check(&[0, 0, 0], &[]);
        check(&[], &[]);
    }

    #[test]
    fn a_held_rate_is_exceeded_most_of_the_time() {
        let rates: Vec<u64> = (1..=200).collect();
        assert_eq!(rate_held_in(0.5, &rates), Some(101));
        assert_eq!(rate_held_in(0.99, &rates), Some(3));
        assert_eq!(rate_held_in(1.0, &rates), Some(1));
        assert_eq!(rate_held_in(0.5, &rates[..9]), None);
    }
}
