//! Counters of MySQL and MariaDB, before and after a test.
//!
//! In: a session to a server, in the database that is measured. Out: numbers by name: the server's status variables
//! (`status.Innodb_rows_read`), what InnoDB and RocksDB tell of themselves, how often and for how long the server
//! waited as far as its performance schema counts that, sizes of tables and indexes, bytes of the binary log. Views
//! differ between versions, forks and plugins: each is asked for, and one that is refused is not there.
//!
//! Some are levels and not counts (pages, sizes, threads). Reading them changes a few (`Com_show_status`), by the same
//! amount for every build of a version.

pub(crate) mod innodb_status;
pub(crate) mod monitor;
pub(crate) mod waits;

use crate::counters::{Counters, try_query};
use rqps_wire::{Session, Table, WireError};
use std::path::{Path, PathBuf};

/// InnoDB's metrics that are status variables under another name: kept once, as status.
const TOLD_AS_STATUS: [&str; 33] = [
    "buffer_data_reads",
    "buffer_data_written",
    "buffer_pages_created",
    "buffer_pages_read",
    "buffer_pages_written",
    "buffer_pool_bytes_data",
    "buffer_pool_bytes_dirty",
    "buffer_pool_pages_data",
    "buffer_pool_pages_dirty",
    "buffer_pool_pages_free",
    "buffer_pool_pages_misc",
    "buffer_pool_pages_total",
    "buffer_pool_read_ahead",
    "buffer_pool_read_ahead_evicted",
    "buffer_pool_read_requests",
    "buffer_pool_reads",
    "buffer_pool_wait_free",
    "buffer_pool_write_requests",
    "innodb_dblwr_pages_written",
    "innodb_dblwr_writes",
    "innodb_page_size",
    "lock_row_lock_current_waits",
    "lock_row_lock_time",
    "lock_row_lock_time_avg",
    "lock_row_lock_time_max",
    "lock_row_lock_waits",
    "log_waits",
    "log_write_requests",
    "log_writes",
    "os_data_fsyncs",
    "os_data_reads",
    "os_data_writes",
    "os_log_bytes_written",
];

/// Status variables that hold numbers but count nothing that a server does.
const NOT_COUNTED: [&str; 2] = ["Uptime", "Uptime_since_flush_status"];

/// What the performance schema counts of file I/O and of waits for table and metadata locks; also of what
/// is not on by default, such as mutexes, where the user has switched it on. A session that waits for its client
/// (`idle`) is left out: that is none of the server's. Its timers count picoseconds.
const WAITS: &str = "select substr(EVENT_NAME, 6) as NAME, COUNT_STAR as WAITS, SUM_TIMER_WAIT / 1000000 as MICROS \
    from performance_schema.events_waits_summary_global_by_event_name \
    where COUNT_STAR > 0 and (EVENT_NAME like 'wait/io/file/%' or EVENT_NAME like 'wait/lock/%' \
    or EVENT_NAME like 'wait/synch/%')";

/// The physical state of the tables, in one row. The engines estimate lengths and rows from statistics.
const TABLES: &str = "select sum(DATA_LENGTH) as data_bytes, sum(INDEX_LENGTH) as index_bytes, \
    sum(DATA_FREE) as free_bytes, sum(TABLE_ROWS) as estimated_rows \
    from information_schema.TABLES where TABLE_SCHEMA = database()";

/// Files of InnoDB's tables: MySQL from 8.0 on, MySQL before, MariaDB. 5.6 has the view without sizes.
const TABLESPACES: [&str; 2] = ["INNODB_TABLESPACES", "INNODB_SYS_TABLESPACES"];

/// RocksDB's views, each with its column of names and its column of numbers.
const ROCKSDB: [&str; 3] = ["ROCKSDB_DBSTATS", "ROCKSDB_CFSTATS", "ROCKSDB_PERF_CONTEXT_GLOBAL"];

/// What stores the tables, by name.
const ENGINES: &str = "select distinct lower(ENGINE) from information_schema.TABLES \
    where TABLE_SCHEMA = database() and TABLE_TYPE = 'BASE TABLE' order by 1";

/// Where RocksDB keeps all it has, in MariaDB and in MySQL's relatives.
const ROCKSDB_FOLDERS: [&str; 2] = ["#rocksdb", ".rocksdb"];

/// The storage engine of all tables; several with commas.
pub(crate) fn storage_engine(session: &mut Session) -> Result<String, WireError> {
    let answer = session.query(ENGINES)?;
    let names: Vec<&str> = answer.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok(names.join(","))
}

