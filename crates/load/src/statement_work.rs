//! What each kind of statement of a test makes a server do, apart from its clients.
//!
//! In: a target, a test, the data's shape. Out: [`StatementWork`] of each kind. Whole events are executed in the order
//! in which a client sends them, on the first table, in one transaction that is rolled back: what a statement finds is
//! what it finds in the test, and the rows stay as they are. Values come from a fixed seed, so that all builds do the
//! same. The work of BEGIN and COMMIT is not in it.

mod counter;
mod event;
mod mysql;
mod postgres;

pub(crate) use counter::{Counter, Counts, Execution, Preparation};
pub(crate) use event::{in_savepoint, rolled_back};

use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::plan_capture::postgres::types;
use crate::program::sysbench::{Rendered, render_events};
use crate::random::{Purpose, stream};
use crate::session::{connect, execute};
use rqps_model::plan::DataShape;
use rqps_model::statement_work::StatementWork;
use rqps_suites::Test;
use rqps_wire::{Protocol, Session, Target};
use std::time::{Duration, Instant};

/// Events before those that are counted: PostgreSQL settles on a plan at the sixth, and the server has everything open.
pub(crate) const BEFORE: u32 = 6;
/// Events that are counted.
pub(crate) const COUNTED: u32 = 20;
/// No event begins after this time; a statement may be slow.
pub(crate) const LONGEST: Duration = Duration::from_secs(30);

/// The work of a test's statements; of kinds that had no time to be counted, none.
pub fn statement_work(target: &Target, test: &Test, data: DataShape) -> Result<Vec<StatementWork>, LoadError> {
    let (engine, protocol) = (target.engine(), target.endpoint.protocol());
    let mut random = stream(SEED, Purpose::StatementWork, 0, 0);
    let events = render_events(test, DataShape { tables: 1, ..data }, protocol, &mut random, BEFORE + COUNTED)?;
    let mut session = connect(&target.endpoint)?;
    execute(&mut session, "BEGIN")?;
    let is_prepared = |kind: &rqps_suites::StatementKind| !kind.text && protocol == Protocol::Postgres;
    let prepared = (test.kinds.iter())
        .map(|kind| is_prepared(kind).then(|| (kind.sql(test.range, 1, engine), types(kind, test.range))));
    let mut counter = counter(&mut session, target, prepared.collect())?;
    let pieces: Vec<Vec<String>> = test.kinds.iter().map(|kind| kind.pieces(test.range, 1, engine)).collect();
    let mut work: Vec<StatementWork> = test.kinds.iter().map(|kind| none(&kind.kind)).collect();
    let begun = Instant::now();
    for (event, number) in events.into_iter().zip(0..) {
        if begun.elapsed() > LONGEST {
            break;
        }
        for (kind, values) in event {
            let counts = counter.count(&mut session, kind, &execution(values, &pieces[kind]))?;
            if number >= BEFORE {
                add(&mut work[kind], counts);
            }
        }
    }
    execute(&mut session, "ROLLBACK")?;
    work.retain(|one| one.executions > 0);
    Ok(work)
}

fn execution(values: Rendered, pieces: &[String]) -> Execution {
    Execution { literals: values.list.clone(), text: values.written_out(pieces) }
}

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
    let begun = Instant::now();
    for number in (0..BEFORE + COUNTED).take_while(|_| begun.elapsed() < LONGEST) {
        for (unit, refused) in refused.iter_mut().enumerate().filter(|(_, refused)| refused.is_none()) {
            match rolled_back(session, target, |session| event(session, unit, number))? {
                Ok(found) if number >= BEFORE => counted(unit, found),
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
