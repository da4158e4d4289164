//! What is read of a MySQL or MariaDB server each second.
//!
//! In: a session. Out: numbers by name, the same for all versions, of the engine that stores the measured tables. Most
//! are status variables; the history list and the checkpoint's age are that in some of MariaDB's versions only and else
//! stand in the text of SHOW ENGINE INNODB STATUS, which costs less than the metrics view and does not want anything
//! switched on. InnoDB writes checkpoints all the time, so that none are counted; how far they lag behind is what its
//! age tells.

use super::{innodb_status, number, place};
use crate::counters::{Counters, try_query};
use rqps_wire::{Session, Table, WireError};

const HISTORY: &str = "history_list_length";
const CHECKPOINT_AGE: &str = "checkpoint_age_bytes";

/// Status variables, and the our names for them.
const INNODB: [(&str, &str); 6] = [
    ("innodb_os_log_written", "log_bytes"),
    ("innodb_buffer_pool_pages_dirty", "dirty_pages"),
    ("innodb_buffer_pool_pages_free", "free_pages"),
    ("innodb_buffer_pool_pages_flushed", "pages_flushed"),
    ("innodb_history_list_length", HISTORY),
    ("innodb_checkpoint_age", CHECKPOINT_AGE),
];
const ROCKSDB: [(&str, &str); 3] = [
    ("rocksdb_wal_bytes", "log_bytes"),
    ("rocksdb_memtable_total", "memtable_bytes"),
    ("rocksdb_stall_micros", "stall_micros"),
];

/// RocksDB's own views; no version has the bytes that wait for compaction, only how many column families do. A level
/// without files has no row.
const ROCKSDB_VIEWS: [(&str, &str); 2] = [
    (
        "select coalesce(sum(VALUE), 0) from information_schema.ROCKSDB_COMPACTION_STATS \
         where LEVEL = 'L0' and TYPE = 'NumFiles'",
        "l0_files",
    ),
    (
        "select coalesce(sum(VALUE), 0) from information_schema.ROCKSDB_CFSTATS where STAT_TYPE = 'COMPACTION_PENDING'",
        "compactions_pending",
    ),
];

/// What InnoDB knows now.
pub(crate) fn innodb(session: &mut Session) -> Result<Counters, WireError> {
    let mut numbers = status(session, &INNODB)?;
    if numbers.contains_key(HISTORY) && numbers.contains_key(CHECKPOINT_AGE) {
        return Ok(numbers);
    }
    if let Some(answer) = try_query(session, "show engine innodb status")? {
        let text = answer.rows.first().and_then(|row| row.last()?.as_deref()).unwrap_or_default();
        let found = innodb_status::parse(text);
        for name in [HISTORY, CHECKPOINT_AGE] {
            numbers.extend(found.get(&format!("innodb_status.{name}")).map(|value| (name.to_owned(), *value)));
        }
    }
    Ok(numbers)
}

/// What RocksDB knows now.
pub(crate) fn rocksdb(session: &mut Session) -> Result<Counters, WireError> {
    let mut numbers = status(session, &ROCKSDB)?;
    for (sql, name) in ROCKSDB_VIEWS {
        let answer = try_query(session, sql)?;
        let value = answer.as_ref().and_then(Table::single).and_then(number);
        numbers.extend(value.map(|value| (name.to_owned(), value)));
    }
    Ok(numbers)
}

fn status(session: &mut Session, names: &[(&str, &str)]) -> Result<Counters, WireError> {
    let list: Vec<String> = names.iter().map(|(variable, _)| format!("'{variable}'")).collect();
    let answer = try_query(session, &format!("show global status where Variable_name in ({})", list.join(", ")))?;
    Ok(answer.map(|answer| renamed(&answer, names)).unwrap_or_default())
}

/// The variables of an answer, by our names.
fn renamed(answer: &Table, names: &[(&str, &str)]) -> Counters {
    let (Some(variables), Some(values)) = (place(answer, "Variable_name"), place(answer, "Value")) else {
        return Counters::new();
    };
    let pair = |row: &Vec<Option<String>>| {
        let variable = row.get(variables)?.as_deref()?;
        let (_, name) = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(variable))?;
        Some(((*name).to_owned(), number(row.get(values)?.as_deref()?)?))
    };
    answer.rows.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_known_in_any_case_and_what_is_no_number_is_left_out() {
        let row = |name: &str, value: &str| vec![Some(name.to_owned()), Some(value.to_owned())];
        let answer = Table {
            columns: vec!["Variable_name".to_owned(), "Value".to_owned()],
            rows: vec![row("Rocksdb_wal_bytes", "7"), row("rocksdb_stall_micros", ""), row("Other", "1")],
        };
        assert_eq!(renamed(&answer, &ROCKSDB), Counters::from([("log_bytes".to_owned(), 7.0)]));
    }
}
