//! Work done on a server between tests, by name.
//!
//! In: a [`Work`], an endpoint and the data's shape. Out: the seconds it took. What the published driver does between tests is
//! here without its idle waiting: there, `postwrite` sleeps until a minimum time has passed so that the server writes
//! back by itself; here the writing is forced by VACUUM and CHECKPOINT, and then it is done.

use crate::error::LoadError;
use crate::suite::Work;
use rqps_model::plan::DataShape;
use rqps_wire::{Endpoint, Session};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long connecting may take.
pub(crate) const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Tables that are worked on at once.
const PARALLEL_MAX: u32 = 8;

/// Does the work on every table and returns the seconds it took.
pub fn work(name: Work, endpoint: &Endpoint, data: DataShape) -> Result<f64, LoadError> {
    let begun = Instant::now();
    match name {
        Work::Vacuum => on_tables(endpoint, data, |session, table| execute(session, &format!("VACUUM {table}")))?,
        Work::Analyze => on_tables(endpoint, data, |session, table| execute(session, &format!("ANALYZE {table}")))?,
        Work::Checkpoint => checkpoint(endpoint)?,
        Work::Postwrite => {
            // Both options are known to every version from 12 on.
            on_tables(endpoint, data, |session, table| {
                execute(session, &format!("VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}"))
            })?;
            checkpoint(endpoint)?;
        }
        Work::Warm => {
            let prewarms = provide_prewarm(endpoint)?;
            on_tables(endpoint, data, |session, table| warm(session, table, prewarms))?;
        }
    }
    Ok(begun.elapsed().as_secs_f64())
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

/// Runs `act` for every table, several at once.
pub(crate) fn on_tables(
    endpoint: &Endpoint,
    data: DataShape,
    act: impl Fn(&mut Session, &str) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    let next = AtomicU32::new(1);
    let run = || {
        let mut session = connect(endpoint)?;
        loop {
            let table = next.fetch_add(1, Ordering::Relaxed);
            if table > data.tables {
                return Ok(());
            }
            act(&mut session, &crate::suite::table_name(table))?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..data.tables.min(PARALLEL_MAX)).map(|_| scope.spawn(run)).collect();
        let own = run();
        let joined = others.into_iter().map(|thread| thread.join().expect("a worker does not panic"));
        joined.fold(own, Result::and)
    })
}

pub(crate) fn connect(endpoint: &Endpoint) -> Result<Session, LoadError> {
    Session::connect(endpoint, CONNECT_DEADLINE).map_err(LoadError::wire("connecting"))
}

pub(crate) fn execute(session: &mut Session, sql: &str) -> Result<(), LoadError> {
    session.execute(sql).map_err(LoadError::wire("preparing the data"))?;
    Ok(())
}
