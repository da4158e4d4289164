//! The surface that all protocols share: a [`Session`], what it gives out, and one enum arm a protocol.
//!
//! In: an [`Endpoint`], SQL, [`Statement`]s. Out: tables, replies, errors. Only this file, `statement.rs` and
//! `copy.rs` know that there is more than one protocol. No logic here beyond passing on, and waiting for a reply.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::copy::CopyWriter;
use crate::endpoint::{Endpoint, Protocol};
use crate::error::{ServerError, WireError};
use crate::prepared::ParameterType;
use crate::reply::{Reply, Table};
use crate::rows::Rows;
use crate::socket::Deadline;
use crate::statement::{Form, Statement};
use crate::{mysql, postgres};

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
    Mysql(mysql::Session),
}

/// Passes a call on to whichever protocol it is.
macro_rules! pass_on {
    ($link:expr, $session:ident => $call:expr) => {
        match $link {
            Link::Postgres($session) => $call,
            Link::Mysql($session) => $call,
        }
    };
}

const OTHER_PROTOCOL: WireError =
    WireError::Misuse("a statement of one protocol was submitted to a session of another; prepare it there too");

const NO_PIPELINE: WireError = WireError::Misuse(
    "MySQL's protocol has no unnamed statements and no pipelines; prepare each statement and send it alone",
);

impl Session {
    /// Connects and logs in, both within `deadline`.
    pub fn connect(endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let link = match endpoint.protocol() {
            Protocol::Postgres => Link::Postgres(postgres::Session::connect(endpoint, deadline)?),
            Protocol::Mysql => Link::Mysql(mysql::Session::connect(endpoint, deadline)?),
        };
        Ok(Session { link })
    }

    /// Logs in over a stream socket that is connected already; the endpoint's transport only names it in messages.
    pub fn over(socket: OwnedFd, endpoint: &Endpoint, deadline: Duration) -> Result<Session, WireError> {
        let link = match endpoint.protocol() {
            Protocol::Postgres => Link::Postgres(postgres::Session::over(socket, endpoint, deadline)?),
            Protocol::Mysql => Link::Mysql(mysql::Session::over(socket, endpoint, deadline)?),
        };
        Ok(Session { link })
    }

    /// Runs one or several statements and returns the last result set as text; bytes that are no UTF-8 are replaced.
    /// PostgreSQL runs several statements of one text as one transaction, so that what refuses a transaction, such as
    /// VACUUM, must come alone.
    pub fn query(&mut self, sql: &str) -> Result<Table, WireError> {
        pass_on!(&mut self.link, session => session.query(sql))
    }

    /// Runs one or several statements and returns the sum of the counts in their command tags (see
    /// [`Reply::affected`]). Rows that come back are dropped.
    pub fn execute(&mut self, sql: &str) -> Result<u64, WireError> {
        pass_on!(&mut self.link, session => session.execute(sql))
    }

    /// Runs a COPY ... FROM STDIN, or on MySQL a LOAD DATA LOCAL INFILE 'rqps', with the rows that `feed` writes, and
    /// returns what `feed` returned and the number of rows taken. If `feed` fails, nothing is copied and its error is
    /// returned; on MySQL the session then ends. MySQL skips rows whose key exists already, so the number may be
    /// smaller.
    pub fn copy_in<R>(
        &mut self,
        sql: &str,
        feed: impl FnOnce(&mut CopyWriter<'_>) -> Result<R, WireError>,
    ) -> Result<(R, u64), WireError> {
        let mut writer = match &mut self.link {
            Link::Postgres(session) => CopyWriter::postgres(session.begin_copy(sql)?),
            Link::Mysql(session) => CopyWriter::mysql(session.begin_copy(sql)?),
        };
        let fed = feed(&mut writer);
        writer.end(fed)
    }

    /// A parameter as the server has reported it; MySQL reports no other than `server_version`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        pass_on!(&self.link, session => session.parameter(name))
    }

    /// How the server is really reached: `unix`, `tcp`, or with the cipher, as in `tcp+TLS_AES_256_GCM_SHA384`.
    pub fn transport(&self) -> String {
        pass_on!(&self.link, session => session.transport())
    }

    /// The number under which the server knows the session: the id of its process, or of MySQL's connection.
    pub fn backend_pid(&self) -> u32 {
        match &self.link {
            Link::Postgres(session) => session.process_id(),
            Link::Mysql(session) => session.thread_id(),
        }
    }

    /// Limits how long a blocking call may take, or with `None` lets it take for ever, which is how a session starts.
    /// For a COPY it limits every step. A session that missed its deadline is of no more use.
    pub fn set_deadline(&mut self, deadline: Option<Duration>) {
        pass_on!(&mut self.link, session => session.state.deadline = deadline);
    }

    /// Prepares a statement with parameters of the given types, written `$1`, `$2` ... or on MySQL `?`. What MySQL
    /// cannot prepare, such as BEGIN, is sent as text each time.
    pub fn prepare(&mut self, sql: &str, params: &[ParameterType]) -> Result<Statement, WireError> {
        let form = match &mut self.link {
            Link::Postgres(session) => Form::Postgres(session.prepare(sql, params)?),
            Link::Mysql(session) => Form::Mysql(session.prepare(sql, params)?),
        };
        Ok(Statement { form, kept_rows: 0 })
    }

