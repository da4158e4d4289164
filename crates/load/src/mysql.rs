//! Single values from a MySQL or MariaDB server.
//!
//! In: a session. Out: the values of variables and of questions with one answer. It changes nothing.

use crate::error::LoadError;
use rqps_model::Engine;
use rqps_wire::{Protocol, Session};

/// An engine that speaks a protocol, for the forms of statements, which are the same on MySQL and MariaDB.
pub(crate) const fn engine(protocol: Protocol) -> Engine {
    match protocol {
        Protocol::Postgres => Engine::Postgres,
        Protocol::Mysql => Engine::Mysql,
    }
}

/// The rows of a question.
pub(crate) fn rows(session: &mut Session, sql: &str) -> Result<Vec<Vec<Option<String>>>, LoadError> {
    Ok(session.query(sql).map_err(LoadError::wire("asking the server"))?.rows)
}

/// The one value that a question asks for.
pub(crate) fn single(session: &mut Session, sql: &str) -> Result<String, LoadError> {
    let first = rows(session, sql)?.into_iter().next().and_then(|row| row.into_iter().next());
    first.flatten().ok_or_else(|| LoadError::Shape(format!("the server has no answer to {sql}")))
}

/// A global variable, if this version has it.
pub(crate) fn variable(session: &mut Session, name: &str) -> Result<Option<String>, LoadError> {
    named(session, "VARIABLES", name)
}

/// A global status value, if this version has it.
pub(crate) fn status(session: &mut Session, name: &str) -> Result<Option<String>, LoadError> {
    named(session, "STATUS", name)
}

fn named(session: &mut Session, what: &str, name: &str) -> Result<Option<String>, LoadError> {
    let found = rows(session, &format!("SHOW GLOBAL {what} LIKE '{name}'"))?;
    Ok(found.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten())
}
