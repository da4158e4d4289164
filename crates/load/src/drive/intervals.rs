//! One row for each second of an arm's counted time.
//!
//! In: completed events of one thread with the arm's counted time. Out: rows with counts and quantiles, each sent off
//! once its second is over. They go through a channel whose room was made beforehand, so that nothing is kept or
//! allocated on the way and nobody waits. A second in which no event ended has no row, unless it is the last.

use super::recorder::Coarse;
use std::sync::mpsc::{SyncSender, TrySendError};

/// Length of an interval.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Rows that may wait to be taken out of a channel, which happens about once a second.
pub(crate) const ROOM: usize = 256;

/// What happened in one second, on one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The arm's counted time at the end.
    pub(crate) counted_ns: u64,
    /// Time since the exercise began, at the end.
    pub(crate) wall_ns: u64,
    pub(crate) operations: u64,
    pub(crate) rows: u64,
    pub(crate) busy_ns: u64,
    pub(crate) errors: u64,
    pub(crate) retried: u64,
    pub(crate) quantiles_ns: [u64; 3],
    pub(crate) max_ns: u64,
}

/// The rows of one arm on one thread.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// Where they go, if anybody takes them.
    rows: Option<SyncSender<Row>>,
    open: Row,
    end_ns: u64,
    /// The end of the last one that was sent.
    sent_ns: u64,
    latencies: Coarse,
}

impl Intervals {
    pub(crate) fn new(rows: Option<SyncSender<Row>>) -> Intervals {
        Intervals { rows, open: Row::default(), end_ns: SECOND_NS, sent_ns: 0, latencies: Coarse::new() }
    }

    /// The interval at `counted_ns`; earlier ones are closed.
    #[inline]
    pub(crate) fn at(&mut self, counted_ns: u64, wall_ns: u64) -> &mut Row {
        if counted_ns >= self.end_ns {
            self.next(counted_ns, wall_ns);
        }
        &mut self.open
    }

    /// Adds the latency of an event to the interval that is open.
    #[inline]
    pub(crate) fn latency(&mut self, latency_ns: u64) {
        self.latencies.record(latency_ns);
    }

    #[cold]
    fn next(&mut self, counted_ns: u64, wall_ns: u64) {
        self.close(self.end_ns, wall_ns);
        self.end_ns = (counted_ns / SECOND_NS + 1) * SECOND_NS;
    }

    /// Sends what is in the interval. Where rows have not been taken out for minutes it stays, and the next row has it.
    fn close(&mut self, counted_ns: u64, wall_ns: u64) {
        let row = self.row(counted_ns, wall_ns);
        if let Some(rows) = &self.rows
            && let Some(row) = row
        {
            // It takes no lock, since whoever takes rows out never waits for one.
            if let Err(TrySendError::Full(_)) = rows.try_send(row) {
                return;
            }
            self.sent_ns = counted_ns;
        }
        self.open = Row::default();
        self.latencies.clear();
    }

    /// What is in the interval, if anything is.
    fn row(&self, counted_ns: u64, wall_ns: u64) -> Option<Row> {
        if self.open == Row::default() {
            return None;
        }
        let (quantiles_ns, max_ns) = (self.latencies.quantiles([0.5, 0.95, 0.99]), self.latencies.max());
        Some(Row { counted_ns, wall_ns, quantiles_ns, max_ns, ..self.open })
    }

    /// Sends the last rows: that of the last whole second, which says how far the arm came, and what is beyond it.
    pub(crate) fn finish(mut self, counted_ns: u64, wall_ns: u64) {
        self.at(counted_ns, wall_ns);
        let whole_ns = counted_ns / SECOND_NS * SECOND_NS;
        let end = Row { counted_ns: whole_ns, wall_ns, ..Row::default() };
        let end = Some(end).filter(|_| self.sent_ns < whole_ns);
        let rest = self.row(counted_ns, wall_ns);
        if let Some(rows) = self.rows {
            // The other end outlives this one.
            end.into_iter().chain(rest).for_each(|row| _ = rows.send(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};

    fn intervals(room: usize) -> (Intervals, Receiver<Row>) {
        let (rows, taken) = sync_channel(room);
        (Intervals::new(Some(rows)), taken)
    }

    #[test]
    fn seconds_are_closed_in_turn_and_the_rest_is_the_last_row() {
        let (mut intervals, taken) = intervals(3);
        for tenth in 0..25u64 {
            intervals.at(tenth * SECOND_NS / 10, tenth * SECOND_NS / 5).operations += 1;
            intervals.latency(1000 * (tenth + 1));
        }
        let closed: Vec<Row> = taken.try_iter().collect();
        assert_eq!(closed.iter().map(|row| row.operations).collect::<Vec<_>>(), [10, 10]);
        assert_eq!(closed.iter().map(|row| row.counted_ns).collect::<Vec<_>>(), [SECOND_NS, 2 * SECOND_NS]);
        assert_eq!(closed.iter().map(|row| row.max_ns).collect::<Vec<_>>(), [10_000, 20_000]);
        assert_eq!(closed[1].wall_ns, 4 * SECOND_NS);
        intervals.finish(5 * SECOND_NS / 2, 5 * SECOND_NS);
        let last: Vec<Row> = taken.try_iter().collect();
        let [Row { operations: 5, counted_ns: 2_500_000_000, max_ns: 25_000, .. }] = last[..] else {
            panic!("{last:?}")
        };
    }

    #[test]
    fn seconds_without_anything_have_no_row_but_the_last() {
        let (mut intervals, taken) = intervals(3);
        intervals.at(0, 0).operations = 1;
        intervals.at(3_700_000_000, 4 * SECOND_NS).operations = 2;
        intervals.finish(7 * SECOND_NS, 8 * SECOND_NS);
        let rows: Vec<_> = taken.try_iter().map(|row| (row.counted_ns / SECOND_NS, row.operations)).collect();
        assert_eq!(rows, [(1, 1), (4, 2), (7, 0)]);
    }

    #[test]
    fn without_room_nothing_is_lost_but_rows() {
        let (mut intervals, taken) = intervals(1);
        for second in 0..5 {
            intervals.at(second * SECOND_NS, 0).operations += 1;
        }
        assert_eq!(taken.try_iter().map(|row| row.operations).collect::<Vec<_>>(), [1]);
        intervals.finish(5 * SECOND_NS, 0);
        assert_eq!(
            taken.try_iter().map(|row| (row.counted_ns, row.operations)).collect::<Vec<_>>(),
            [(5 * SECOND_NS, 4)]
        );
    }
}
