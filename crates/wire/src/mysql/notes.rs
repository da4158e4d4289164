//! What a session remembers beside results: the last error, and whether the server ended the session with it.
//!
//! In: ERR packets. Out: the same, on request. MySQL sends no notices: it counts warnings, which SHOW WARNINGS lists.

use crate::error::ServerError;
use crate::reply::ErrorCode;
use crate::rows::Rows;

/// The longest error that is read; the rest of a longer one is dropped.
pub(crate) const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Errors that end the session: ER_SERVER_SHUTDOWN, MariaDB's ER_CONNECTION_KILLED, ER_CLIENT_INTERACTION_TIMEOUT.
const FAREWELLS: [u16; 3] = [1053, 1927, 4031];

/// A session's memory.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The rows that a program asked for.
    pub(crate) rows: Rows,
    last_error: ServerError,
    has_error: bool,
    has_farewell: bool,
}

impl Notes {
    /// The last error that the server sent.
    pub(crate) fn last_error(&self) -> Option<&ServerError> {
        self.has_error.then_some(&self.last_error)
    }

    /// The error with which the server ended the session.
    pub(crate) fn last_words(&self) -> Option<&ServerError> {
        self.has_farewell.then_some(&self.last_error)
    }

    /// Reads the error of a reply; the buffer of the one before is reused.
    pub(crate) fn error(&mut self, payload: &[u8]) -> ErrorCode {
        self.last_error.read_err_packet(&payload[..payload.len().min(ERROR_BYTES_MAX)]);
        self.has_error = true;
        self.has_farewell |= FAREWELLS.contains(&self.last_error.number());
        self.last_error.error_code()
    }

    /// Reads an error that came without being asked for.
    pub(crate) fn farewell(&mut self, payload: &[u8]) {
        self.error(payload);
        self.end_with_error();
    }

    /// The last error is what the server ended the session with, as turned out later.
    pub(crate) fn end_with_error(&mut self) {
        self.has_farewell = true;
    }

    /// Remembers an error that was read elsewhere; true if the server ends the session with it.
    pub(crate) fn remember(&mut self, error: &ServerError) -> bool {
        self.last_error.clone_from(error);
        self.has_error = true;
        self.has_farewell |= FAREWELLS.contains(&error.number());
        self.has_farewell
    }
}
