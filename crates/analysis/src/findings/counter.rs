//! A server counter as a report shows it, with the unit that its name implies.
//!
//! In: names as servers give them. Out: what a value is measured in, where it counts no events. Conversions and digits
//! are the report's.

use serde::{Deserialize, Serialize};

/// A server counter, per thousand statements (of steps: per thousand of their operations).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterFindings {
    /// `view.column`.
    pub name: String,
    /// Mean over rounds.
    pub per_kilo_op: f64,
    /// This / peer, where the peer has it.
    pub relative: Option<f64>,
}

/// What a counter that counts no events is measured in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CounterUnit {
    /// So many millionths of a second.
    Microseconds(f64),
    /// Bytes.
    Bytes,
}

/// Counters whose name does not imply the unit.
const BY_NAME: [(&str, CounterUnit); 4] = [
    ("status.Innodb_data_read", CounterUnit::Bytes),
    ("status.Innodb_data_written", CounterUnit::Bytes),
    ("status.Innodb_os_log_written", CounterUnit::Bytes),
    ("status.Innodb_row_lock_time", CounterUnit::Microseconds(1e3)),
];

impl CounterFindings {
    /// Its unit; `None` where it counts events, and where the name leaves it open.
    pub fn unit(&self) -> Option<CounterUnit> {
        let (view, column) = self.name.split_once('.').unwrap_or(("", &self.name));
        if let Some((_, unit)) = BY_NAME.iter().find(|(name, _)| *name == self.name) {
            return Some(*unit);
        }
        let words: Vec<String> = column.split('_').map(str::to_ascii_lowercase).collect();
        let has = |word: &str| words.iter().any(|own| own == word);
        let is_last = |word: &str| words.last().is_some_and(|last| last == word);
        if has("bytes") || is_last("byte") {
            Some(CounterUnit::Bytes)
        } else if is_last("micros") || view == "wait_micros" {
            Some(CounterUnit::Microseconds(1.0))
        } else if is_last("nanos") || view == "rocksdb_perf_context_global" && is_last("time") {
            Some(CounterUnit::Microseconds(1e-3))
        } else if view.starts_with("pg_") && is_last("time") {
            Some(CounterUnit::Microseconds(1e3))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_units() {
        let check = |name: &str, expected: Option<CounterUnit>| {
            let counter = CounterFindings { name: name.to_owned(), per_kilo_op: 1.0, relative: None };
            assert_eq!(counter.unit(), expected, "{name}");
        };
        check("pg_stat_database.active_time", Some(CounterUnit::Microseconds(1e3)));
        check("pg_stat_wal.wal_bytes", Some(CounterUnit::Bytes));
        check("pg_stat_wal.wal_fpi", None);
        check("pg_stat_io.reads", None);
        check("status.Bytes_sent", Some(CounterUnit::Bytes));
        check("status.Innodb_data_written", Some(CounterUnit::Bytes));
        check("status.Innodb_data_writes", None);
        check("status.Rocksdb_stall_micros", Some(CounterUnit::Microseconds(1.0)));
        check("rocksdb_perf_context_global.BLOCK_READ_BYTE", Some(CounterUnit::Bytes));
        check("rocksdb_perf_context_global.BLOCK_READ_TIME", Some(CounterUnit::Microseconds(1e-3)));
        check("wait_micros.io/file/innodb/innodb_log_file", Some(CounterUnit::Microseconds(1.0)));
        check("wait_count.io/file/innodb/innodb_log_file", None);
        check("binlog.bytes", Some(CounterUnit::Bytes));
        check("status.Created_tmp_tables", None);
    }
}
