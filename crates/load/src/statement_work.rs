//! Counting what statements of a test make a server do, apart from its clients.
//!
//! In: a target, events that a suite executes in a session. Out: what the server counted of each statement, as
//! [`StatementWork`]. Which statements make an event, a suite knows: `program/sysbench`, `program/tproc_c`,
//! `program/insert` and `own` have a `statement_work` each. Values come from a fixed seed, so that all builds do the
//! same.

mod counter;
mod event;
mod mysql;
mod postgres;

pub(crate) use counter::{Counter, Counts, Execution, Preparation};
pub(crate) use event::in_savepoint;

use crate::error::LoadError;
use event::rolled_back;
use rqps_model::statement_work::StatementWork;
use rqps_wire::{Protocol, Session, Target};
use std::time::{Duration, Instant};

/// Events before those that are counted: PostgreSQL settles on a plan at the sixth, and the server has everything open.
const BEFORE: u32 = 6;
/// Events that are counted.
const COUNTED: u32 = 20;
/// No event begins after this time; a statement may be slow.
const LONGEST: Duration = Duration::from_secs(30);

/// The counter of a server. Of each kind it is told how it is prepared, where it is.
pub(crate) fn counter(
    session: &mut Session,
    target: &Target,
    kinds: Vec<Option<Preparation>>,
) -> Result<Box<dyn Counter>, LoadError> {
    Ok(match target.endpoint.protocol() {
        Protocol::Postgres => Box::new(postgres::Explained::new(session, target, kinds)?),
        Protocol::Mysql => Box::new(mysql::Status::new(session)?),
    })
}

/// An event that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) number: u32,
    /// Whether what its statements do is counted.
    pub(crate) is_counted: bool,
}

/// The events to be executed, one after the other until the time is over.
pub(crate) fn events_due() -> impl Iterator<Item = Due> {
    let begun = Instant::now();
    let numbers = (0..BEFORE + COUNTED).take_while(move |_| begun.elapsed() < LONGEST);
    numbers.map(|number| Due { number, is_counted: number >= BEFORE })
}

/// Executes events by turns, one of each unit, each in a transaction that is rolled back. What `event` returns for a
/// unit and a number is handed on if it is one of those that are counted. Of a unit that the server refuses, no other
/// event is executed: returned is why, by unit.
pub(crate) fn count_events<T>(
    session: &mut Session,
    target: &Target,
    units: usize,
    mut event: impl FnMut(&mut Session, usize, u32) -> Result<T, LoadError>,
    mut counted: impl FnMut(usize, T),
) -> Result<Vec<Option<String>>, LoadError> {
    let mut refused = vec![None; units];
    for Due { number, is_counted } in events_due() {
        for (unit, refused) in refused.iter_mut().enumerate().filter(|(_, refused)| refused.is_none()) {
            match rolled_back(session, target, |session| event(session, unit, number))? {
                Ok(found) if is_counted => counted(unit, found),
                Ok(_) => {}
                Err(why) => *refused = Some(why),
            }
        }
    }
    Ok(refused)
}

/// Work of which nothing was counted yet.
pub(crate) fn none(statement: &str) -> StatementWork {
    StatementWork { statement: statement.to_owned(), ..Default::default() }
}

/// Work, or in its place why a server refused it.
pub(crate) fn told(work: StatementWork, refused: Option<String>) -> StatementWork {
    match refused {
        Some(why) => StatementWork { untold: Some(why), ..none(&work.statement) },
        None => work,
    }
}

/// Adds what one execution did.
pub(crate) fn add(work: &mut StatementWork, counts: Counts) {
    work.executions += 1;
    for (name, amount) in counts {
        *work.counts.entry(name).or_default() += amount;
    }
}
