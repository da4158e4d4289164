//! One connection to a MySQL or MariaDB server: login, the timed path, and the end. `control.rs` has the rest.
//!
//! In: an endpoint, encoded statements. Out: replies, errors that name endpoint and statement. Once the stream is
//! broken the session refuses everything; it never reconnects or retries by itself.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::channel::Fault;
use crate::endpoint::Endpoint;
use crate::error::{ServerError, WireError};
use crate::reply::{Reply, TransactionStatus};
use crate::session_state::SessionState;
use crate::socket::{self, Deadline};

use super::channel::Channel;
use super::flags::{capability, command};
use super::handshake::Greeting;
use super::login;
use super::notes::Notes;
use super::options::{Options, TlsMode};
use super::packet::{encode, header};
use super::progress::Progress;
use super::refusal::Refusal;
use super::remedy;
use super::statement::Statement;
use super::tally::{Counting, Tally};

/// The errors of COM_STMT_EXECUTE after which the server may not know the parameters' types: ER_WRONG_ARGUMENTS,
/// ER_UNKNOWN_STMT_HANDLER, ER_MALFORMED_PACKET.
const TYPES_UNREAD: [u16; 3] = [1210, 1243, 1835];

pub(super) const WANTS_FILE: &str =
    "the server asks for a file of this machine and was given none: LOAD DATA LOCAL goes through copy_in";

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) state: SessionState,
    pub(super) channel: Channel,
    pub(crate) notes: Notes,
    tally: Tally,
    /// Results have EOF packets: CLIENT_DEPRECATE_EOF was not agreed on.
    pub(super) has_eof: bool,
    /// What the server said last.
    pub(super) in_transaction: TransactionStatus,
    /// The prepared statement under way, if its types are sent along.
    binding: Option<u32>,
    pub(super) greeting: Greeting,
    /// Of each prepared statement, whether the server has the types of its parameters.
    pub(super) is_bound: Vec<bool>,
}

impl Session {
    pub(crate) fn connect(endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let deadline = Deadline::start(Some(deadline));
        let mut options = understood(endpoint)?;
        let mut session = Session::new(socket::open(endpoint, deadline)?, endpoint);
        match session.log_in(&options, deadline) {
            Ok(()) => Ok(session),
            // Servers with the TLS of ten years ago are among those to be compared.
            Err(Refusal::Tls(_)) if options.tls == TlsMode::Preferred => {
                options.tls = TlsMode::Disabled;
                session = Session::new(socket::open(endpoint, deadline)?, endpoint);
                let outcome = session.log_in(&options, deadline);
                outcome.map_err(|refusal| session.refused(refusal))?;
                Ok(session)
            }
            Err(refusal) => Err(session.refused(refusal)),
        }
    }

    pub(crate) fn over(socket: OwnedFd, endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let deadline = Deadline::start(Some(deadline));
        let options = understood(endpoint)?;
        let mut session = Session::new(socket, endpoint);
        let outcome = session.log_in(&options, deadline);
        outcome.map_err(|refusal| session.refused(refusal))?;
        Ok(session)
    }

    fn new(socket: OwnedFd, endpoint: &Endpoint) -> Session {
        Session {
            state: SessionState::new(endpoint),
            channel: Channel::over(socket),
            notes: Notes::default(),
            tally: Tally::default(),
            has_eof: true,
            in_transaction: TransactionStatus::Idle,
            binding: None,
            greeting: Greeting::default(),
            is_bound: Vec::new(),
        }
    }

    fn log_in(&mut self, options: &Options, deadline: Deadline) -> Result<(), Refusal> {
        self.greeting = login::log_in(&mut self.channel, &self.state.endpoint, options, deadline)?;
        self.has_eof = self.greeting.agreed() & capability::DEPRECATE_EOF == 0;
        if let Some(set) = &options.set {
            let mut collected = self.awaiting();
            self.simple(set, &mut collected, deadline).map_err(|error| Refusal::Wire(self.as_login(error)))?;
        }
        Ok(())
    }

    /// A refused option is a refused login.
    fn as_login(&self, error: WireError) -> WireError {
        match error {
            WireError::Server { error, .. } => WireError::Login {
                endpoint: self.state.endpoint.to_string(),
                user: self.state.endpoint.user.clone(),
                error,
                remedy: "; check the options, which are set as session variables",
            },
            other => other,
        }
    }

    fn refused(&mut self, refusal: Refusal) -> WireError {
        let error = match refusal {
            Refusal::Wire(error) => error,
            Refusal::Tls(cause) => WireError::Authentication {
                endpoint: self.state.endpoint.to_string(),
                user: self.state.endpoint.user.clone(),
                detail: format!(
                    "no TLS could be agreed on ({cause}); rqps speaks TLS 1.3, and 1.2 with ECDHE, which this server may be \
                     too old for: set the option tls to preferred or disabled"
                ),
            },
            Refusal::Fault(fault) => self.give_up(fault),
        };
        self.state.is_broken = true;
        error
    }

