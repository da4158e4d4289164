//! Work done on a server between tests, by name.
//!
//! In: a [`Work`], a target, the data's shape. Out: the seconds it took, and what was left undone. What the published
//! driver does between tests is here without its idle waiting: there, `postwrite` sleeps until a minimum time has
//! passed so that the server writes back by itself; here the writing is forced, and then it is done.

mod mysql;
mod postgres;
mod settle;

pub(crate) use mysql::analyze;
pub(crate) use postgres::{checkpoint, provide_prewarm};
pub(crate) use settle::{Wish, settle};

use crate::error::LoadError;
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::{Endpoint, Protocol, Session, Target};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long connecting may take.
pub(crate) const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Tables that are worked on at once.
const PARALLEL_MAX: u32 = 8;

/// What became of a work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worked {
    /// The seconds it took.
    pub seconds: f64,
    /// What was not reached in the time allowed, such as pages that are still dirty: the test runs nevertheless.
    pub left: Option<String>,
}

/// Does the work on every table.
pub fn work(name: Work, target: &Target, data: DataShape) -> Result<Worked, LoadError> {
    let begun = Instant::now();
    let left = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::work(name, &target.endpoint, data).map(|()| None)?,
        Protocol::Mysql => mysql::work(name, target, data)?,
    };
    Ok(Worked { seconds: begun.elapsed().as_secs_f64(), left })
}

/// What is due on a server before and after every test, whatever the plan says.
pub fn between_tests(target: &Target) -> Result<(), LoadError> {
    match target.endpoint.protocol() {
        Protocol::Postgres => Ok(()),
        Protocol::Mysql => mysql::reset_binlog(target),
    }
}

/// Runs `act` for every table, several at once; after one has failed no other is begun.
pub(crate) fn on_tables(
    endpoint: &Endpoint,
    data: DataShape,
    act: impl Fn(&mut Session, &str) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    let next = AtomicU32::new(1);
    let act_on_some = || -> Result<(), LoadError> {
        let mut session = connect(endpoint)?;
        loop {
            let table = next.fetch_add(1, Ordering::Relaxed);
            if table > data.tables {
                return Ok(());
            }
            act(&mut session, &rqps_suites::table_name(table))?;
        }
    };
    let run = || act_on_some().inspect_err(|_| next.store(data.tables.saturating_add(1), Ordering::Relaxed));
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

/// Executes a statement. What it is for the caller says: it serves loading as well as any work.
pub(crate) fn execute(session: &mut Session, sql: &str) -> Result<(), LoadError> {
    session.execute(sql).map_err(LoadError::wire("executing a statement"))?;
    Ok(())
}
