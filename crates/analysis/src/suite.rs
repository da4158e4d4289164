//! What suites differ in when their results are compared: what a test is called, and what is published of it.
//!
//! In: a plan, samples. Out: what findings say of the suite. The only file of this crate that asks for the suite;
//! everything else follows from stages, units and records.

mod insert;
mod tproc_c;

use crate::findings::{InsertColumns, TransactionFindings};
use crate::read::measured::Measured;
use rqps_model::plan::{Plan, SuitePlan};

/// The columns that are published of a test, where the suite has such.
pub(crate) fn columns(plan: &Plan, rounds: &[Option<Measured>], throughput: Option<f64>) -> Option<InsertColumns> {
    match &plan.suite {
        SuitePlan::Insert(_) => insert::columns(rounds, throughput),
        SuitePlan::Sysbench(_) | SuitePlan::TprocC(_) | SuitePlan::Own(_) => None,
    }
}

/// What transactions did by type, where the suite has several, and whether tables are consistent.
pub(crate) fn transactions(plan: &Plan, rounds: &[Option<Measured>]) -> Option<TransactionFindings> {
    match &plan.suite {
        SuitePlan::TprocC(_) => tproc_c::transactions(rounds),
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::Own(_) => None,
    }
}
