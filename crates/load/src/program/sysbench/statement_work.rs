//! What each kind of statement of a test makes a server do, apart from its clients.
//!
//! In: a target, a test, the data's shape. Out: [`StatementWork`] of each kind. Whole events are executed in the order
//! in which a client sends them, on the first table, in one transaction that is rolled back: what a statement finds is
//! what it finds in the test, and the rows stay as they are. The work of BEGIN and COMMIT is not in it.

use super::render::render_events;
use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::plan_capture::postgres::types;
use crate::program::Literals;
use crate::random::{Purpose, stream};
use crate::session::{connect, execute};
use crate::statement_work::{Execution, Preparation, add, counter, events_due, none};
use rqps_model::plan::DataShape;
use rqps_model::statement_work::StatementWork;
use rqps_suites::{StatementKind, Test};
use rqps_wire::{Protocol, Target};

/// The work of a test's statements; of kinds that had no time to be counted, none.
pub fn statement_work(target: &Target, test: &Test, data: DataShape) -> Result<Vec<StatementWork>, LoadError> {
    let (engine, protocol) = (target.engine(), target.endpoint.protocol());
    let random = stream(SEED, Purpose::StatementWork, 0, 0);
    let mut next_event = render_events(test, DataShape { tables: 1, ..data }, protocol, random)?;
    let mut session = connect(&target.endpoint)?;
    // One for all events, and not one for each as `count_events` has them: in the test the next one finds the rows as
    // the one before left them. These statements no server refuses, so that none need be taken back by itself.
    execute(&mut session, "BEGIN")?;
    let is_prepared = |kind: &StatementKind| !kind.text && protocol == Protocol::Postgres;
    let preparation = |kind: &StatementKind| -> Option<Preparation> {
        is_prepared(kind).then(|| (kind.sql(test.range, 1, engine), types(kind, test.range)))
    };
    let mut counter = counter(&mut session, target, test.kinds.iter().map(preparation).collect())?;
    let pieces: Vec<Vec<String>> = test.kinds.iter().map(|kind| kind.pieces(test.range, 1, engine)).collect();
    let mut work: Vec<StatementWork> = test.kinds.iter().map(|kind| none(&kind.kind)).collect();
    for due in events_due() {
        for (kind, values) in next_event() {
            let counts = counter.count(&mut session, kind, &execution(values, &pieces[kind]))?;
            if due.is_counted {
                add(&mut work[kind], counts);
            }
        }
    }
    execute(&mut session, "ROLLBACK")?;
    work.retain(|one| one.executions > 0);
    Ok(work)
}

fn execution(values: Literals, pieces: &[String]) -> Execution {
    Execution { literals: values.list.clone(), text: values.written_out(pieces) }
}
