//! The plans of a test's statements, as a server has them now.
//!
//! In: a target, a test, what its sources hold. Out: a plan for each statement, with values that are the same on every
//! build. A server may run parts of a statement to plan it, so asking takes no longer than the statement may. Those of
//! scripts, `scripts` asks for.

mod scripts;

use super::{database, dialect};
use crate::error::LoadError;
use crate::plan_capture::{Explainer, SEED, Told};
use crate::program::own::{Arm, Inputs};
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Work};
use rqps_wire::{Protocol, Session, Target, WireError};

/// The plan of each statement; one that cannot be explained, or not in time, says why in its place.
pub fn plans(target: &Target, own: &Own, test: &OwnTest, inputs: &Inputs) -> Result<Vec<StatementPlan>, LoadError> {
    if let Work::Pgbench(scripts) = &test.work {
        return scripts::plans(target, own, test, scripts);
    }
    let arm = Arm::compile(own, test, inputs, target)?;
    let mut session = database::limited(own, test, target)?;
    let dialect = dialect(target.engine());
    let mut plans = Vec::new();
    for (number, statement) in arm.prepared().iter().enumerate() {
        let told = if sending(test, target) == Sending::Simple {
            Explainer::new(&mut session, target).text(&statement.written_out(&arm.values(SEED), dialect))
        } else {
            let values = |execution| statement.literals(&arm.values(SEED ^ execution), dialect);
            with_values(&mut session, target, test, number, (&statement.sql, statement.slots.len()), &values)
        };
        let told = match told {
            // Its session waits for an answer that nobody wants any more.
            Err(LoadError::Wire { error: WireError::Deadline { .. }, .. }) => {
                database::end(&session, target)?;
                session = database::limited(own, test, target)?;
                let seconds = test.timeout_seconds;
                untold(format!("the server did not plan it within {seconds} s"))
            }
            Err(error) => untold(error),
            Ok(told) => told,
        };
        plans.push(told.of(statement.kind.clone(), statement.sql.clone()));
    }
    Ok(plans)
}

/// How a test's statements are explained: EXPLAIN of MySQL takes no values beside its text.
fn sending(test: &OwnTest, target: &Target) -> Sending {
    if target.endpoint.protocol() == Protocol::Postgres { test.protocol } else { Sending::Simple }
}

/// The plan of a statement whose values are sent beside it, on PostgreSQL: its text with markers, and how many.
fn with_values(
    session: &mut Session,
    target: &Target,
    test: &OwnTest,
    number: usize,
    (sql, markers): (&str, usize),
    values: &dyn Fn(u64) -> Vec<String>,
) -> Result<Told, LoadError> {
    let name = format!("rqps_plan_{number}");
    // The server takes the types that it infers, as in the timed part.
    let types = vec!["unknown"; markers];
    let mut explainer = Explainer::new(session, target);
    match test.protocol {
        Sending::Extended => explainer.parsed_each_time(&name, sql, &types, values),
        Sending::Prepared | Sending::Simple => explainer.prepared(&name, sql, &types, values),
    }
}

/// What stands in the place of a plan.
fn untold(why: impl std::fmt::Display) -> Told {
    format!("not told: {why}").into()
}
