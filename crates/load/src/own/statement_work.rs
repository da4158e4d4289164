//! What each statement of the user's transactions makes a server do, apart from its clients.
//!
//! In: a target, a test of several statements, what its sources hold. Out: [`StatementWork`] of each statement. Every
//! event is executed in a transaction of its own that is rolled back, so that it finds the data as the test does at its
//! beginning. What an event draws comes from its number, so that all builds do the same. Of an event that a server
//! refuses, why is in the place of its statements. Those of scripts, `scripts` executes, others `steps`.

mod by_event;
mod scripts;
mod steps;

use crate::error::LoadError;
use crate::program::own::Inputs;
use rqps_model::own::{Own, OwnTest, Work};
use rqps_model::statement_work::StatementWork;
use rqps_wire::Target;

/// The work of a test's statements; nothing of a test that has only one.
pub fn statement_work(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementWork>, LoadError> {
    match &test.work {
        Work::Pgbench(scripts) => scripts::statement_work(target, own, test, scripts),
        Work::Steps(_) | Work::Mix(_) => steps::statement_work(target, own, test, inputs),
    }
}
