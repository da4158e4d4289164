//! What a server answers, in the two depths that this crate knows: a [`Table`] of text for
//! the control plane, a [`Reply`] of counts for the timed path.
//!
//! In: nothing but values found by the protocol modules. It must not parse frames.

use std::fmt;

/// A result set as text, for the control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The column names.
    pub columns: Vec<String>,
    /// The rows; `None` is SQL's NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Table {
    /// The first value of the first row, which is what `select f()` asks for.
    pub fn single(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// The reply to one submitted statement, counted and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The rows received.
    pub rows: u64,
    /// The count in the command tags: rows inserted, updated, deleted, merged or copied, and for
    /// a SELECT the rows returned.
    pub affected: u64,
    /// The bytes received.
    pub bytes: u64,
    /// The code of the first error, if the statement failed.
    pub error: Option<SqlState>,
    /// The state of the session's transaction after the statement.
    pub in_transaction: TransactionStatus,
}

/// The state of a session's transaction, as ReadyForQuery tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Outside a transaction block.
    Idle,
    /// Inside a transaction block.
    InTransaction,
    /// Inside a transaction block that failed: everything but ROLLBACK will be refused.
    Failed,
}

/// A five-character SQLSTATE code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SqlState(pub [u8; 5]);

impl SqlState {
    /// A transaction could not be serialised and may be retried.
    pub const SERIALIZATION_FAILURE: SqlState = SqlState(*b"40001");
    /// A transaction was chosen as the victim of a deadlock and may be retried.
    pub const DEADLOCK_DETECTED: SqlState = SqlState(*b"40P01");
    /// A key exists already.
    pub const UNIQUE_VIOLATION: SqlState = SqlState(*b"23505");
    /// The server is starting up or shutting down.
    pub const CANNOT_CONNECT_NOW: SqlState = SqlState(*b"57P03");

    /// The code as text; characters that are not printable ASCII are shown as `?`.
    pub fn as_str(&self) -> &str {
        if self.0.iter().all(u8::is_ascii_graphic) {
            std::str::from_utf8(&self.0).expect("printable ASCII is UTF-8")
        } else {
            "?????"
        }
    }

    /// A code from what a server sent, which may be anything.
    pub(crate) fn from_field(text: &[u8]) -> SqlState {
        SqlState(text.try_into().unwrap_or(*b"?????"))
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlState({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_any_bytes_is_shown_as_five_characters() {
        assert_eq!(SqlState(*b"40P01").to_string(), "40P01");
        assert_eq!(SqlState(*b"\xff\0abc").to_string(), "?????");
        assert_eq!(SqlState::from_field(b"12").to_string(), "?????");
    }
}
