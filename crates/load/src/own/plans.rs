//! The plans of a test's statements, as a server has them now.
//!
//! In: a target, a test, what its sources hold. Out: a plan for each statement, with values that are the same on every
//! build. A server may run parts of a statement to plan it, so asking takes no longer than the statement may. Those of
//! scripts, `scripts` asks for, others `steps`.

mod explained;
mod scripts;
mod steps;

use crate::error::LoadError;
use crate::program::own::Inputs;
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Work};
use rqps_wire::Target;

/// The plan of each statement; one that cannot be explained, or not in time, says why in its place.
pub fn plans(target: &Target, own: &Own, test: &OwnTest, inputs: &Inputs) -> Result<Vec<StatementPlan>, LoadError> {
    match &test.work {
        Work::Pgbench(scripts) => scripts::plans(target, own, test, scripts),
        Work::Steps(_) | Work::Mix(_) => steps::plans(target, own, test, inputs),
    }
}
