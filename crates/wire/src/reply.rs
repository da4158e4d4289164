//! What a server answers, in the two depths that this crate knows: a [`Table`] of text for
//! the control plane, a [`Reply`] of counts for the timed path.
//!
//! In: nothing but values found by the protocol modules. It must not parse frames.

use rqps_model::sample::FailureClass;
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
    pub error: Option<ErrorCode>,
    /// The state of the session's transaction after the statement.
    pub in_transaction: TransactionStatus,
}

/// The state of a session's transaction, as the server gives it with a reply.
///
/// PostgreSQL gives it always; MySQL gives it unless the statement fails, and then it is what it was before, or idle
/// for the victim of a deadlock.
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
    /// What MySQL says when an error has no code of its own.
    pub(crate) const GENERAL: SqlState = SqlState(*b"HY000");

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

/// What identifies an error: its SQLSTATE and, on engines that number their errors, the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode {
    /// The SQLSTATE.
    pub state: SqlState,
    /// MySQL's errno; 0 for PostgreSQL, which has none.
    pub number: u16,
}

impl ErrorCode {
    /// MySQL's errno of a transaction that was chosen as the victim of a deadlock; on RocksDB also of one whose row
    /// changed since its snapshot, which then stays open.
    pub const DEADLOCK_NUMBER: u16 = 1213;
    /// MySQL's errno of a lock that did not come in time.
    pub const LOCK_WAIT_TIMEOUT_NUMBER: u16 = 1205;
    /// MySQL's errno of a row that changed since it was read, as MariaDB's snapshot isolation and RocksDB say.
    pub const RECORD_CHANGED_NUMBER: u16 = 1020;
    /// MySQL's errno of a statement that KILL QUERY broke off.
    pub const INTERRUPTED_NUMBER: u16 = 1317;
    /// What such a statement is said to have failed with where the client itself had it broken off, because it took too
    /// long: MySQL's errno with the SQLSTATE that PostgreSQL has for it, so that no server's code is the same.
    pub const OVERDUE: ErrorCode = ErrorCode { state: SqlState(*b"57014"), number: Self::INTERRUPTED_NUMBER };
    /// MySQL's errno of a statement that the server's end broke off.
    pub const SERVER_SHUTDOWN_NUMBER: u16 = 1053;
    /// MariaDB's errno of a connection that somebody ended.
    pub const CONNECTION_KILLED_NUMBER: u16 = 1927;

    /// Its class.
    pub fn class(self) -> FailureClass {
        FailureClass::of(self.state.as_str(), self.number)
    }

    /// Whether the same work may succeed when it is tried again.
    pub fn is_transient(self) -> bool {
        match self.number {
            0 => matches!(self.state, SqlState::SERIALIZATION_FAILURE | SqlState::DEADLOCK_DETECTED),
            number => {
                matches!(number, Self::DEADLOCK_NUMBER | Self::LOCK_WAIT_TIMEOUT_NUMBER | Self::RECORD_CHANGED_NUMBER)
            }
        }
    }

    /// Whether the statement or its values are at fault, by the class of the SQLSTATE: what a server refuses with it
    /// says nothing against the server. Lack of memory or disk, a broken table and whatever has no class of its own do.
    pub fn blames_statement(self) -> bool {
        matches!(
            &self.state.0[..2],
            b"07" | b"0A" | b"21" | b"22" | b"23" | b"25" | b"2F" | b"3D" | b"3F" | b"42" | b"44"
        )
    }

    /// Whether the server ended the session with it: it was to stop, or another of its processes died. What it was
    /// about may have been done all the same, since the end can come between a commit and its answer.
    pub fn ends_session(self) -> bool {
        match self.number {
            0 => self.state.0.starts_with(b"57P"),
            number => matches!(number, Self::SERVER_SHUTDOWN_NUMBER | Self::CONNECTION_KILLED_NUMBER),
        }
    }
}

/// PostgreSQL's codes have no number.
impl From<SqlState> for ErrorCode {
    fn from(state: SqlState) -> ErrorCode {
        ErrorCode { state, number: 0 }
    }
}

/// `40P01`, or `1213 (40001)`.
impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => write!(f, "{}", self.state),
            number => write!(f, "{number} ({})", self.state),
        }
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ErrorCode({self})")
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

    #[test]
    fn a_server_is_in_no_doubt_where_a_statement_is_at_fault() {
        let code = |state: &[u8; 5], number| ErrorCode { state: SqlState(*state), number };
        for sound in [code(b"42P01", 0), code(b"22012", 0), code(b"42S02", 1146), code(b"23000", 1062)] {
            assert!(sound.blames_statement(), "{sound}");
        }
        for doubtful in [code(b"53100", 0), code(b"XX001", 0), code(b"HY000", 1114), ErrorCode::OVERDUE] {
            assert!(!doubtful.blames_statement(), "{doubtful}");
        }
    }

    #[test]
    fn only_what_the_client_broke_off_took_too_long() {
        let foreign = ErrorCode { state: SqlState(*b"70100"), number: ErrorCode::INTERRUPTED_NUMBER };
        assert_eq!((foreign.class(), ErrorCode::OVERDUE.class()), (FailureClass::Other, FailureClass::Timeout));
        assert_eq!(ErrorCode::OVERDUE.to_string(), "1317 (57014)");
    }

    #[test]
    fn error_codes_are_shown_with_their_number_and_know_what_may_be_tried_again() {
        for (state, number, shown, is_transient) in [
            (b"40P01", 0, "40P01", true),
            (b"40001", 0, "40001", true),
            (b"23505", 0, "23505", false),
            (b"40001", 1213, "1213 (40001)", true),
            (b"HY000", 1205, "1205 (HY000)", true),
            (b"HY000", 1020, "1020 (HY000)", true),
            (b"23000", 1062, "1062 (23000)", false),
            (b"57P02", 0, "57P02", false),
            (b"08S01", 1053, "1053 (08S01)", false),
        ] {
            let code = ErrorCode { state: SqlState(*state), number };
            assert_eq!((code.to_string().as_str(), code.is_transient()), (shown, is_transient));
            assert_eq!(code.ends_session(), shown.starts_with("57P") || number == 1053);
        }
    }
}
