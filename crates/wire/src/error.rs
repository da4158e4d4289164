//! Everything that can go wrong between us and a server, sorted by whose fault it is.
//!
//! In: causes found by the protocol modules. Out: [`WireError`] with the endpoint, the statement and
//! where known a remedy, and [`ServerError`], the server's own words. It must not retry or judge.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::endpoint::Protocol;
use crate::reply::{ErrorCode, SqlState};

/// A failure on the wire.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// No connection could be made.
    #[error("cannot connect to {endpoint}: {cause}; {remedy}")]
    Connect {
        /// Where to.
        endpoint: String,
        /// What the operating system said.
        cause: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The server answered and refused the login.
    #[error("{endpoint} refused user {user}: {error}{remedy}")]
    Login {
        /// Where to.
        endpoint: String,
        /// As whom.
        user: String,
        /// The server's words.
        error: Box<ServerError>,
        /// What to do about it; empty, or led by a semicolon.
        remedy: &'static str,
    },
    /// The login cannot go on from our side.
    #[error("cannot log in to {endpoint} as {user}: {detail}")]
    Authentication {
        /// Where to.
        endpoint: String,
        /// As whom.
        user: String,
        /// What is missing, with the remedy.
        detail: String,
    },
    /// The server refused a statement; the session lives on.
    #[error("{error}{remedy} (statement: {statement})")]
    Server {
        /// The server's words.
        error: Box<ServerError>,
        /// The statement, abridged.
        statement: String,
        /// What to do about it; empty, or led by a semicolon.
        remedy: &'static str,
    },
    /// The connection ended; the session is of no more use.
    #[error("lost the connection to {endpoint}: {cause} (last statement: {statement})")]
    Lost {
        /// Where to.
        endpoint: String,
        /// The last statement sent, abridged.
        statement: String,
        /// How it ended, with the server's last words if there were any.
        cause: String,
    },
    /// A blocking call took longer than allowed; the session is of no more use.
    #[error(
        "no answer from {endpoint} within {} s (statement: {statement}); raise the deadline if the statement may take longer",
        deadline.as_secs_f64()
    )]
    Deadline {
        /// Where to.
        endpoint: String,
        /// The statement, abridged.
        statement: String,
        /// The time that was allowed.
        deadline: Duration,
    },
    /// The server sent what the protocol does not allow; the session is of no more use.
    #[error("{endpoint} breaks the protocol: {detail} (last statement: {statement}); is it a {protocol} server?")]
    Protocol {
        /// Where to.
        endpoint: String,
        /// What we took it for.
        protocol: Protocol,
        /// The last statement sent, abridged.
        statement: String,
        /// What was wrong.
        detail: String,
    },
    /// A statement has another number of parameters than declared.
    #[error("{declared} parameters are declared, the server finds {found} (statement: {statement})")]
    Parameters {
        /// The statement, abridged.
        statement: String,
        /// The number that the caller declared.
        declared: usize,
        /// The number that the server found.
        found: usize,
    },
    /// The session was used out of order, which is a fault of the caller.
    #[error("{0}")]
    Misuse(&'static str),
    /// The SQL text, user, database or an option holds a NUL byte, which the protocol cannot carry.
    #[error("a NUL byte cannot be sent to a server (text: {text})")]
    Nul {
        /// The text, abridged.
        text: String,
    },
}

impl WireError {
    /// The server's code, if the server said anything.
    pub fn sql_state(&self) -> Option<SqlState> {
        match self {
            WireError::Server { error, .. } | WireError::Login { error, .. } => Some(error.code()),
            _ => None,
        }
    }

    /// The server's code with its number, if the server said anything.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            WireError::Server { error, .. } | WireError::Login { error, .. } => Some(error.error_code()),
            _ => None,
        }
    }

    /// Whether trying again a little later may help: nothing listens yet, or the server is starting up or going down.
    pub fn is_not_ready(&self) -> bool {
        /// "Server shutdown in progress" and "Server isn't available" of MySQL.
        const MYSQL_NOT_NOW: [u16; 2] = [1053, 3168];
        match self {
            WireError::Connect { .. } => true,
            WireError::Login { error, .. } => {
                error.code() == SqlState::CANNOT_CONNECT_NOW || MYSQL_NOT_NOW.contains(&error.number())
            }
            _ => false,
        }
    }
}

/// An error or notice in the server's own words (PostgreSQL's "Error and Notice Message Fields", MySQL's "ERR_Packet").
///
/// One text buffer with the fields as ranges in it, so that a session can reuse it for every error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    text: String,
    severity: Range<usize>,
    code: Option<SqlState>,
    number: u16,
    message: Range<usize>,
    detail: Range<usize>,
    hint: Range<usize>,
    context: Range<usize>,
}

impl ServerError {
    /// `ERROR`, `FATAL`, `PANIC`, or for a notice `WARNING`, `NOTICE` and so on.
    pub fn severity(&self) -> &str {
        &self.text[self.severity.clone()]
    }

    /// The SQLSTATE code.
    pub fn code(&self) -> SqlState {
        self.code.unwrap_or(SqlState(*b"?????"))
    }

    /// MySQL's errno, such as 1213; 0 for PostgreSQL.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The SQLSTATE code with the number.
    pub fn error_code(&self) -> ErrorCode {
        ErrorCode { state: self.code(), number: self.number }
    }

    /// The primary message.
    pub fn message(&self) -> &str {
        &self.text[self.message.clone()]
    }

