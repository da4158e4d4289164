//! The plans of a test's statements, as a server has them now.
//!
//! In: a target, a test, what its sources hold. Out: a plan for each statement, with values that are the same on every
//! build. A server may run parts of a statement to plan it, so asking takes no longer than the statement may. Those of
//! scripts, `scripts` asks for.

mod explained;
mod scripts;

use super::{database, dialect};
use crate::error::LoadError;
use crate::plan_capture::{Explainer, SEED};
use crate::program::own::{Arm, Inputs};
use explained::{sending, untold, with_values};
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Work};
use rqps_wire::{Target, WireError};

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
