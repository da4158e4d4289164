//! One connection to a PostgreSQL server: the timed path and the blocking control plane over one channel.
//!
//! In: an endpoint, SQL, encoded statements. Out: tables, replies, errors that name endpoint and statement. Once the
//! stream is broken the session refuses everything; it never reconnects or retries by itself.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::endpoint::{Endpoint, Protocol, Transport};
use crate::error::{ServerError, WireError, abridge};
use crate::reply::{Reply, Table};
use crate::session_id::SessionId;
use crate::socket::{self, Deadline};
use crate::statement::ParameterType;

use super::cancel::CancelToken;
use super::channel::{Channel, Fault};
use super::collect::{Collected, Collecting};
use super::frame::FrameError;
use super::handshake::{self, BackendKey, Refusal};
use super::notes::Notes;
use super::statement::{Statement, name, type_oid};
use super::tag::{backend, frontend as tag};
use super::tally::{Counting, Tally};
use crate::last::LastStatement;

/// How long `close` waits for the backend to be gone.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    id: SessionId,
    channel: Channel,
    notes: Notes,
    tally: Tally,
    /// A submitted statement has not been answered yet.
    is_pending: bool,
    /// The stream is lost or out of step.
    is_broken: bool,
    key: BackendKey,
    prepared: Vec<Arc<str>>,
    last: LastStatement,
    endpoint: String,
    transport: Transport,
    deadline: Option<Duration>,
}

impl Session {
    pub(crate) fn connect(endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let deadline = Deadline::start(Some(deadline));
        Session::log_in(socket::open(endpoint, deadline)?, endpoint, deadline)
    }

    pub(crate) fn over(socket: OwnedFd, endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        Session::log_in(socket, endpoint, Deadline::start(Some(deadline)))
    }

    fn log_in(socket: OwnedFd, endpoint: &Endpoint, deadline: Deadline) -> Result<Session, WireError> {
        let mut session = Session {
            id: SessionId::next(),
            channel: Channel::over(socket),
            notes: Notes::default(),
            tally: Tally::default(),
            is_pending: false,
            is_broken: false,
            key: BackendKey::default(),
            prepared: Vec::new(),
            last: LastStatement::default(),
            endpoint: endpoint.to_string(),
            transport: endpoint.transport.clone(),
            deadline: None,
        };
        let Session { channel, notes, .. } = &mut session;
        match handshake::log_in(channel, notes, endpoint, deadline) {
            Ok(key) => {
                session.key = key;
                Ok(session)
            }
            Err(refusal) => {
                let error = match refusal {
                    Refusal::Wire(error) => error,
                    Refusal::Fault(fault) => session.give_up(fault, deadline.allowed),
                };
                session.is_broken = true;
                Err(error)
            }
        }
    }

    // ---- timed path ----

    #[inline]
    pub(crate) fn submit(&mut self, statement: &Statement) -> Result<(), WireError> {
        if self.is_pending || self.is_broken {
            return Err(self.unusable());
        }
        match statement.prepared_as() {
            Some((session, index)) => {
                if session != self.id {
                    return Err(WireError::Misuse(
                        "a prepared statement was submitted to another session than its own; prepare it there too",
                    ));
                }
                self.last.set_prepared(index);
            }
            None => self.last.set_text(statement.simple_sql()),
        }
        self.tally = Tally::default();
        let bytes = statement.bytes();
        match self.channel.write_once(bytes) {
            Ok(written) if written == bytes.len() => {}
            Ok(written) => self.submit_rest(&bytes[written..])?,
            Err(fault) => return Err(self.give_up(fault, None)),
        }
        self.is_pending = true;
        Ok(())
    }

    /// What doesn't fit the socket's buffer at once, or is not a statement.
    #[cold]
    fn submit_rest(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let deadline = Deadline::start(self.deadline);
        let mut sink = Counting { tally: &mut self.tally, notes: &mut self.notes };
        self.channel.write_all(bytes, &mut sink, deadline).map_err(|fault| self.give_up(fault, deadline.allowed))
    }

    #[inline]
    pub(crate) fn receive(&mut self) -> Result<Option<Reply>, WireError> {
        if self.is_broken {
            return Err(self.unusable());
        }
        let mut sink = Counting { tally: &mut self.tally, notes: &mut self.notes };
        match self.channel.read(&mut sink) {
            Ok(count) => self.tally.add_bytes(count),
            Err(fault) => return Err(self.give_up(fault, None)),
        }
        if self.tally.take_wants_copy_data() {
            self.submit_rest(&copy_refusal())?;
        }
        match self.tally.take() {
            None => Ok(None),
            Some(reply) if self.is_pending => {
                self.is_pending = false;
                Ok(Some(reply))
            }
            Some(_) => {
                let fault = FrameError::Unexpected { tag: backend::READY_FOR_QUERY };
                Err(self.give_up(fault.into(), None))
            }
        }
    }

