//! What suites differ in when their results are compared: what a test is called, and what is published of it.
//!
//! In: a plan, samples. Out: what findings say of the suite. The only file of this crate that asks for the suite;
//! everything else follows from stages, units and records.

mod insert;

use crate::findings::InsertColumns;
use crate::read::measured::Measured;
use rqps_model::plan::{Plan, SuitePlan};

/// The columns that are published of a test, where the suite has such.
pub(crate) fn columns(plan: &Plan, rounds: &[Option<Measured>], throughput: Option<f64>) -> Option<InsertColumns> {
    match &plan.suite {
        SuitePlan::Insert(_) => insert::columns(rounds, throughput),
        SuitePlan::Sysbench(_) => None,
    }
}
