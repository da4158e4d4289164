//! LOAD DATA LOCAL INFILE: the way in for many rows.
//!
//! In: bytes of the file that the statement names, from a closure. Out: the number of rows that the server took. Only
//! the file of [`FILE`] is ever given, and it is no file: no path that a server asks for is looked at. An error of the
//! server comes at the end, since it reads the file to its end first; an error of the feed breaks off the session,
//! which is the only way to make the server forget the rows.

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
        let mut writer = CopyWriter { session: self, collected, sequence };
        if file.as_deref() != Some(FILE) {
            writer.finish()?;
            return Err(WireError::Misuse(
                "the server asks for another file than 'rqps', which is the one that copy_in gives",
            ));
        }
        Ok(writer)
    }
}

impl CopyWriter<'_> {
    /// What a packet begins with.
    pub(crate) const HEADER: [u8; HEADER_BYTES] = [0; HEADER_BYTES];

    /// Sends a packet, once length and number are in its header.
    pub(crate) fn send(&mut self, packet: &mut [u8]) -> Result<(), WireError> {
        let length = packet.len() - HEADER_BYTES;
        packet[..HEADER_BYTES].copy_from_slice(&header(self.sequence, length));
        self.sequence = self.sequence.wrapping_add(1);
        let deadline = self.session.state.start_deadline();
        self.session.write_into(packet, &mut self.collected, deadline)?;
        self.session.outcome(&mut self.collected)
    }

    /// Ends the load: with the end of the file if the feed was fed, else with the end of the session.
    pub(crate) fn end<R>(mut self, fed: Result<R, WireError>) -> Result<(R, u64), WireError> {
        match fed {
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
