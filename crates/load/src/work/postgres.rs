//! The work between tests on PostgreSQL: VACUUM, ANALYZE, CHECKPOINT, pg_prewarm.
//!
//! In: a [`Work`], an endpoint, the data's shape. Out: nothing but the state of the server. It must not choose when.

use crate::error::LoadError;
use crate::session::{connect, execute, on_tables};
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::{Endpoint, Session};

/// Does the work on every table.
pub(super) fn work(name: Work, endpoint: &Endpoint, data: DataShape) -> Result<(), LoadError> {
    match name {
        Work::Vacuum => on_tables(endpoint, data, |session, table| vacuum(session, &format!("VACUUM {table}"))),
        Work::Analyze => on_tables(endpoint, data, |session, table| execute(session, &format!("ANALYZE {table}"))),
        Work::Checkpoint => checkpoint(endpoint),
        Work::Postwrite => {
            // Both options are known to every version from 12 on.
            on_tables(endpoint, data, |session, table| {
                vacuum(session, &format!("VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}"))
            })?;
            checkpoint(endpoint)
        }
        Work::Warm => {
            let prewarms = provide_prewarm(endpoint)?;
            on_tables(endpoint, data, |session, table| warm(session, table, prewarms))
        }
        Work::ResetBinlog => Ok(()),
    }
}

/// Executes a VACUUM that leaves no page unmarked for want of a flush. With `synchronous_commit = off` the log may lag
/// by 0.6 s, and VACUUM marks no page as all-visible that has a row of a commit in the part that lags, so whichever
/// server came first after a test that writes would be left with more heap fetches for the rest of the round.
///
/// So the log of all commits so far is flushed first, and what this session commits itself is flushed at once: the
/// server keeps one position for 32 transactions, and the ANALYZE of one table would hold up the marks of another.
pub(crate) fn vacuum(session: &mut Session, sql: &str) -> Result<(), LoadError> {
    execute(session, "SET synchronous_commit = on")?;
    // A transaction that wrote nothing is not flushed.
    execute(session, "SELECT pg_logical_emit_message(true, 'rqps', '')")?;
    execute(session, sql)
}

/// Writes back what is dirty.
pub(crate) fn checkpoint(endpoint: &Endpoint) -> Result<(), LoadError> {
    execute(&mut connect(endpoint)?, "CHECKPOINT")
}

/// Whether pg_prewarm can be called, after making it callable where it is installed.
pub(crate) fn provide_prewarm(endpoint: &Endpoint) -> Result<bool, LoadError> {
    let mut session = connect(endpoint)?;
    let sql = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_prewarm'";
    let found = session.query(sql).map_err(LoadError::wire("looking for pg_prewarm"))?;
    if found.single() != Some("1") {
        return Ok(false);
    }
    execute(&mut session, "CREATE EXTENSION IF NOT EXISTS pg_prewarm")?;
    Ok(true)
}

/// Brings all tables of the user and their indexes into memory: the server's own with pg_prewarm, else the tables
/// alone.
pub(super) fn warm_all(endpoint: &Endpoint) -> Result<(), LoadError> {
    let prewarms = provide_prewarm(endpoint)?;
    let mut session = connect(endpoint)?;
    let kinds = if prewarms { "'r', 'm', 'i'" } else { "'r', 'm'" };
    let found = format!(
        "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ({kinds}) AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
    );
    let found = session.query(&found).map_err(LoadError::wire("listing the tables"))?;
    for name in found.rows.iter().filter_map(|row| row.first()?.as_deref()) {
        let sql = if prewarms {
            format!("SELECT pg_prewarm('{}')", name.replace('\'', "''"))
        } else {
            format!("SELECT count(*) FROM {name}")
        };
        execute(&mut session, &sql)?;
    }
    Ok(())
}

/// Brings a table and its indexes into memory: the server's own with pg_prewarm, else at least that of the operating
/// system, by reading all of both.
fn warm(session: &mut Session, table: &str, prewarms: bool) -> Result<(), LoadError> {
    if prewarms {
        let sql = format!(
            "SELECT pg_prewarm('{table}'::regclass); \
             SELECT sum(pg_prewarm(indexrelid::regclass)) FROM pg_index WHERE indrelid = '{table}'::regclass"
        );
        return execute(session, &sql);
    }
    let sql = format!(
        "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; \
         SELECT count(c) FROM {table}; RESET ALL; \
         SET enable_seqscan = off; SET enable_bitmapscan = off; \
         SELECT count(*) FROM {table} WHERE id > 0; SELECT count(*) FROM {table} WHERE k > 0; RESET ALL"
    );
    execute(session, &sql)
}
