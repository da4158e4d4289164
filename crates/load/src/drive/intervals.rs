//! One row for each second of an arm's counted time.
//!
//! In: completed events of one thread with the arm's counted time. Out: rows with counts and quantiles. Room for the
//! rows is made between visits; if it should run out inside one, the last row takes the rest. Nothing is allocated on
//! the way.

use super::recorder::Coarse;

/// Length of an interval.
const SECOND_NS: u64 = 1_000_000_000;

/// An hour: more of one visit goes into one row.
const ROWS_PER_VISIT_MAX: u64 = 3600;

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
    rows: Vec<Row>,
    open: Row,
    end_ns: u64,
    latencies: Coarse,
}

impl Intervals {
    pub(crate) fn new() -> Intervals {
        Intervals { rows: Vec::new(), open: Row::default(), end_ns: SECOND_NS, latencies: Coarse::new() }
    }

    /// Makes room for a visit of `visit_ns`; called between visits.
    pub(crate) fn make_room(&mut self, visit_ns: u64) {
        self.rows.reserve((visit_ns / SECOND_NS).min(ROWS_PER_VISIT_MAX) as usize + 2);
    }

    /// The interval at `counted_ns`; earlier ones are closed.
    #[inline]
    pub(crate) fn at(&mut self, counted_ns: u64, wall_ns: u64) -> &mut Row {
        while counted_ns >= self.end_ns {
            self.close(self.end_ns, wall_ns);
        }
        &mut self.open
    }

    /// Adds the latency of an event to the interval that is open.
    #[inline]
    pub(crate) fn latency(&mut self, latency_ns: u64) {
        self.latencies.record(latency_ns);
    }

    #[cold]
    fn close(&mut self, counted_ns: u64, wall_ns: u64) {
        self.end_ns += SECOND_NS;
        if self.rows.len() == self.rows.capacity() {
            return;
        }
        let quantiles_ns = self.latencies.quantiles([0.5, 0.95, 0.99]);
        let max_ns = self.latencies.max();
        self.rows.push(Row { counted_ns, wall_ns, quantiles_ns, max_ns, ..self.open });
        self.open = Row::default();
        self.latencies.clear();
    }

    /// All rows, the last one perhaps shorter than a second.
    pub(crate) fn finish(mut self, counted_ns: u64, wall_ns: u64) -> Vec<Row> {
        self.rows.reserve(1);
        self.at(counted_ns, wall_ns);
        if self.open != Row::default() {
            self.rows.reserve(1);
            self.close(counted_ns, wall_ns);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_closed_in_turn_and_the_rest_is_the_last_row() {
        let mut intervals = Intervals::new();
        intervals.make_room(10 * SECOND_NS);
        for tenth in 0..25u64 {
            intervals.at(tenth * SECOND_NS / 10, tenth * SECOND_NS / 5).operations += 1;
            intervals.latency(1000 * (tenth + 1));
        }
        let rows = intervals.finish(5 * SECOND_NS / 2, 5 * SECOND_NS);
        assert_eq!(rows.iter().map(|row| row.operations).collect::<Vec<_>>(), [10, 10, 5]);
        assert_eq!(
            rows.iter().map(|row| row.counted_ns).collect::<Vec<_>>(),
            [SECOND_NS, 2 * SECOND_NS, 2_500_000_000]
        );
        assert_eq!(rows.iter().map(|row| row.max_ns).collect::<Vec<_>>(), [10_000, 20_000, 25_000]);
        assert_eq!(rows[1].wall_ns, 4 * SECOND_NS);
    }

    #[test]
    fn without_room_nothing_is_lost_but_the_rows() {
        let mut intervals = Intervals::new();
        for second in 0..5 {
            intervals.at(second * SECOND_NS, 0).operations += 1;
        }
        let rows = intervals.finish(5 * SECOND_NS, 0);
        assert_eq!(rows.iter().map(|row| row.operations).sum::<u64>(), 5);
    }
}
