//! One connection to a PostgreSQL server: the timed path and the blocking control plane over one channel.
//!
//! In: an endpoint, SQL, encoded statements. Out: tables, replies, errors that name endpoint and statement. Once the
//! stream is broken the session refuses everything; it never reconnects or retries by itself.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::channel::Fault;
use crate::endpoint::Endpoint;
use crate::error::{ServerError, WireError, abridge};
use crate::prepared::ParameterType;
use crate::reply::{Reply, Table};
use crate::session_state::SessionState;
use crate::socket::{self, Deadline};

use super::Channel;
use super::collect::{Collected, Collecting};
use super::frame::FrameError;
use super::handshake::{self, Refusal};
use super::notes::Notes;
use super::statement::{Statement, name, push_sync, type_oid};
use super::tag::{backend, frontend as tag};
use super::tally::{Counting, Tally};

const TOO_MANY_PARAMETERS: WireError =
    WireError::Misuse("a statement has at most 65535 parameters: send fewer rows at once");

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) state: SessionState,
    channel: Channel,
    pub(crate) notes: Notes,
    tally: Tally,
    /// A submitted statement has not been answered yet.
    is_pending: bool,
    /// What is sent together, and how many Syncs it has.
    pipeline: Vec<u8>,
    syncs: u32,
    process_id: u32,
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
            state: SessionState::new(endpoint),
            channel: Channel::over(socket),
            notes: Notes::default(),
            tally: Tally::default(),
            is_pending: false,
            pipeline: Vec::new(),
            syncs: 0,
            process_id: 0,
        };
        let Session { channel, notes, .. } = &mut session;
        match handshake::log_in(channel, notes, endpoint, deadline) {
            Ok(process_id) => {
                session.process_id = process_id;
                Ok(session)
            }
            Err(refusal) => {
                let error = match refusal {
                    Refusal::Wire(error) => error,
                    Refusal::Fault(fault) => session.give_up(fault),
                };
                session.state.is_broken = true;
                Err(error)
            }
        }
    }

    #[inline]
    pub(crate) fn submit(&mut self, statement: &Statement) -> Result<(), WireError> {
        if self.is_pending || self.state.is_broken {
            return Err(self.state.unusable());
        }
        match statement.encoded.prepared_as() {
            Some((session, index)) => {
                self.state.sends_prepared(session, index)?;
            }
            None => self.state.last.set_text(statement.own_sql()),
        }
        self.tally = Tally::default();
        self.write(statement.bytes())
    }

    /// Puts a statement at the end of the pipeline, without sending it.
    pub(crate) fn queue(&mut self, statement: &Statement) -> Result<(), WireError> {
        if self.is_pending || self.state.is_broken {
            return Err(self.state.unusable());
        }
        let Some(bytes) = statement.without_sync() else {
            return Err(WireError::Misuse("a statement that is sent as text cannot be part of a pipeline"));
        };
        match statement.encoded.prepared_as() {
            Some((session, index)) => self.state.sends_prepared(session, index)?,
            None => self.state.last.set_text(statement.own_sql()),
        }
        self.pipeline.extend_from_slice(bytes);
        Ok(())
    }

    /// Puts a Sync at the end of the pipeline.
    pub(crate) fn queue_sync(&mut self) {
        push_sync(&mut self.pipeline);
        self.syncs += 1;
    }

    /// Forgets the pipeline, of which nothing was sent.
    pub(crate) fn drop_queue(&mut self) {
        self.pipeline.clear();
        self.syncs = 0;
    }

    /// Sends the pipeline with a Sync at its end; the reply is that to all of it.
    pub(crate) fn submit_queue(&mut self) -> Result<(), WireError> {
        if self.is_pending || self.state.is_broken {
            return Err(self.state.unusable());
        }
        self.queue_sync();
        self.notes.rows.begin(0);
        self.tally = Tally::of_syncs(self.syncs);
        let pipeline = std::mem::take(&mut self.pipeline);
        let written = self.write(&pipeline);
        // So that the next one needs no memory.
        self.pipeline = pipeline;
        self.drop_queue();
        written
    }

    /// Writes what will be answered.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        match self.channel.write_once(bytes) {
            Ok(written) if written == bytes.len() => {}
            Ok(written) => self.submit_rest(&bytes[written..])?,
            Err(fault) => return Err(self.give_up(fault)),
        }
        self.is_pending = true;
        Ok(())
    }

    /// What doesn't fit the socket's buffer at once, or is not a statement.
    #[cold]
    fn submit_rest(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let deadline = self.state.start_deadline();
        let mut sink = Counting { tally: &mut self.tally, notes: &mut self.notes };
        self.channel.write_all(bytes, &mut sink, deadline).map_err(|fault| self.give_up(fault))
    }

    #[inline]
    pub(crate) fn receive(&mut self) -> Result<Option<Reply>, WireError> {
        if self.state.is_broken {
            return Err(self.state.unusable());
        }
        let mut sink = Counting { tally: &mut self.tally, notes: &mut self.notes };
        match self.channel.read(&mut sink) {
            Ok(count) => self.tally.add_bytes(count),
            Err(fault) => return Err(self.give_up(fault)),
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
                Err(self.give_up(fault.into()))
            }
        }
    }

    pub(crate) fn wait_readable(&mut self, deadline: Deadline) -> Result<(), WireError> {
        self.channel.wait_readable(deadline).map_err(|fault| self.give_up(fault))
    }

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
        let deadline = self.state.start_deadline();
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
        if self.is_pending || self.state.is_broken {
            return Err(self.state.unusable());
        }
        self.state.last.set_text(sql.as_bytes());
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
            .map_err(|fault| self.give_up(fault))
    }

    /// Waits for something to read and collects it.
    pub(super) fn read_into(&mut self, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        let notes = &mut self.notes;
        self.channel.wait_and_read(&mut Collecting { collected, notes }, deadline).map_err(|fault| self.give_up(fault))
    }

    /// Collects what is there already, without waiting.
    pub(super) fn glance_into(&mut self, collected: &mut Collected) -> Result<(), WireError> {
        let notes = &mut self.notes;
        match self.channel.read(&mut Collecting { collected, notes }) {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.give_up(fault)),
        }
    }

    /// What the reply amounts to, as far as it has come.
    pub(super) fn outcome(&mut self, collected: &mut Collected) -> Result<(), WireError> {
        match collected.error.take() {
            None => Ok(()),
            Some(error) if is_farewell(&error) => Err(self.give_up(Fault::Closed)),
            Some(error) => Err(self.state.refused(error, "")),
        }
    }

    pub(crate) fn prepare(&mut self, sql: &str, parameters: &[ParameterType]) -> Result<Statement, WireError> {
        let index = self.state.next_prepared();
        // The name counts as used even if the server refuses: a failed Parse may come after a name was taken.
        let text: Arc<str> = sql.into();
        self.state.add_prepared(Arc::clone(&text));
        self.describe(&name(index), sql, parameters)?;
        Ok(Statement::prepared(self.state.id, index, text, parameters))
    }

    /// The names of the columns that a statement's answer has.
    pub(crate) fn columns(&mut self, sql: &str, parameters: usize) -> Result<Vec<String>, WireError> {
        // Without a name, so that the next one takes its place.
        let collected = self.describe("", sql, &vec![ParameterType::Any; parameters])?;
        Ok(collected.table.columns)
    }

    /// Has a statement parsed and described.
    fn describe(&mut self, name: &str, sql: &str, parameters: &[ParameterType]) -> Result<Collected, WireError> {
        if u16::try_from(parameters.len()).is_err() {
            return Err(TOO_MANY_PARAMETERS);
        }
        let mut out = BytesMut::new();
        let types = parameters.iter().map(|&parameter| type_oid(parameter));
        frontend::parse(name, sql, types, &mut out)
            .and_then(|()| frontend::describe(b'S', name, &mut out))
            .map_err(|_| nul(sql))?;
        frontend::sync(&mut out);

        let deadline = self.state.start_deadline();
        let mut collected = Collected::default();
        self.send(sql, &out, &mut collected, deadline)?;
        while !collected.done {
            self.read_into(&mut collected, deadline)?;
        }
        self.outcome(&mut collected)?;
        match collected.parameters {
            Some(found) if found == parameters.len() => Ok(collected),
            Some(found) => Err(WireError::Parameters { statement: abridge(sql), declared: parameters.len(), found }),
            None => {
                let fault = FrameError::Malformed { tag: backend::PARAMETER_DESCRIPTION };
                Err(self.give_up(fault.into()))
            }
        }
    }

    /// A statement that is parsed anew at each execution.
    pub(crate) fn parsed_each_time(&self, sql: &str, parameters: &[ParameterType]) -> Result<Statement, WireError> {
        if u16::try_from(parameters.len()).is_err() {
            return Err(TOO_MANY_PARAMETERS);
        }
        if sql.as_bytes().contains(&0) {
            return Err(nul(sql));
        }
        Ok(Statement::parsed_each_time(sql.into(), parameters))
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.notes.parameter(name)
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process_id
    }

    /// How the server is reached: this protocol is spoken without TLS.
    pub(crate) fn transport(&self) -> String {
        self.state.endpoint.transport.kind().to_owned()
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

    pub(crate) fn close(mut self) {
        self.terminate();
        if !self.state.is_broken {
            let (collected, notes) = (&mut Collected::default(), &mut self.notes);
            self.channel.await_hang_up(&mut Collecting { collected, notes });
            self.state.is_broken = true;
        }
    }

    /// Says goodbye, if anybody listens still.
    fn terminate(&mut self) {
        if !self.state.is_broken {
            let goodbye = [tag::TERMINATE, 0, 0, 0, 4];
            // A server that is gone needs no goodbye.
            let _ = self.channel.write_once(&goodbye);
        }
    }

    /// Marks the session as broken and says why, with the farewell of a dying server if it left one in the socket.
    #[cold]
    fn give_up(&mut self, fault: Fault) -> WireError {
        let Session { state, channel, tally, notes, .. } = self;
        state.give_up(fault, || {
            channel.drain(&mut Counting { tally, notes });
            notes.last_error().filter(|error| is_farewell(error)).map(ServerError::to_string)
        })
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
