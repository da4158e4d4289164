//! Statements that are executed before a test, in a transaction that is rolled back.
//!
//! In: a statement. Out: whether a ROLLBACK takes it back, and the first row of its answer.

use crate::error::LoadError;
use rqps_sql::{Dialect, first_word};
use rqps_wire::{Protocol, Rows, Session, Target};

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

/// Executes a statement, and returns the first row of its answer.
pub(super) fn first_row(session: &mut Session, sql: &str) -> Result<Rows, LoadError> {
    let mut sent = session.text_statement(sql.len());
    sent.set_sql(sql.as_bytes());
    sent.keep_rows(1);
    let reply = session.run(&sent).map_err(LoadError::wire("executing a statement"))?;
    match (reply.error, session.last_error()) {
        (Some(_), Some(error)) => Err(LoadError::Shape(error.to_string())),
        _ => Ok(session.kept_rows().clone()),
    }
}
