//! COPY ... FROM STDIN: rows in, in messages of 256 KiB.
//!
//! In: rows in PostgreSQL's text format, from a closure. Out: the number of rows that the server took. An error that
//! the server reports half-way ends the feed early instead of at its end.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::error::WireError;

use super::collect::Collected;
use super::frame::HEADER_BYTES;
use super::session::Session;
use super::statement::patch_length;
use super::tag::frontend as tag;

/// Takes the rows of a COPY.
#[derive(Debug)]
pub(crate) struct CopyWriter<'a> {
    session: &'a mut Session,
    collected: Collected,
}

impl Session {
    /// Starts a COPY, which [`CopyWriter::end`] must end.
    pub(crate) fn begin_copy(&mut self, sql: &str) -> Result<CopyWriter<'_>, WireError> {
        let mut collected = Collected::default();
        // For each step anew: it is the silence that is limited, not the whole load.
        let deadline = self.state.start_deadline();
        self.begin(sql, &mut collected, deadline)?;
        while !collected.wants_copy_data {
            self.read_into(&mut collected, deadline)?;
            if collected.done {
                self.outcome(&mut collected)?;
                return Err(WireError::Misuse("the statement takes no rows: copy_in wants a COPY ... FROM STDIN"));
            }
        }
        Ok(CopyWriter { session: self, collected })
    }
}

impl CopyWriter<'_> {
    /// What a CopyData message begins with.
    pub(crate) const HEADER: [u8; HEADER_BYTES] = [tag::COPY_DATA, 0, 0, 0, 0];

    /// Sends a message, once its length is in its header.
    pub(crate) fn send(&mut self, message: &mut [u8]) -> Result<(), WireError> {
        patch_length(message, 0);
        let deadline = self.session.state.start_deadline();
        self.session.write_into(message, &mut self.collected, deadline)?;
        self.session.glance_into(&mut self.collected)?;
        self.session.outcome(&mut self.collected)
    }

    /// Ends the COPY: commits it if the feed was fed, else makes the server forget it.
    pub(crate) fn end<R>(mut self, fed: Result<R, WireError>) -> Result<(R, u64), WireError> {
        match fed {
            Ok(fed) => {
                let mut out = BytesMut::new();
                frontend::copy_done(&mut out);
                self.send_end(&out)?;
                self.session.outcome(&mut self.collected)?;
                Ok((fed, self.collected.affected))
            }
            Err(error) if self.session.state.is_broken => Err(error),
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
        let deadline = self.session.state.start_deadline();
        if !self.collected.done {
            self.session.write_into(message, &mut self.collected, deadline)?;
        }
        while !self.collected.done {
            self.session.read_into(&mut self.collected, deadline)?;
        }
        Ok(())
    }
}
