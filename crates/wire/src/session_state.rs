//! The state of a session, whatever its protocol: where it leads to, what it sent last, and whether it is of use still.
//!
//! In: statements as they are sent, and the fault that ends the session. Out: the errors that name endpoint and
//! statement. It reads and writes nothing: a session that is broken stays broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::channel::Fault;
use crate::endpoint::Endpoint;
use crate::error::{ServerError, WireError};
use crate::last_statement::LastStatement;
use crate::socket::Deadline;

/// Tells the sessions of this process apart, so that a prepared statement knows the one that it lives in. The servers'
/// own numbers will not do: each server counts by itself, and sessions to several of them are open at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionId(u64);

impl SessionId {
    /// The next number.
    pub(crate) fn next() -> SessionId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SessionId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What every session knows of itself.
#[derive(Debug)]
pub(crate) struct SessionState {
    pub(crate) id: SessionId,
    pub(crate) endpoint: Endpoint,
    /// The texts of the prepared statements, by number.
    prepared: Vec<Arc<str>>,
    pub(crate) last: LastStatement,
    /// The stream is lost or out of step.
    pub(crate) is_broken: bool,
    /// What a blocking call may take.
    pub(crate) deadline: Option<Duration>,
}

impl SessionState {
    pub(crate) fn new(endpoint: &Endpoint) -> SessionState {
        SessionState {
            id: SessionId::next(),
            endpoint: endpoint.clone(),
            prepared: Vec::new(),
            last: LastStatement::default(),
            is_broken: false,
            deadline: None,
        }
    }

    /// The deadline of a blocking call that begins now.
    pub(crate) fn start_deadline(&self) -> Deadline {
        Deadline::start(self.deadline)
    }

    /// The number that the next prepared statement gets.
    pub(crate) fn next_prepared(&self) -> u32 {
        u32::try_from(self.prepared.len()).expect("fewer than 2^32 statements")
    }

    /// Remembers the text of the next prepared statement.
    pub(crate) fn add_prepared(&mut self, sql: Arc<str>) {
        self.prepared.push(sql);
    }

    /// Remembers that a prepared statement is sent, which must be one of this session.
    #[inline]
    pub(crate) fn sends_prepared(&mut self, session: SessionId, index: u32) -> Result<(), WireError> {
        if session != self.id {
            return Err(WireError::Misuse(
                "a prepared statement was submitted to another session than its own; prepare it there too",
            ));
        }
        self.last.set_prepared(index);
        Ok(())
    }

    pub(crate) fn last_statement(&self) -> String {
        self.last.show(|index| &self.prepared[index as usize])
    }

    /// The error for a call that comes out of order.
    #[cold]
    pub(crate) fn unusable(&self) -> WireError {
        if self.is_broken {
            self.lost("the session was given up after an earlier error; connect anew".to_owned())
        } else {
            WireError::Misuse("the session still waits for a reply: receive it first")
        }
    }

    /// The error for a statement that the server refused.
    pub(crate) fn refused(&self, error: Box<ServerError>, remedy: &'static str) -> WireError {
        WireError::Server { error, statement: self.last_statement(), remedy }
    }

    /// Marks the session as broken and says why. If the connection was fine until now, `last_words` gives what the
    /// server said when it ended it.
    #[cold]
    pub(crate) fn give_up(&mut self, fault: Fault, last_words: impl FnOnce() -> Option<String>) -> WireError {
        let was_broken = std::mem::replace(&mut self.is_broken, true);
        let (endpoint, statement) = (self.endpoint.to_string(), self.last_statement());
        match fault {
            Fault::TimedOut { allowed } => WireError::Deadline { endpoint, statement, deadline: allowed },
            Fault::Protocol(detail) => {
                WireError::Protocol { endpoint, protocol: self.endpoint.protocol(), statement, detail }
            }
            Fault::Io(_) | Fault::Closed => {
                let words = if was_broken { None } else { last_words() };
                self.lost(match words {
                    None => fault.to_string(),
                    Some(words) => format!("{fault}; the server said: {words}"),
                })
            }
        }
    }

    fn lost(&self, cause: String) -> WireError {
        WireError::Lost { endpoint: self.endpoint.to_string(), statement: self.last_statement(), cause }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::endpoint::Transport;
    use rqps_model::Engine;

    /// A session that sent its second prepared statement, then broke.
    fn message(was_broken: bool, fault: Fault) -> String {
        let mut state = SessionState::new(&Endpoint {
            engine: Engine::Mysql,
            transport: Transport::Unix { path: "/run/s".into() },
            user: "u".into(),
            password: None,
            database: "d".into(),
            options: Vec::new(),
        });
        state.add_prepared("begin".into());
        state.add_prepared("select\n 1".into());
        state.sends_prepared(state.id, 1).unwrap();
        assert!(matches!(state.sends_prepared(SessionId::next(), 0), Err(WireError::Misuse(_))));
        assert!(matches!(state.unusable(), WireError::Misuse(_)));
        state.is_broken = was_broken;
        let error = state.give_up(fault, || Some("farewell".to_owned()));
        assert!(state.unusable().to_string().contains("connect anew"));
        error.to_string()
    }

    #[test]
    fn every_fault_names_endpoint_and_statement_and_only_an_end_has_last_words() {
        let reset = || Fault::Io(io::ErrorKind::ConnectionReset.into());
        for (was_broken, fault, words) in [
            (false, Fault::Closed, "the server closed the connection; the server said: farewell ("),
            (true, Fault::Closed, "the server closed the connection ("),
            (false, reset(), "connection reset; the server said: farewell ("),
            (true, reset(), "connection reset ("),
            (false, Fault::TimedOut { allowed: Duration::from_secs(3) }, "within 3 s ("),
            (false, Fault::Protocol("nonsense".into()), "breaks the protocol: nonsense ("),
        ] {
            let message = message(was_broken, fault);
            for part in [words, "/run/s, database d", "statement: select 1)"] {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }
}