    /// The names of the columns that the answer to a statement with so many parameters has, as the server tells them
    /// when it prepares the statement: nothing is executed. None where an answer has no rows, and where MySQL knows
    /// them only when it executes, as for CALL.
    pub fn columns(&mut self, sql: &str, parameters: usize) -> Result<Vec<String>, WireError> {
        pass_on!(&mut self.link, session => session.columns(sql, parameters))
    }

    /// A statement that is parsed anew at each execution, without being kept in the session: PostgreSQL's extended
    /// protocol with an unnamed statement. What is wrong with its text, its executions say. MySQL has no such thing.
    pub fn parsed_each_time(&mut self, sql: &str, params: &[ParameterType]) -> Result<Statement, WireError> {
        match &self.link {
            Link::Postgres(session) => {
                Ok(Statement { form: Form::Postgres(session.parsed_each_time(sql, params)?), kept_rows: 0 })
            }
            Link::Mysql(_) => Err(NO_PIPELINE),
        }
    }

    /// Puts a statement, prepared or parsed each time, at the end of the session's pipeline, which is sent with one
    /// write once it is submitted. MySQL has none.
    pub fn queue(&mut self, statement: &Statement) -> Result<(), WireError> {
        match (&mut self.link, &statement.form) {
            (Link::Postgres(session), Form::Postgres(statement)) => session.queue(statement),
            (Link::Mysql(_), _) => Err(NO_PIPELINE),
            _ => Err(OTHER_PROTOCOL),
        }
    }

    /// Ends a part of the pipeline: what fails before it leaves what follows alone.
    pub fn queue_sync(&mut self) -> Result<(), WireError> {
        match &mut self.link {
            Link::Postgres(session) => {
                session.queue_sync();
                Ok(())
            }
            Link::Mysql(_) => Err(NO_PIPELINE),
        }
    }

    /// Sends the pipeline; one reply tells of all of it, with the first error.
    pub fn submit_queue(&mut self) -> Result<(), WireError> {
        match &mut self.link {
            Link::Postgres(session) => session.submit_queue(),
            Link::Mysql(_) => Err(NO_PIPELINE),
        }
    }

    /// Forgets what is in the pipeline.
    pub fn drop_queue(&mut self) {
        if let Link::Postgres(session) = &mut self.link {
            session.drop_queue();
        }
    }

    /// A statement that is sent as text each time, with room for `capacity` bytes of SQL
    /// (see [`Statement::set_sql`]).
    pub fn text_statement(&mut self, capacity: usize) -> Statement {
        let form = match &self.link {
            Link::Postgres(_) => Form::Postgres(postgres::Statement::simple(capacity)),
            Link::Mysql(_) => Form::Mysql(mysql::Statement::text(capacity)),
        };
        Statement { form, kept_rows: 0 }
    }

    /// Sends a statement with one write. Waits only if the statement is larger than the socket's buffer.
    #[inline]
    pub fn submit(&mut self, statement: &Statement) -> Result<(), WireError> {
        let kept_rows = statement.kept_rows;
        match (&mut self.link, &statement.form) {
            (Link::Postgres(session), Form::Postgres(statement)) => {
                session.notes.rows.begin(kept_rows);
                session.submit(statement)
            }
            (Link::Mysql(session), Form::Mysql(statement)) => {
                session.notes.rows.begin(kept_rows);
                session.notes.rows.is_binary = statement.encoded.prepared.is_some();
                session.submit(statement)
            }
            _ => Err(OTHER_PROTOCOL),
        }
    }

    /// Reads once, without waiting; the reply if it is complete, `None` if not yet.
    #[inline]
    pub fn receive(&mut self) -> Result<Option<Reply>, WireError> {
        pass_on!(&mut self.link, session => session.receive())
    }

    /// The rows that were kept of the last reply (see [`Statement::keep_rows`]).
    #[inline]
    pub fn kept_rows(&self) -> &Rows {
        pass_on!(&self.link, session => &session.notes.rows)
    }

    /// Submits a statement and waits for its reply, within the deadline.
    pub fn run(&mut self, statement: &Statement) -> Result<Reply, WireError> {
        let deadline = Deadline::start(pass_on!(&self.link, session => session.state.deadline));
        self.submit(statement)?;
        loop {
            if let Some(reply) = self.receive()? {
                return Ok(reply);
            }
            pass_on!(&mut self.link, session => session.wait_readable(deadline))?;
        }
    }

    /// Whether a submitted statement has not been answered yet.
    pub fn is_pending(&self) -> bool {
        pass_on!(&self.link, session => session.is_pending())
    }

    /// Whether the reply to the submitted statement is complete and only has to be received: a
    /// [`submit`](Session::submit) that had to wait has read it, so that the session may never become readable again.
    #[inline]
    pub fn is_answered(&self) -> bool {
        pass_on!(&self.link, session => session.is_answered())
    }

    /// The last error that the server reported in this session.
    pub fn last_error(&self) -> Option<&ServerError> {
        pass_on!(&self.link, session => session.last_error())
    }

    /// The notices and warnings of blocking calls since the last call, the newest 64 of them. MySQL sends none: it
    /// keeps them for SHOW WARNINGS.
    pub fn take_notices(&mut self) -> Vec<ServerError> {
        match &mut self.link {
            Link::Postgres(session) => session.take_notices(),
            Link::Mysql(_) => Vec::new(),
        }
    }

    /// Ends the session and waits, for a second at most, until the server's process has let go of it. Dropping
    /// a session says goodbye too but doesn't wait.
    pub fn close(self) {
        pass_on!(self.link, session => session.close());
    }
}

/// To poll the session, never to read from it.
impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        pass_on!(&self.link, session => session.as_fd())
    }
}
