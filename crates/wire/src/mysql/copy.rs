//! LOAD DATA LOCAL INFILE: the way in for many rows.
//!
//! In: bytes of the file that the statement names, from a closure. Out: the number of rows that the server took. Only
//! the file of [`FILE`] is ever given, and it is no file: no path that a server asks for is looked at. An error of the
//! server comes at the end, since it reads the file to its end first; an error of the feed breaks off the session,
//! which is the only way to make the server forget the rows.

use crate::copy_buffer::{MESSAGE_BYTES, fill};
use crate::error::WireError;

use super::collect::Collected;
use super::packet::{HEADER_BYTES, header};
use super::session::Session;

/// The name that a statement must give its file.
const FILE: &[u8] = b"rqps";

/// Takes the bytes of a LOAD DATA.
#[derive(Debug)]
pub(crate) struct CopyWriter<'a> {
    session: &'a mut Session,
    collected: Collected,
    /// A packet in the making, header included.
    buffer: Vec<u8>,
    sequence: u8,
}

impl Session {
    /// Starts a LOAD DATA, which [`CopyWriter::end`] must end.
    pub(crate) fn begin_copy(&mut self, sql: &str) -> Result<CopyWriter<'_>, WireError> {
        let mut collected = self.awaiting();
        // For each step anew: it is the silence that is limited, not the whole load.
        let deadline = self.state.start_deadline();
        self.begin(sql, &mut collected, deadline)?;
        while collected.wants_file.is_none() {
            self.read_into(&mut collected, deadline)?;
            if collected.is_done() {
                self.outcome(&mut collected)?;
                return Err(WireError::Misuse(
                    "the statement takes no rows: copy_in wants a LOAD DATA LOCAL INFILE 'rqps' INTO TABLE ...",
                ));
            }
        }
        let file = collected.wants_file.take();
        let sequence = self.channel.next_sequence();
        let mut writer = CopyWriter { session: self, collected, buffer: vec![0; HEADER_BYTES], sequence };
        if file.as_deref() != Some(FILE) {
            writer.finish()?;
            return Err(WireError::Misuse(
                "the server asks for another file than 'rqps', which is the one that copy_in gives",
            ));
        }
        writer.buffer.reserve(MESSAGE_BYTES);
        Ok(writer)
    }
}

impl CopyWriter<'_> {
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), WireError> {
        while let Some(rest) = fill(&mut self.buffer, HEADER_BYTES, bytes) {
            self.flush()?;
            bytes = rest;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WireError> {
        if self.buffer.len() == HEADER_BYTES {
            return Ok(());
        }
        let length = self.buffer.len() - HEADER_BYTES;
        self.buffer[..HEADER_BYTES].copy_from_slice(&header(self.sequence, length));
        self.sequence = self.sequence.wrapping_add(1);
        let deadline = self.session.state.start_deadline();
        self.session.write_into(&self.buffer, &mut self.collected, deadline)?;
        self.buffer.truncate(HEADER_BYTES);
        self.session.outcome(&mut self.collected)
    }

    /// Ends the load: with the end of the file if the feed was fed, else with the end of the session.
    pub(crate) fn end<R>(mut self, fed: Result<R, WireError>) -> Result<(R, u64), WireError> {
        match fed.and_then(|fed| self.flush().map(|()| fed)) {
            Ok(fed) => {
                self.finish()?;
                Ok((fed, self.collected.affected))
            }
            Err(error) => {
                self.session.abandon();
                Err(error)
            }
        }
    }

    /// An empty packet is the end of the file.
    fn finish(&mut self) -> Result<(), WireError> {
        let deadline = self.session.state.start_deadline();
        self.session.write_into(&header(self.sequence, 0), &mut self.collected, deadline)?;
        self.session.collect_rest(&mut self.collected, deadline)
    }
}