    pub(crate) fn run(&mut self, statement: &Statement) -> Result<Reply, WireError> {
        let deadline = Deadline::start(self.deadline);
        self.submit(statement)?;
        loop {
            if let Some(reply) = self.receive()? {
                return Ok(reply);
            }
            if let Err(error) = self.channel.wait_readable(deadline) {
                return Err(self.give_up(error, deadline.allowed));
            }
        }
    }

    // ---- control plane ----

    pub(crate) fn query(&mut self, sql: &str) -> Result<Table, WireError> {
        let mut collected = Collected { keeps_rows: true, ..Collected::default() };
        self.simple(sql, &mut collected)?;
        Ok(collected.table)
    }

    pub(crate) fn execute(&mut self, sql: &str) -> Result<u64, WireError> {
        let mut collected = Collected::default();
        self.simple(sql, &mut collected)?;
        Ok(collected.affected)
    }

    fn simple(&mut self, sql: &str, collected: &mut Collected) -> Result<(), WireError> {
        let deadline = Deadline::start(self.deadline);
        self.begin(sql, collected, deadline)?;
        while !collected.done {
            if std::mem::take(&mut collected.wants_copy_data) {
                self.write_into(&copy_refusal(), collected, deadline)?;
            }
            self.read_into(collected, deadline)?;
        }
        self.outcome(collected)
    }

    /// Sends a Query.
    pub(super) fn begin(&mut self, sql: &str, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        let mut out = BytesMut::new();
        frontend::query(sql, &mut out).map_err(|_| nul(sql))?;
        self.send(sql, &out, collected, deadline)
    }

    fn send(
        &mut self,
        sql: &str,
        message: &[u8],
        collected: &mut Collected,
        deadline: Deadline,
    ) -> Result<(), WireError> {
        if self.is_pending || self.is_broken {
            return Err(self.unusable());
        }
        self.last.set_text(sql.as_bytes());
        self.write_into(message, collected, deadline)
    }

    /// Writes a message; what comes meanwhile is collected.
    pub(super) fn write_into(
        &mut self,
        message: &[u8],
        collected: &mut Collected,
        deadline: Deadline,
    ) -> Result<(), WireError> {
        let notes = &mut self.notes;
        self.channel
            .write_all(message, &mut Collecting { collected, notes }, deadline)
            .map_err(|fault| self.give_up(fault, deadline.allowed))
    }

    /// Waits for something to read and collects it.
    pub(super) fn read_into(&mut self, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        let notes = &mut self.notes;
        self.channel
            .wait_and_read(&mut Collecting { collected, notes }, deadline)
            .map_err(|fault| self.give_up(fault, deadline.allowed))
    }