    /// More about the error, if the server says more.
    pub fn detail(&self) -> Option<&str> {
        self.optional(&self.detail)
    }

    /// What the server advises, if anything.
    pub fn hint(&self) -> Option<&str> {
        self.optional(&self.hint)
    }

    /// Where it happened, for example in which function or at which line of a COPY.
    pub fn context(&self) -> Option<&str> {
        self.optional(&self.context)
    }

    fn optional(&self, range: &Range<usize>) -> Option<&str> {
        (!range.is_empty()).then(|| &self.text[range.clone()])
    }

    /// Replaces the content by the fields of an ErrorResponse or NoticeResponse body: a type byte and a
    /// NUL-terminated text each. A body that was cut short yields what is there.
    pub(crate) fn read(&mut self, mut body: &[u8]) {
        self.clear();
        while let Some((&field, rest)) = body.split_first()
            && field != 0
        {
            let end = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
            self.add(field, &rest[..end]);
            body = rest.get(end + 1..).unwrap_or(&[]);
        }
    }

    /// Replaces the content by an ERR packet of MySQL: a byte, the errno, a `#` with the SQLSTATE, which is missing
    /// before the login is under way, and the message. A packet that was cut short yields what is there.
    pub(crate) fn read_err_packet(&mut self, payload: &[u8]) {
        self.clear();
        let after_head = payload.get(1..).unwrap_or(&[]);
        let (number, mut message) = after_head.split_at(after_head.len().min(2));
        self.number = number.try_into().map_or(0, u16::from_le_bytes);
        self.code = Some(SqlState::GENERAL);
        if let Some((b"#", rest)) = message.split_at_checked(1)
            && let Some((state, rest)) = rest.split_at_checked(5)
        {
            self.code = Some(SqlState::from_field(state));
            message = rest;
        }
        self.add(b'S', b"ERROR");
        self.add(b'M', message);
    }

    fn clear(&mut self) {
        self.text.clear();
        self.code = None;
        self.number = 0;
        for range in [&mut self.severity, &mut self.message, &mut self.detail, &mut self.hint, &mut self.context] {
            *range = 0..0;
        }
    }

    fn add(&mut self, field: u8, value: &[u8]) {
        let range = match field {
            b'C' => {
                self.code = Some(SqlState::from_field(value));
                return;
            }
            // 'V' is 'S' without translation, comes later, and so wins.
            b'S' | b'V' => &mut self.severity,
            b'M' => &mut self.message,
            b'D' => &mut self.detail,
            b'H' => &mut self.hint,
            b'W' => &mut self.context,
            _ => return,
        };
        let start = self.text.len();
        for chunk in value.utf8_chunks() {
            self.text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        *range = start..self.text.len();
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity(), self.error_code(), self.message())?;
        for (label, part) in [("detail", self.detail()), ("hint", self.hint()), ("context", self.context())] {
            if let Some(part) = part {
                write!(f, "; {label}: {part}")?;
            }
        }
        Ok(())
    }
}

/// The longest piece of a statement that an error message repeats.
pub(crate) const ABRIDGED_BYTES: usize = 160;

/// A statement in one line, cut where it gets long.
pub(crate) fn abridge(sql: &str) -> String {
    let mut line = String::new();
    for (count, word) in sql.split_whitespace().enumerate() {
        if count > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > ABRIDGED_BYTES {
            let cut = line.floor_char_boundary(ABRIDGED_BYTES);
            line.truncate(cut);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_shown() {
        let mut error = ServerError::default();
        error.read(b"SFEHLER\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(1) exists.\0Fnbtinsert.c\0\0");
        assert_eq!(error.severity(), "ERROR");
        assert_eq!(error.code(), SqlState::UNIQUE_VIOLATION);
        assert_eq!(error.detail(), Some("Key (id)=(1) exists."));
        assert_eq!(error.hint(), None);
        assert_eq!(error.to_string(), "ERROR 23505: duplicate key; detail: Key (id)=(1) exists.");
        error.read(b"SFATAL\0C57P01\0M\xffbye\0Hcome again");
        assert_eq!(error.message(), "\u{fffd}bye");
        assert_eq!(error.detail(), None);
        assert_eq!(error.hint(), Some("come again"));
    }

    #[test]
    fn err_packets_are_read_and_shown() {
        let mut error = ServerError::default();
        error.read(b"SFATAL\0C57P01\0Hcome again\0\0");
        error.read_err_packet(b"\xff\xbd\x04#40001Deadlock found; try restarting transaction");
        assert_eq!(error.error_code(), ErrorCode { state: SqlState::SERIALIZATION_FAILURE, number: 1213 });
        assert_eq!(error.to_string(), "ERROR 1213 (40001): Deadlock found; try restarting transaction");
        error.read_err_packet(b"\xff\x10\x04Too many connections");
        assert_eq!(error.to_string(), "ERROR 1040 (HY000): Too many connections");
        for cut in [&b"\xff"[..], b"\xff\x10", b"\xff\x10\x04#080", b""] {
            error.read_err_packet(cut);
            assert!(error.to_string().contains("HY000"), "{error}");
        }
    }

    #[test]
    fn long_statements_are_cut_between_characters() {
        assert_eq!(abridge("select\n  1 "), "select 1");
        let long = abridge(&"ä".repeat(500));
        assert!(long.ends_with('…') && long.len() <= ABRIDGED_BYTES + 3);
    }
}
