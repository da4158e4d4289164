//! The surface that all protocols share: a [`Session`], what it gives out, and one enum arm a protocol.
//!
//! In: an [`Endpoint`], SQL, [`Statement`]s. Out: tables, replies, errors. Only this file and `statement.rs`
//! know that there is more than one protocol. No logic here beyond passing on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::endpoint::{Endpoint, Protocol};
use crate::error::{ServerError, WireError};
use crate::postgres;
use crate::reply::{Reply, Table};
use crate::statement::{Form, ParameterType, Statement};

/// One connection to a server.
///
/// The timed path is [`submit`](Session::submit), then [`receive`](Session::receive) whenever the session is
/// readable, until it yields the reply. Everything else blocks, within the deadline if one is set.
#[derive(Debug)]
pub struct Session {
    link: Link,
}

/// The protocols.
#[derive(Debug)]
enum Link {
    Postgres(postgres::Session),
}

impl Session {
    /// Connects and logs in, both within `deadline`.
    pub fn connect(endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let link = match endpoint.engine {
            Protocol::Postgres => Link::Postgres(postgres::Session::connect(endpoint, deadline)?),
        };
        Ok(Session { link })
    }

    /// Logs in over a stream socket that is connected already; the endpoint's transport only names it in messages.
    pub fn over(socket: OwnedFd, endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let link = match endpoint.engine {
            Protocol::Postgres => Link::Postgres(postgres::Session::over(socket, endpoint, deadline)?),
        };
        Ok(Session { link })
    }

    /// Runs one or several statements and returns the last result set as text. PostgreSQL runs several statements of
    /// one text as one transaction, so that what refuses a transaction, such as VACUUM, must come alone.
    pub fn query(&mut self, sql: &str) -> Result<Table, WireError> {
        let Link::Postgres(session) = &mut self.link;
        session.query(sql)
    }

    /// Runs one or several statements and returns the sum of the counts in their command tags (see
    /// [`Reply::affected`]). Rows that come back are dropped.
    pub fn execute(&mut self, sql: &str) -> Result<u64, WireError> {
        let Link::Postgres(session) = &mut self.link;
        session.execute(sql)
    }

    /// Runs a COPY ... FROM STDIN with the rows that `feed` writes, and returns what `feed` returned and the number
    /// of rows taken. If `feed` fails, nothing is copied and its error is returned.
    pub fn copy_in<R>(
        &mut self,
        sql: &str,
        feed: impl FnOnce(&mut CopyWriter<'_>) -> Result<R, WireError>,
    ) -> Result<(R, u64), WireError> {
        let Link::Postgres(session) = &mut self.link;
        let link = CopyLink::Postgres(session.begin_copy(sql)?);
        let mut writer = CopyWriter { link };
        let fed = feed(&mut writer);
        let CopyLink::Postgres(writer) = writer.link;
        writer.end(fed)
    }

    /// A parameter as the server has reported it, such as `server_version`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let Link::Postgres(session) = &self.link;
        session.parameter(name)
    }

    /// The process id of the server process behind the session.
    pub fn backend_pid(&self) -> u32 {
        let Link::Postgres(session) = &self.link;
        session.process_id()
    }

    /// Limits how long a blocking call may take, or with `None` lets it take for ever, which is how a session starts.
    /// For a COPY it limits every step. A session that missed its deadline is of no more use.
    pub fn set_deadline(&mut self, deadline: Option<Duration>) {
        let Link::Postgres(session) = &mut self.link;
        session.set_deadline(deadline);
    }

    /// Prepares a statement with parameters `$1`, `$2` ... of the given types.
    pub fn prepare(&mut self, sql: &str, params: &[ParameterType]) -> Result<Statement, WireError> {
        let Link::Postgres(session) = &mut self.link;
        let form = Form::Postgres(session.prepare(sql, params)?);
        Ok(Statement { form })
    }

    /// A statement that is sent as text each time, with room for `capacity` bytes of SQL
    /// (see [`Statement::set_sql`]).
    pub fn text_statement(&mut self, capacity: usize) -> Statement {
        let form = match &self.link {
            Link::Postgres(_) => Form::Postgres(postgres::Statement::simple(capacity)),
        };
        Statement { form }
    }

    /// Sends a statement with one write. Waits only if the statement is larger than the socket's buffer.
    #[inline]
    pub fn submit(&mut self, statement: &Statement) -> Result<(), WireError> {
        let (Link::Postgres(session), Form::Postgres(statement)) = (&mut self.link, &statement.form);
        session.submit(statement)
    }

    /// Reads once, without waiting; the reply if it is complete, `None` if not yet.
    #[inline]
    pub fn receive(&mut self) -> Result<Option<Reply>, WireError> {
        let Link::Postgres(session) = &mut self.link;
        session.receive()
    }

    /// Submits a statement and waits for its reply, within the deadline.
    pub fn run(&mut self, statement: &Statement) -> Result<Reply, WireError> {
        let (Link::Postgres(session), Form::Postgres(statement)) = (&mut self.link, &statement.form);
        session.run(statement)
    }

    /// Whether a submitted statement has not been answered yet.
    pub fn is_pending(&self) -> bool {
        let Link::Postgres(session) = &self.link;
        session.is_pending()
    }

    /// The last error that the server reported in this session.
    pub fn last_error(&self) -> Option<&ServerError> {
        let Link::Postgres(session) = &self.link;
        session.last_error()
    }

    /// The notices and warnings of blocking calls since the last call, the newest 64 of them.
    pub fn take_notices(&mut self) -> Vec<ServerError> {
        let Link::Postgres(session) = &mut self.link;
        session.take_notices()
    }

    /// What another thread needs to cancel the statement that this session runs.
    pub fn cancel_token(&self) -> CancelToken {
        let Link::Postgres(session) = &self.link;
        CancelToken { link: CancelLink::Postgres(session.cancel_token()) }
    }

    /// Ends the session and waits, for a second at most, until the server's process has let go of it. Dropping
    /// a session says goodbye too but doesn't wait.
    pub fn close(self) {
        let Link::Postgres(session) = self.link;
        session.close();
    }
}

/// To poll the session, never to read from it.
impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let Link::Postgres(session) = &self.link;
        session.as_fd()
    }
}

/// Takes the rows of a [`Session::copy_in`], in the format that its COPY statement names.
#[derive(Debug)]
pub struct CopyWriter<'s> {
    link: CopyLink<'s>,
}

#[derive(Debug)]
enum CopyLink<'s> {
    Postgres(postgres::CopyWriter<'s>),
}

impl CopyWriter<'_> {
    /// Adds bytes, which may be rows or pieces of rows. They are sent in messages of 256 KiB.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let CopyLink::Postgres(writer) = &mut self.link;
        writer.write(bytes)
    }
}

/// For `write!`; a failure carries the [`WireError`] inside.
impl io::Write for CopyWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CopyWriter::write(self, bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Cancels what a session runs.
#[derive(Clone, Debug)]
pub struct CancelToken {
    link: CancelLink,
}

#[derive(Clone, Debug)]
enum CancelLink {
    Postgres(postgres::CancelToken),
}

impl CancelToken {
    /// Asks the server to cancel whatever the session runs now. If it runs nothing, nothing happens.
    pub fn cancel(&self, deadline: Duration) -> Result<(), WireError> {
        let CancelLink::Postgres(token) = &self.link;
        token.cancel(deadline)
    }
}