    /// Collects what is there already, without waiting.
    pub(super) fn glance_into(&mut self, collected: &mut Collected) -> Result<(), WireError> {
        let notes = &mut self.notes;
        match self.channel.read(&mut Collecting { collected, notes }) {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.give_up(fault, None)),
        }
    }

    /// What the reply amounts to, as far as it has come.
    pub(super) fn outcome(&mut self, collected: &mut Collected) -> Result<(), WireError> {
        match collected.error.take() {
            None => Ok(()),
            Some(error) if is_farewell(&error) => Err(self.give_up(Fault::Closed, None)),
            Some(error) => Err(WireError::Server { error, statement: self.last_statement(), remedy: "" }),
        }
    }

    pub(crate) fn prepare(&mut self, sql: &str, parameters: &[ParameterType]) -> Result<Statement, WireError> {
        if u16::try_from(parameters.len()).is_err() {
            return Err(WireError::Misuse("a statement has at most 65535 parameters: send fewer rows at once"));
        }
        let index = u32::try_from(self.prepared.len()).expect("fewer than 2^32 statements");
        let mut out = BytesMut::new();
        let types = parameters.iter().map(|&parameter| type_oid(parameter));
        frontend::parse(&name(index), sql, types, &mut out)
            .and_then(|()| frontend::describe(b'S', &name(index), &mut out))
            .map_err(|_| nul(sql))?;
        frontend::sync(&mut out);

        let deadline = Deadline::start(self.deadline);
        let mut collected = Collected::default();
        self.send(sql, &out, &mut collected, deadline)?;
        // The name counts as used even if the server refuses: a failed Parse may come after a name was taken.
        let sql: Arc<str> = sql.into();
        self.prepared.push(Arc::clone(&sql));
        while !collected.done {
            self.read_into(&mut collected, deadline)?;
        }
        self.outcome(&mut collected)?;
        match collected.parameters {
            Some(found) if found == parameters.len() => Ok(Statement::prepared(self.id, index, sql, parameters)),
            Some(found) => Err(WireError::Parameters { statement: abridge(&sql), declared: parameters.len(), found }),
            None => {
                let fault = FrameError::Malformed { tag: backend::PARAMETER_DESCRIPTION };
                Err(self.give_up(fault.into(), None))
            }
        }
    }

    // ---- about the session ----

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.notes.parameter(name)
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.key.process_id.cast_unsigned()
    }

    /// How the server is reached: this protocol is spoken without TLS.
    pub(crate) fn transport(&self) -> String {
        self.transport.kind().to_owned()
    }

    pub(crate) fn last_error(&self) -> Option<&ServerError> {
        self.notes.last_error()
    }

    pub(crate) fn take_notices(&mut self) -> Vec<ServerError> {
        self.notes.take_notices()
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending
    }

    #[inline]
    pub(crate) fn is_answered(&self) -> bool {
        self.tally.is_complete()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(crate) fn set_deadline(&mut self, deadline: Option<Duration>) {
        self.deadline = deadline;
    }

    pub(crate) fn cancel_token(&self) -> CancelToken {
        CancelToken::new(self.endpoint.clone(), self.transport.clone(), self.key)
    }

    pub(crate) fn close(mut self) {
        self.terminate();
        let deadline = Deadline::start(Some(CLOSE_PATIENCE));
        let mut collected = Collected::default();
        // Ends with an error, because the server hangs up; that is what we wait for.
        while !self.is_broken {
            if self.read_into(&mut collected, deadline).is_err() {
                break;
            }
        }
    }

    /// Says goodbye, if anybody listens still.
    fn terminate(&mut self) {
        if !self.is_broken {
            let goodbye = [tag::TERMINATE, 0, 0, 0, 4];
            // A server that is gone needs no goodbye.
            let _ = self.channel.write_once(&goodbye);
        }
    }

    fn last_statement(&self) -> String {
        self.last.show(|index| &self.prepared[index as usize])
    }

    /// The error for a call that comes out of order.
    #[cold]
    fn unusable(&self) -> WireError {
        if self.is_broken {
            WireError::Lost {
                endpoint: self.endpoint.clone(),
                statement: self.last_statement(),
                cause: "the session was given up after an earlier error; connect anew".to_owned(),
            }
        } else {
            WireError::Misuse("the session still waits for a reply: receive it first")
        }
    }

    /// Marks the session as broken and says why.
    #[cold]
    fn give_up(&mut self, fault: Fault, allowed: Option<Duration>) -> WireError {
        let endpoint = self.endpoint.clone();
        let statement = self.last_statement();
        let was_broken = std::mem::replace(&mut self.is_broken, true);
        match (fault, allowed) {
            (Fault::TimedOut, Some(deadline)) => WireError::Deadline { endpoint, statement, deadline },
            (Fault::Frame(error), _) => {
                WireError::Protocol { endpoint, protocol: Protocol::Postgres, statement, detail: error.to_string() }
            }
            (fault, _) => {
                let mut cause = fault.to_string();
                if !was_broken && let Some(words) = self.last_words() {
                    cause = format!("{cause}; the server said: {words}");
                }
                WireError::Lost { endpoint, statement, cause }
            }
        }
    }

    /// Reads what a dying server left in the socket, and yields its farewell if there is one.
    fn last_words(&mut self) -> Option<&ServerError> {
        let mut sink = Counting { tally: &mut self.tally, notes: &mut self.notes };
        while matches!(self.channel.read(&mut sink), Ok(count) if count > 0) {}
        self.notes.last_error().filter(|error| matches!(error.severity(), "FATAL" | "PANIC"))
    }
}

/// Whether the server ends the session with this error.
fn is_farewell(error: &ServerError) -> bool {
    matches!(error.severity(), "FATAL" | "PANIC")
}

/// The answer to a COPY ... FROM STDIN that came where there is nothing to copy; the server then reports an error.
fn copy_refusal() -> BytesMut {
    let mut out = BytesMut::new();
    frontend::copy_fail("there is no data to copy here", &mut out).expect("the text has no NUL byte");
    out
}

fn nul(sql: &str) -> WireError {
    WireError::Nul { text: abridge(sql) }
}

impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.terminate();
    }
}
