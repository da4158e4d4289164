//! Asking a server for what it may not have.
//!
//! In: a session and a statement. Out: the answer, or `None` where the server refuses it, so that one list of questions
//! serves every version. It must not hide that a connection was lost.

use rqps_wire::{Session, Table, WireError};

/// A server's answer, `None` if it refuses: it has no such view, variable, function or engine.
pub(crate) fn ask(session: &mut Session, sql: &str) -> Result<Option<Table>, WireError> {
    match session.query(sql) {
        Ok(table) => Ok(Some(table)),
        Err(WireError::Server { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
