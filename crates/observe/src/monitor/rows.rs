//! The rows of a monitor in little memory: a test of an hour has thousands of them, and it is the client's.
//!
//! In: rows, and a server's numbers by name. Out: the same rows. Names are kept once for all rows that have the same
//! ones; with them in each row, a second took 800 bytes.

use crate::counters::Counters;
use rqps_model::sample::{HostUse, MonitorRow};

/// Rows in order of time.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Each list of names that some server has answered with; of a server that answers as always there is one.
    names: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Row {
    second: f64,
    host: HostUse,
    /// Which list of names the numbers have; none without numbers.
    names: usize,
    numbers: Box<[f64]>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row without numbers, which may come later.
    pub(super) fn push(&mut self, second: f64, host: HostUse) {
        self.rows.push(Row { second, host, names: 0, numbers: Box::default() });
    }

    /// The server's numbers of the last row.
    pub(super) fn answer(&mut self, server: &Counters) {
        let Some(row) = self.rows.last_mut() else { return };
        let known = self.names.iter().position(|names| names.iter().eq(server.keys()));
        row.names = known.unwrap_or_else(|| {
            self.names.push(server.keys().cloned().collect());
            self.names.len() - 1
        });
        row.numbers = server.values().copied().collect();
    }

    /// All of them, whole.
    pub(super) fn whole(&self) -> Vec<MonitorRow> {
        let whole = |row: &Row| {
            let names = self.names.get(row.names).into_iter().flatten().cloned();
            MonitorRow { second: row.second, host: row.host, server: names.zip(row.numbers.iter().copied()).collect() }
        };
        self.rows.iter().map(whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_whatever_names_they_have() {
        let numbers = |pairs: &[(&str, f64)]| -> Counters {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let answers = [
            numbers(&[("log_bytes", 1.0), ("vacuums", 2.0)]),
            Counters::new(),
            numbers(&[("log_bytes", 3.0)]),
            numbers(&[("log_bytes", 4.0), ("vacuums", 5.0)]),
        ];
        let mut rows = Rows::default();
        for (second, server) in (1..).zip(&answers) {
            rows.push(f64::from(second), HostUse { page_faults: 7, ..HostUse::default() });
            // One that is not answered stays without numbers.
            if !server.is_empty() {
                rows.answer(server);
            }
        }
        let expected = (1..).zip(answers).map(|(second, server)| MonitorRow {
            second: f64::from(second),
            host: HostUse { page_faults: 7, ..HostUse::default() },
            server,
        });
        assert_eq!(rows.whole(), expected.collect::<Vec<_>>());
        assert_eq!((rows.len(), rows.names.len()), (4, 2), "names are kept once");
    }

    /// docs/client-cost.md says what a second costs.
    #[test]
    fn a_row_takes_little_room() {
        assert!(size_of::<Row>() <= 192, "{}", size_of::<Row>());
    }
}
