//! The plans of a test's statements, as a server has them now.
//!
//! In: a target, a test, what its sources hold. Out: a plan for each statement, with values that are the same on every
//! build.

use super::{database, dialect};
use crate::error::LoadError;
use crate::plan_capture::{Explainer, SEED};
use crate::program::own::{Arm, Inputs};
use crate::session::{connect, execute};
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Work};
use rqps_wire::{Protocol, Target};

/// The plan of each statement; a statement that cannot be explained says why in its place.
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
    let mut session = connect(&target.endpoint)?;
    for sql in database::session_statements(&own.data, target) {
        execute(&mut session, &sql)?;
    }
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
        let told = told.unwrap_or_else(|error| format!("not told: {error}").into());
        plans.push(told.of(statement.kind.clone(), statement.sql.clone()));
    }
    Ok(plans)
}
