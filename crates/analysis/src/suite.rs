//! What suites differ in when their results are compared: what a test is called, and what is published of it.
//!
//! In: a plan, samples. Out: what findings say of the suite. The only file of this crate that asks for the suite;
//! everything else follows from stages, units and records.

mod insert;
mod own;
mod tproc_c;

use crate::findings::{Findings, InsertColumns, TransactionFindings};
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

/// Whether a build whose answers are not the base's gets no verdict.
pub(crate) fn holds_back_other_answers(plan: &Plan) -> bool {
    match &plan.suite {
        SuitePlan::Own(own) => !own.answers.may_differ,
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::TprocC(_) => false,
    }
}

/// After so many seconds a statement of a test is cancelled, where the suite says so.
pub(crate) fn timeout_seconds(plan: &Plan, test: &str) -> Option<f64> {
    match &plan.suite {
        SuitePlan::Own(own) => own.test(test).map(|test| test.timeout_seconds),
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::TprocC(_) => None,
    }
}

/// Whether what it says holds values of the user's that are nobody else's business.
pub(crate) fn is_private(suite: &SuitePlan) -> bool {
    match suite {
        SuitePlan::Own(_) => true,
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::TprocC(_) => false,
    }
}

/// Takes values of the user's out of what findings repeat of the plan.
pub(crate) fn hide(findings: &mut Findings) {
    if let SuitePlan::Own(workload) = &mut findings.campaign.suite {
        own::hide(workload);
        own::hide_definitions(&mut findings.campaign.command_line, &mut findings.campaign.campaign_toml);
    }
}
