//! Keeps what a session does in each second of a step.
//!
//! In: completed statements of a session with their moment. Out: [`SecondRow`]s. A second and session costs 56 bytes
//! and room for the planned seconds is made beforehand: a day of one session is 5 MB, and nothing else grows with a
//! run.

use rqps_model::insert::SecondRow;

const SECOND_NS: u64 = 1_000_000_000;

/// Room for seconds of a step that ends with its rows, not by the clock.
const UNPLANNED_SECONDS: usize = 2048;

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

    /// The rows of so many seconds, and of all that were noted.
    pub(crate) fn finish(mut self, seconds: usize) -> Vec<SecondRow> {
        self.fill(seconds);
        self.rows
    }

    #[inline]
    fn fill(&mut self, count: usize) {
        while self.rows.len() < count {
            self.rows.push(SecondRow { second: self.rows.len() as u32, client: self.client, ..SecondRow::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::per_second;

    #[test]
    fn seconds_without_anything_have_rows_too() {
        let mut seconds = Seconds::new(3, Some(5.0));
        seconds.begin(7 * SECOND_NS);
        seconds.at(7 * SECOND_NS).inserted += 1;
        seconds.at(10 * SECOND_NS - 1).inserted += 2;
        seconds.at(11 * SECOND_NS).deleted += 4;
        let rows = seconds.finish(6);
        assert_eq!(rows.iter().map(|row| row.inserted).collect::<Vec<_>>(), [1, 0, 2, 0, 0, 0]);
        assert!(rows.iter().zip(0..).all(|(row, second)| (row.second, row.client) == (second, 3)));
        let twice = [rows.clone(), rows].concat();
        assert_eq!(per_second(&twice, 5.9, |row| row.inserted), [2, 0, 4, 0, 0]);
    }
}
