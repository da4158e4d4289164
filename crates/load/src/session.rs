//! Sessions outside of timed parts: connected, used for a statement, and several of them side by side where there is
//! work on many tables.
//!
//! In: an endpoint, statements, work on one table. Out: the state of the server, the first rows of an answer, or the
//! first error.

use crate::error::LoadError;
use rqps_model::plan::DataShape;
use rqps_wire::{Endpoint, Rows, Session};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long connecting may take.
pub(crate) const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Tables that are worked on at once.
pub(crate) const PARALLEL_MAX: u32 = 8;

pub(crate) fn connect(endpoint: &Endpoint) -> Result<Session, LoadError> {
    Session::connect(endpoint, CONNECT_DEADLINE).map_err(LoadError::wire("connecting"))
}

/// Executes a statement. What it is for the caller says: it serves loading as well as any work.
pub(crate) fn execute(session: &mut Session, sql: &str) -> Result<(), LoadError> {
    session.execute(sql).map_err(LoadError::wire("executing a statement"))?;
    Ok(())
}

/// Executes a statement, and returns so many of the first rows of its answer.
pub(crate) fn first_rows(session: &mut Session, sql: &str, count: usize) -> Result<Rows, LoadError> {
    let mut sent = session.text_statement(sql.len());
    sent.set_sql(sql.as_bytes());
    sent.keep_rows(count);
    let reply = session.run(&sent).map_err(LoadError::wire("executing a statement"))?;
    match (reply.error, session.last_error()) {
        (Some(_), Some(error)) => Err(LoadError::Shape(error.to_string())),
        _ => Ok(session.kept_rows().clone()),
    }
}

/// Calls `act` for every number below `count`, on so many threads with a session each; after one has failed no other
/// is begun.
pub(crate) fn parallel_each(
    endpoint: &Endpoint,
    count: u32,
    threads: u32,
    act: impl Fn(&mut Session, u32) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    let next = AtomicU32::new(0);
    let act_on_some = || {
        let mut session = connect(endpoint)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            act(&mut session, number)?;
        }
    };
    let run = || act_on_some().inspect_err(|_| next.store(count, Ordering::Relaxed));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(run)).collect();
        let own = run();
        let joined = others.into_iter().map(|thread| thread.join().expect("a worker does not panic"));
        joined.fold(own, Result::and)
    })
}

/// Calls `act` for every table of the sysbench suite, several at once.
pub(crate) fn on_tables(
    endpoint: &Endpoint,
    data: DataShape,
    act: impl Fn(&mut Session, &str) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    parallel_each(endpoint, data.tables, PARALLEL_MAX, |session, number| {
        act(session, &rqps_suites::table_name(number + 1))
    })
}
