//! The plans of a test's statements, as a server has them now.
//!
//! In: a target, a test, what its sources hold. Out: a plan for each statement, with values that are the same on every
//! build. A server may run parts of a statement to plan it, so asking takes no longer than the statement may.

use super::{database, dialect};
use crate::error::LoadError;
use crate::plan_capture::{Explainer, SEED};
use crate::program::own::{Arm, Inputs};
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Work};
use rqps_wire::{Protocol, Target, WireError};

/// The plan of each statement; one that cannot be explained, or not in time, says why in its place.
pub(crate) fn plans(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementPlan>, LoadError> {
    if matches!(test.work, Work::Pgbench(_)) {
        return Ok(Vec::new());
    }
    let arm = Arm::compile(own, test, inputs, target)?;
    let mut session = database::limited(own, test, target)?;
    let dialect = dialect(target.engine());
    let mut plans = Vec::new();
    for (number, statement) in arm.prepared().iter().enumerate() {
        let is_prepared = test.protocol == Sending::Prepared && target.endpoint.protocol() == Protocol::Postgres;
        let mut explainer = Explainer::new(&mut session, target);
        let told = if is_prepared {
            let types = vec!["unknown"; statement.slots.len()];
            let values = |execution| statement.literals(&arm.values(SEED ^ execution), dialect);
            explainer.prepared(&format!("rqps_plan_{number}"), &statement.sql, &types, &values)
        } else {
            explainer.text(&statement.written_out(&arm.values(SEED), dialect))
        };
        let told = match told {
            // Its session waits for an answer that nobody wants any more.
            Err(LoadError::Wire { error: WireError::Deadline { .. }, .. }) => {
                database::end(&session, target)?;
                session = database::limited(own, test, target)?;
                let seconds = test.timeout_seconds;
                format!("not told: the server did not plan it within {seconds} s").into()
            }
            Err(error) => format!("not told: {error}").into(),
            Ok(told) => told,
        };
        plans.push(told.of(statement.kind.clone(), statement.sql.clone()));
    }
    Ok(plans)
}
