//! Statements that are executed before a test, in a transaction that is rolled back.
//!
//! In: a statement. Out: whether a ROLLBACK takes it back, and the first row of its answer.

use crate::error::LoadError;
use rqps_sql::{Dialect, first_word};
use rqps_wire::{Protocol, Rows, Session, Target};

/// Words with which statements begin that a ROLLBACK takes back on MySQL; others would end the transaction there.
const TAKEN_BACK: [&str; 7] = ["SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE"];

/// Whether a server takes back what a statement does, by its first word; where it does not, that word.
pub(super) fn taken_back(sql: &str, target: &Target, dialect: Dialect) -> Result<(), String> {
    let word = first_word(sql, dialect);
    let is_kept = target.endpoint.protocol() == Protocol::Mysql && !TAKEN_BACK.contains(&word.as_str());
    if is_kept { Err(word) } else { Ok(()) }
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
