//! COPY ... FROM STDIN: rows in, in messages of 256 KiB.
//!
//! In: rows in PostgreSQL's text format, from a closure. Out: the number of rows that the server took. An error that
//! the server reports half-way ends the feed early instead of at its end.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::error::WireError;
use crate::socket::Deadline;

use super::collect::Collected;
use super::frame::HEADER_BYTES;
use super::session::Session;
use super::statement::patch_length;
use super::tag::frontend as tag;

/// Rows are sent in messages of this size: large enough that the write costs nothing beside the server's work.
const MESSAGE_BYTES: usize = 256 * 1024;

/// Takes the rows of a COPY.
#[derive(Debug)]
pub(crate) struct CopyWriter<'a> {
    session: &'a mut Session,
    collected: Collected,
    /// A CopyData message in the making, header included.
    buffer: Vec<u8>,
}

impl Session {
    /// Starts a COPY, which [`CopyWriter::end`] must end.
    pub(crate) fn begin_copy(&mut self, sql: &str) -> Result<CopyWriter<'_>, WireError> {
        let mut collected = Collected::default();
        let deadline = self.step_deadline();
        self.begin(sql, &mut collected, deadline)?;
        while !collected.wants_copy_data {
            self.read_into(&mut collected, deadline)?;
            if collected.done {
                self.outcome(&mut collected)?;
                return Err(WireError::Misuse("the statement takes no rows: copy_in wants a COPY ... FROM STDIN"));
            }
        }
        let mut buffer = Vec::with_capacity(HEADER_BYTES + MESSAGE_BYTES);
        buffer.extend([tag::COPY_DATA, 0, 0, 0, 0]);
        Ok(CopyWriter { session: self, collected, buffer })
    }

    /// The deadline for one step of a COPY: it is the silence that is limited, not the whole load.
    fn step_deadline(&self) -> Deadline {
        Deadline::start(self.standing.deadline)
    }
}

impl CopyWriter<'_> {
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), WireError> {
        loop {
            let room = HEADER_BYTES + MESSAGE_BYTES - self.buffer.len();
            if bytes.len() < room {
                self.buffer.extend_from_slice(bytes);
                return Ok(());
            }
            let (now, later) = bytes.split_at(room);
            self.buffer.extend_from_slice(now);
            self.flush()?;
            bytes = later;
        }
    }

    fn flush(&mut self) -> Result<(), WireError> {
        if self.buffer.len() == HEADER_BYTES {
            return Ok(());
        }
        patch_length(&mut self.buffer, 0);
        let deadline = self.session.step_deadline();
        self.session.write_into(&self.buffer, &mut self.collected, deadline)?;
        self.buffer.truncate(HEADER_BYTES);
        self.session.glance_into(&mut self.collected)?;
        self.session.outcome(&mut self.collected)
    }

    /// Ends the COPY: commits it if the feed was fed, else makes the server forget it.
    pub(crate) fn end<R>(mut self, fed: Result<R, WireError>) -> Result<(R, u64), WireError> {
        match fed.and_then(|fed| self.flush().map(|()| fed)) {
            Ok(fed) => {
                let mut out = BytesMut::new();
                frontend::copy_done(&mut out);
                self.send_end(&out)?;
                self.session.outcome(&mut self.collected)?;
                Ok((fed, self.collected.affected))
            }
            Err(error) if self.session.standing.is_broken => Err(error),
            Err(error) => {
                let mut out = BytesMut::new();
                frontend::copy_fail("the client gave up", &mut out).expect("the text has no NUL byte");
                // What the server says to this is no news to the caller, who has the reason.
                let _ = self.send_end(&out);
                Err(error)
            }
        }
    }

    fn send_end(&mut self, message: &[u8]) -> Result<(), WireError> {
        let deadline = self.session.step_deadline();
        if !self.collected.done {
            self.session.write_into(message, &mut self.collected, deadline)?;
        }
        while !self.collected.done {
            self.session.read_into(&mut self.collected, deadline)?;
        }
        Ok(())
    }
}
