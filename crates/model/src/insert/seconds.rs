//! What each client did in each second of a step, and the seconds in which next to nothing was written.
//!
//! In: [`SecondRow`]s as the client kept them. Out: sums over clients, the rate held most of the time, [`Stall`]s.

use serde::{Deserialize, Serialize};

/// What a second must not be below to be no stall: this part of the median rate.
const STALL_DIVISOR: u64 = 10;

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

/// The rate that was reached or exceeded in `share` of the seconds: 0.5 gives the median, 0.99 a rate that only the
/// slowest hundredth was below. `None` for fewer than ten seconds, as published.
pub fn rate_held_in(share: f64, per_second: &[u64]) -> Option<u64> {
    const SECONDS_MIN: usize = 10;
    let mut falling = per_second.to_vec();
    falling.sort_unstable_by(|a, b| b.cmp(a));
    let place = ((share * falling.len() as f64).ceil() as usize).clamp(1, falling.len().max(1)) - 1;
    (falling.len() >= SECONDS_MIN).then(|| falling[place])
}

/// The seconds below a tenth of the median.
pub(super) fn stalls(per_second: &[u64]) -> Vec<Stall> {
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
    fn seconds_are_summed_over_clients() {
        let row = |second, client, inserted| SecondRow { second, client, inserted, ..SecondRow::default() };
        let rows = [row(0, 0, 1), row(1, 0, 2), row(2, 0, 4), row(0, 1, 10), row(1, 1, 20)];
        assert_eq!(per_second(&rows, 2.9, |row| row.inserted), [11, 22]);
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