/// The folder of RocksDB's files.
pub(crate) fn rocksdb_folder(data_folder: &Path) -> PathBuf {
    let places = ROCKSDB_FOLDERS.map(|name| data_folder.join(name));
    places.iter().find(|place| place.is_dir()).unwrap_or(&places[0]).clone()
}

/// Reads every counter that this server has.
pub(crate) fn read(session: &mut Session) -> Result<Counters, WireError> {
    let mut counters = Counters::new();
    if let Some(status) = try_query(session, "show global status")? {
        named_numbers("status", &status, "Variable_name", "Value", &mut counters);
        NOT_COUNTED.iter().for_each(|name| _ = counters.remove(&format!("status.{name}")));
    }
    if let Some(metrics) = try_query(session, "select * from information_schema.INNODB_METRICS")? {
        named_numbers("innodb_metrics", &enabled(metrics), "NAME", "COUNT", &mut counters);
        TOLD_AS_STATUS.iter().for_each(|name| _ = counters.remove(&format!("innodb_metrics.{name}")));
    }
    if let Some(answer) = try_query(session, "show engine innodb status")? {
        let text = answer.rows.first().and_then(|row| row.last()?.as_deref()).unwrap_or_default();
        counters.extend(innodb_status::parse(text));
    }
    for view in ROCKSDB {
        if let Some(answer) = try_query(session, &format!("select * from information_schema.{view}"))? {
            named_numbers(&view.to_lowercase(), &answer, "STAT_TYPE", "VALUE", &mut counters);
        }
    }
    if let Some(waits) = try_query(session, WAITS)? {
        named_numbers("wait_count", &waits, "NAME", "WAITS", &mut counters);
        named_numbers("wait_micros", &waits, "NAME", "MICROS", &mut counters);
    }
    sizes(session, &mut counters)?;
    if let Some(logs) = try_query(session, "show binary logs")? {
        counters.insert("binlog.bytes".to_owned(), sum(&logs, "File_size").unwrap_or(0.0));
    }
    Ok(counters)
}

/// Sizes of tables, indexes and their files.
fn sizes(session: &mut Session, counters: &mut Counters) -> Result<(), WireError> {
    // MySQL repeats the sizes that it gave last for a day, from 8.0 on; only there the variable exists.
    try_query(session, "set session information_schema_stats_expiry = 0")?;
    if let Some(tables) = try_query(session, TABLES)? {
        add_columns("tables", &tables, &tables.columns, counters);
    }
    for view in TABLESPACES {
        let files = format!("select * from information_schema.{view} where NAME like concat(database(), '/%')");
        if let Some(files) = try_query(session, &files)? {
            for (column, name) in [("FILE_SIZE", "file_bytes"), ("ALLOCATED_SIZE", "allocated_bytes")] {
                counters.extend(sum(&files, column).map(|bytes| (format!("tablespaces.{name}"), bytes)));
            }
        }
    }
    Ok(())
}

pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The place of a column; servers do not agree on the case of its name.
pub(crate) fn place(table: &Table, column: &str) -> Option<usize> {
    table.columns.iter().position(|name| name.eq_ignore_ascii_case(column))
}

/// Adds the rows of a view that has a name and a number in each; rows of one name are summed.
fn named_numbers(view: &str, table: &Table, names: &str, numbers: &str, counters: &mut Counters) {
    let (Some(names), Some(numbers)) = (place(table, names), place(table, numbers)) else { return };
    let cell = |row: &'_ [Option<String>], at: usize| row.get(at).cloned().flatten();
    for row in &table.rows {
        let (Some(name), Some(value)) = (cell(row, names), cell(row, numbers)) else { continue };
        if let Some(value) = number(&value) {
            *counters.entry(format!("{view}.{name}")).or_insert(0.0) += value;
        }
    }
}

/// The metrics that the server counts: `STATUS` is `enabled`, or `ENABLED` is 1 in newer MariaDB.
fn enabled(mut metrics: Table) -> Table {
    let state = place(&metrics, "STATUS").or_else(|| place(&metrics, "ENABLED"));
    let is_on = |row: &Vec<Option<String>>| matches!(row.get(state?)?.as_deref(), Some("enabled" | "1")).then_some(());
    metrics.rows.retain(|row| is_on(row).is_some());
    metrics
}

/// The sum of a column, if it has a number.
fn sum(table: &Table, column: &str) -> Option<f64> {
    let at = place(table, column)?;
    table.rows.iter().filter_map(|row| number(row.get(at)?.as_deref()?)).reduce(|sum, number| sum + number)
}

fn add_columns(view: &str, table: &Table, columns: &[String], counters: &mut Counters) {
    for column in columns {
        counters.extend(sum(table, column).map(|value| (format!("{view}.{column}"), value)));
    }
}

#[cfg(test)]
mod tests;
