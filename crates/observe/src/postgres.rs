//! PostgreSQL's own counters, before and after a test.
//!
//! In: a session to a server. Out: numbers by name, `view.column`. Whole views are selected and their numeric columns
//! taken, so that one reader serves every version from 12 on: views and columns that a version lacks are simply not
//! there, new ones appear under their own names. Rows of a view are summed.
//!
//! A backend hands its counters over when it is idle for a second or ends, and before version 15 a collector publishes
//! them up to half a second later: read `after` when the load's sessions are closed.

pub(crate) mod monitor;
pub(crate) mod waits;

use crate::counters::Counters;
use rqps_wire::{Session, Table, WireError};

/// The views, with the rows that belong to the measured database.
const VIEWS: [(&str, &str); 8] = [
    ("pg_stat_database", "where datname = current_database()"),
    ("pg_stat_bgwriter", ""),
    ("pg_stat_checkpointer", ""),
    ("pg_stat_wal", ""),
    ("pg_stat_io", ""),
    ("pg_stat_user_tables", ""),
    ("pg_stat_user_indexes", ""),
    ("pg_statio_user_tables", ""),
];

/// Columns that hold numbers but count nothing: identities and the size of a block.
const NOT_COUNTED: [&str; 5] = ["datid", "relid", "indexrelid", "op_bytes", "datlastsysoid"];

/// The physical state, which has no statistics view.
const PHYSICAL: [(&str, &str); 3] = [
    (
        "pg_class",
        "select sum(relpages) as relpages, sum(relallvisible) as relallvisible, sum(greatest(reltuples, 0)) as reltuples
         from pg_catalog.pg_class where relkind = 'r' and oid >= 16384",
    ),
    (
        "relations",
        "select pg_catalog.pg_database_size(current_database()) as database_bytes,
         sum(pg_catalog.pg_relation_size(oid)) filter (where relkind = 'r') as table_bytes,
         sum(pg_catalog.pg_relation_size(oid)) filter (where relkind = 'i') as index_bytes
         from pg_catalog.pg_class where relkind in ('r', 'i') and oid >= 16384",
    ),
    (
        "wal",
        "select case when pg_catalog.pg_is_in_recovery() then null
         else pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0') end as lsn_bytes",
    ),
];

/// The size of the measured database.
pub(crate) const DATABASE_BYTES: &str = "select pg_catalog.pg_database_size(current_database()) as database_bytes";

/// Reads every counter that this server has.
pub(crate) fn read(session: &mut Session) -> Result<Counters, WireError> {
    let names = VIEWS.map(|(view, _)| format!("'{view}'")).join(", ");
    let present = session.query(&format!(
        "select relname from pg_catalog.pg_class
         where relnamespace = 'pg_catalog'::regnamespace and relname in ({names})"
    ))?;
    let is_present = |view: &str| present.rows.iter().flatten().any(|name| name.as_deref() == Some(view));
    let mut counters = Counters::new();
    for (view, rows) in VIEWS.into_iter().filter(|(view, _)| is_present(view)) {
        let table = session.query(&format!("select * from pg_catalog.{view} {rows}"))?;
        sum_columns(view, &table, &mut counters);
    }
    for (name, sql) in PHYSICAL {
        sum_columns(name, &session.query(sql)?, &mut counters);
    }
    Ok(counters)
}

/// Adds the numeric columns of all rows; text, times and NULL are no numbers.
fn sum_columns(view: &str, table: &Table, counters: &mut Counters) {
    for (at, column) in table.columns.iter().enumerate().filter(|(_, name)| !NOT_COUNTED.contains(&name.as_str())) {
        let numbers = table.rows.iter().filter_map(|row| row.get(at)?.as_deref()?.parse::<f64>().ok());
        let finite: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
        if !finite.is_empty() {
            counters.insert(format!("{view}.{column}"), finite.into_iter().sum());
        }
    }
}

#[cfg(test)]
mod tests;