    #[inline]
    pub(crate) fn submit(&mut self, statement: &Statement) -> Result<(), WireError> {
        if self.is_pending() || self.state.is_broken {
            return Err(self.state.unusable());
        }
        let mut is_plain = !statement.is_long();
        match statement.encoded.prepared_as() {
            Some((session, index)) => {
                self.state.sends_prepared(session, index)?;
                if !self.is_bound[index as usize] && !statement.has_types() {
                    is_plain = false;
                    self.binding = Some(index);
                }
            }
            None => self.state.last.set_text(statement.sql_bytes()),
        }
        self.tally.begin(Progress::of_result(self.has_eof), self.in_transaction);
        if !is_plain {
            return self.submit_rarely(statement);
        }
        let bytes = statement.bytes();
        match self.channel.write_once(bytes) {
            Ok(written) if written == bytes.len() && self.channel.is_flushed() => Ok(()),
            Ok(written) => self.submit_rest(&bytes[written..]),
            Err(fault) => Err(self.give_up(fault)),
        }
    }

    /// With the parameters' types, or in several packets.
    #[cold]
    fn submit_rarely(&mut self, statement: &Statement) -> Result<(), WireError> {
        let bytes = if statement.is_long() { statement.long_bytes() } else { statement.bytes_with_types() };
        self.submit_rest(&bytes)
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
        if self.tally.take_file_request() {
            let empty = header(self.channel.next_sequence(), 0);
            self.submit_rest(&empty)?;
        }
        let Some(reply) = self.tally.take() else {
            return match self.notes.last_words() {
                Some(_) => Err(self.give_up(Fault::Closed)),
                None => Ok(None),
            };
        };
        self.in_transaction = reply.in_transaction;
        if reply.error.is_some() || self.binding.is_some() || self.tally.has_refused_file() {
            self.after_rare_reply(&reply)?;
        }
        Ok(Some(reply))
    }

    #[cold]
    fn after_rare_reply(&mut self, reply: &Reply) -> Result<(), WireError> {
        if self.notes.last_words().is_some() {
            return Err(self.give_up(Fault::Closed));
        }
        if let Some(index) = self.binding.take() {
            let are_read = reply.error.is_none_or(|code| !TYPES_UNREAD.contains(&code.number));
            self.is_bound[index as usize] = are_read;
        }
        if self.tally.has_refused_file() {
            return Err(WireError::Misuse(WANTS_FILE));
        }
        Ok(())
    }

    pub(crate) fn wait_readable(&mut self, deadline: Deadline) -> Result<(), WireError> {
        self.channel.wait_readable(deadline).map_err(|fault| self.give_up(fault))
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        match name {
            "server_version" => Some(&self.greeting.version),
            _ => None,
        }
    }

    /// How the server is reached, and with which cipher.
    pub(crate) fn transport(&self) -> String {
        let kind = self.state.endpoint.transport.kind();
        match self.channel.cipher() {
            Some(cipher) => format!("{kind}+{cipher}"),
            None => kind.to_owned(),
        }
    }

    pub(crate) fn thread_id(&self) -> u32 {
        self.greeting.thread_id
    }

    pub(crate) fn last_error(&self) -> Option<&ServerError> {
        self.notes.last_error()
    }

    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.tally.is_awaited()
    }

    #[inline]
    pub(crate) fn is_answered(&self) -> bool {
        self.tally.is_complete()
    }

    pub(crate) fn close(mut self) {
        self.terminate();
        self.await_hang_up();
    }

    fn await_hang_up(&mut self) {
        if !self.state.is_broken {
            let mut collected = self.awaiting();
            self.channel.await_hang_up(&mut collected);
            self.state.is_broken = true;
        }
    }

    /// Breaks off in the middle of a command, and waits until the server has seen it.
    pub(super) fn abandon(&mut self) {
        self.channel.shut_down();
        self.await_hang_up();
    }

    /// Says goodbye, if anybody listens still.
    fn terminate(&mut self) {
        if !self.state.is_broken {
            // A server that is gone needs no goodbye.
            let _ = self.channel.write_once(&encode(0, &[command::QUIT]));
        }
    }

    /// Marks the session as broken and says why, with the farewell of a dying server if it left one in the socket.
    #[cold]
    pub(super) fn give_up(&mut self, fault: Fault) -> WireError {
        let Session { state, channel, tally, notes, .. } = self;
        state.give_up(fault, || {
            if tally.has_error() {
                // It came while we still wrote.
                notes.end_with_error();
            }
            tally.give_up();
            channel.drain(&mut Counting { tally, notes });
            notes.last_words().map(|words| format!("{words}{}", remedy::of_statement(words)))
        })
    }
}

/// The options of an endpoint, or why there can be no session with them.
fn understood(endpoint: &Endpoint) -> Result<Options, WireError> {
    Options::of(endpoint).map_err(|detail| WireError::Authentication {
        endpoint: endpoint.to_string(),
        user: endpoint.user.clone(),
        detail,
    })
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
