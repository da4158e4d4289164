//! Rows of a bulk load, gathered to messages, whatever the protocol.
//!
//! In: bytes as they come. Out: messages of 256 KiB, which the protocol's own writer sends, and the number of rows
//! taken.

use std::io;

use crate::error::WireError;
use crate::{mysql, postgres};

/// Rows are sent in messages of this size: large enough that the write costs nothing beside the server's work, and
/// smaller than any server's max_allowed_packet.
const MESSAGE_BYTES: usize = 256 * 1024;

/// Takes the rows of a [`crate::Session::copy_in`], in the format that its statement names.
#[derive(Debug)]
pub struct CopyWriter<'s> {
    link: Link<'s>,
    /// A message in the making, header included.
    buffer: Vec<u8>,
    header_bytes: usize,
}

#[derive(Debug)]
enum Link<'s> {
    Postgres(postgres::CopyWriter<'s>),
    Mysql(mysql::CopyWriter<'s>),
}

impl<'s> CopyWriter<'s> {
    pub(crate) fn postgres(writer: postgres::CopyWriter<'s>) -> CopyWriter<'s> {
        CopyWriter::new(Link::Postgres(writer), &postgres::CopyWriter::HEADER)
    }

    pub(crate) fn mysql(writer: mysql::CopyWriter<'s>) -> CopyWriter<'s> {
        CopyWriter::new(Link::Mysql(writer), &mysql::CopyWriter::HEADER)
    }

    fn new(link: Link<'s>, header: &[u8]) -> CopyWriter<'s> {
        let mut buffer = Vec::with_capacity(header.len() + MESSAGE_BYTES);
        buffer.extend(header);
        CopyWriter { link, buffer, header_bytes: header.len() }
    }

    /// Adds bytes, which may be rows or pieces of rows. They are sent in messages of 256 KiB.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), WireError> {
        loop {
            let room = self.header_bytes + MESSAGE_BYTES - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            if now.len() < room {
                return Ok(());
            }
            self.flush()?;
            bytes = later;
        }
    }

    fn flush(&mut self) -> Result<(), WireError> {
        if self.buffer.len() == self.header_bytes {
            return Ok(());
        }
        match &mut self.link {
            Link::Postgres(writer) => writer.send(&mut self.buffer)?,
            Link::Mysql(writer) => writer.send(&mut self.buffer)?,
        }
        self.buffer.truncate(self.header_bytes);
        Ok(())
    }

    /// Ends the load: all rows are taken if the feed was fed, else none.
    pub(crate) fn end<R>(mut self, fed: Result<R, WireError>) -> Result<(R, u64), WireError> {
        let fed = fed.and_then(|fed| self.flush().map(|()| fed));
        match self.link {
            Link::Postgres(writer) => writer.end(fed),
            Link::Mysql(writer) => writer.end(fed),
        }
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
