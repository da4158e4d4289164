//! Keeps what a session does in each second of a step.
//!
//! In: the ends of a session's events. Out: [`SecondRow`]s. A second and session costs 48 bytes and room for the
//! planned seconds is made beforehand: a day of one session is 4 MB, and nothing else grows with a run.

use crate::program::{Ended, Outcome};
use rqps_model::sample::SecondRow;

const SECOND_NS: u64 = 1_000_000_000;

/// Room for seconds of a step that ends with its rows, not by the clock.
const UNPLANNED_SECONDS: usize = 2048;

/// One second of a session.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    operations: u64,
    rows: u64,
    busy_ns: u64,
    errors: u32,
    retried: u32,
    longest_ns: u64,
}

/// The seconds of one session.
#[derive(Debug)]
pub(crate) struct Seconds {
    start_ns: u64,
    seconds: Vec<Second>,
}

impl Seconds {
    /// For a session whose step takes about so long.
    pub(crate) fn new(planned_seconds: Option<f64>) -> Seconds {
        let room = planned_seconds.map_or(UNPLANNED_SECONDS, |seconds| (seconds * 1.1) as usize + 60);
        Seconds { start_ns: 0, seconds: Vec::with_capacity(room) }
    }

    /// The step begins.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// Counts an event in the second of its end.
    #[inline]
    pub(crate) fn note(&mut self, ended: &Ended<'_>) {
        let index = (ended.at_ns.saturating_sub(self.start_ns) / SECOND_NS) as usize;
        while self.seconds.len() <= index {
            self.seconds.push(Second::default());
        }
        let second = &mut self.seconds[index];
        match ended.outcome {
            Outcome::Succeeded => {
                second.operations += 1;
                second.rows += ended.rows;
                second.busy_ns += ended.took_ns;
                second.longest_ns = second.longest_ns.max(ended.took_ns);
            }
            Outcome::Failed => second.errors += 1,
            Outcome::Retried => {
                second.errors += 1;
                second.retried += 1;
            }
            Outcome::Lost | Outcome::GivenUp => {}
        }
    }

    /// The rows of a client's events of one kind, for all of a step's seconds and for all that were noted.
    /// `machine_second` says when a second was over on the machine's clock.
    pub(crate) fn finish(
        mut self,
        client: u32,
        kind: &'static str,
        step_seconds: f64,
        machine_second: impl Fn(f64) -> f64,
    ) -> Vec<SecondRow> {
        let count = self.seconds.len().max(step_seconds.ceil() as usize);
        self.seconds.resize(count, Second::default());
        let row = |(index, second): (usize, &Second)| {
            let begin = index as f64;
            // The last one is over when the step is.
            let end = if begin < step_seconds { step_seconds.min(begin + 1.0) } else { begin + 1.0 };
            SecondRow {
                second: end,
                wall_second: machine_second(end),
                kind: kind.into(),
                client: Some(client),
                operations: second.operations,
                rows: second.rows,
                busy_ns: second.busy_ns,
                errors: second.errors.into(),
                retried: second.retried.into(),
                latency_ns_max: second.longest_ns,
                ..SecondRow::default()
            }
        };
        self.seconds.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::sample::per_second;

    #[test]
    fn seconds_without_anything_have_rows_too() {
        let mut seconds = Seconds::new(Some(5.0));
        seconds.begin(7 * SECOND_NS);
        let mut note = |outcome, at_ns, rows| {
            seconds.note(&Ended { outcome, at_ns, took_ns: 5, from_plan_ns: None, rows, reason: "" });
        };
        note(Outcome::Succeeded, 7 * SECOND_NS, 1);
        note(Outcome::Succeeded, 10 * SECOND_NS - 1, 2);
        note(Outcome::Retried, 11 * SECOND_NS, 0);
        let rows = seconds.finish(3, "insert", 5.9, |second| 2.0 * second);
        assert_eq!(rows.iter().map(|row| row.rows).collect::<Vec<_>>(), [1, 0, 2, 0, 0, 0]);
        assert_eq!(rows.iter().map(|row| row.second).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0, 5.9]);
        assert!(rows.iter().all(|row| row.wall_second == 2.0 * row.second));
        assert!(rows.iter().enumerate().all(|(index, row)| (row.index(), row.client) == (index, Some(3))));
        assert_eq!((rows[4].errors, rows[4].retried, rows[2].latency_ns_max), (1, 1, 5));
        let twice = [rows.clone(), rows].concat();
        assert_eq!(per_second(&twice, 5.9, |row| row.rows), [2.0, 0.0, 4.0, 0.0, 0.0]);
    }
}
