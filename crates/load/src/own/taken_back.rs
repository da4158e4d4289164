//! Statements that are executed before a test, in a transaction that is rolled back.
//!
//! In: a statement. Out: whether it has a plan, and whether a ROLLBACK takes it back.

use rqps_sql::{Dialect, first_word};
use rqps_wire::{Protocol, Target};

/// Words with which statements begin that have a plan. On MySQL others would end the transaction.
const WITH_PLAN: [&str; 8] = ["SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

/// Whether a statement has a plan, by its first word.
pub(super) fn has_plan(sql: &str, dialect: Dialect) -> bool {
    WITH_PLAN.contains(&first_word(sql, dialect).as_str())
}

/// Whether a ROLLBACK takes back what a statement does.
pub(super) fn is_taken_back(sql: &str, target: &Target, dialect: Dialect) -> bool {
    target.endpoint.protocol() == Protocol::Postgres || has_plan(sql, dialect)
}
