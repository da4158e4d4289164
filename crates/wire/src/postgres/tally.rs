//! Counts a reply frame by frame without keeping it: the sink of the timed path.
//!
//! In: frames. Out: a [`Reply`] when ReadyForQuery comes. It allocates nothing but for an error text longer than any
//! before; rows are counted from their headers and never looked into.

use crate::reply::{Reply, TransactionStatus};

use super::body::{Body, tag_count};
use super::frame::{FrameError, HEADER_BYTES, Sink};
use super::notes::Notes;
use super::tag::backend;

/// The longest CommandComplete that is kept whole; a tag is a few words.
const COMMAND_TAG_BYTES_MAX: usize = 256;

/// A reply that is being counted.
#[derive(Debug)]
pub(crate) struct Tally {
    reply: Reply,
    /// How many ReadyForQuery are still to come: one for each Sync.
    awaited: u32,
    wants_copy_data: bool,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            reply: Reply { rows: 0, affected: 0, bytes: 0, error: None, in_transaction: TransactionStatus::Idle },
            awaited: 1,
            wants_copy_data: false,
        }
    }
}

impl Tally {
    /// The reply to so many Syncs.
    pub(crate) fn of_syncs(syncs: u32) -> Tally {
        Tally { awaited: syncs, ..Tally::default() }
    }

    /// Counts received bytes.
    #[inline]
    pub(crate) fn add_bytes(&mut self, count: usize) {
        self.reply.bytes += count as u64;
    }

    /// The reply, once it is complete; the tally then starts anew.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Reply> {
        if self.awaited > 0 {
            return None;
        }
        Some(std::mem::take(self).reply)
    }

    /// Whether the reply has come to its end and was not taken.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.awaited == 0
    }

    /// Whether the server has asked for COPY data since the last call, which on this path it must not be given.
    #[inline]
    pub(crate) fn take_wants_copy_data(&mut self) -> bool {
        std::mem::take(&mut self.wants_copy_data)
    }
}

/// A tally with the session's notes at hand, for the time of one read.
#[derive(Debug)]
pub(crate) struct Counting<'a> {
    pub(crate) tally: &'a mut Tally,
    pub(crate) notes: &'a mut Notes,
}

impl Sink for Counting<'_> {
    fn keep(&mut self, tag: u8, frame_bytes: usize) -> Result<usize, FrameError> {
        if let Some(keep) = Notes::keep(tag, frame_bytes) {
            return keep;
        }
        match tag {
            backend::DATA_ROW if self.notes.rows.wants_more() => Ok(frame_bytes),
            backend::ROW_DESCRIPTION if self.notes.rows.wants_names() => Ok(frame_bytes),
            backend::DATA_ROW
            | backend::COPY_DATA
            | backend::ROW_DESCRIPTION
            | backend::PARAMETER_DESCRIPTION
            | backend::COPY_OUT_RESPONSE
            | backend::COPY_IN_RESPONSE => Ok(HEADER_BYTES),
            backend::COMMAND_COMPLETE if frame_bytes <= COMMAND_TAG_BYTES_MAX => Ok(frame_bytes),
            backend::READY_FOR_QUERY if frame_bytes == HEADER_BYTES + 1 => Ok(frame_bytes),
            _ if is_bare(tag) && frame_bytes == HEADER_BYTES => Ok(frame_bytes),
            backend::COMMAND_COMPLETE | backend::READY_FOR_QUERY => Err(FrameError::Malformed { tag }),
            _ if is_bare(tag) => Err(FrameError::Malformed { tag }),
            _ => Err(FrameError::Unexpected { tag }),
        }
    }

    #[inline]
    fn frame(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError> {
        match tag {
            backend::DATA_ROW => {
                self.tally.reply.rows += 1;
                if self.notes.rows.wants_more() {
                    return self.keep_row(frame);
                }
            }
            backend::COMMAND_COMPLETE => {
                self.notes.rows.end_result();
                let count = tag_count(&frame[HEADER_BYTES..]);
                let affected = &mut self.tally.reply.affected;
                *affected = affected.wrapping_add(count);
            }
            backend::READY_FOR_QUERY => {
                self.tally.reply.in_transaction = transaction_status(frame)?;
                let left = self.tally.awaited.checked_sub(1).ok_or(FrameError::Unexpected { tag })?;
                self.tally.awaited = left;
            }
            backend::BIND_COMPLETE => {}
            _ => return self.rare(tag, frame),
        }
        Ok(())
    }
}

impl Counting<'_> {
    /// Keeps a row for whoever asked.
    #[cold]
    fn keep_row(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        let rows = &mut self.notes.rows;
        let mut body = Body::of(frame);
        let columns = body.count()?;
        rows.begin_row();
        for _ in 0..columns {
            let value = match body.int32()? {
                -1 => None,
                length => Some(body.bytes(usize::try_from(length).map_err(|_| body.malformed())?)?),
            };
            rows.push(value.map(|value| |bytes: &mut Vec<u8>| bytes.extend_from_slice(value)));
        }
        rows.end_row(columns);
        Ok(())
    }

    /// Keeps the names of the columns for whoever asked.
    #[cold]
    fn keep_names(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        /// Table, column, type, its size and modifier, format.
        const BEHIND_NAME_BYTES: usize = 4 + 2 + 4 + 2 + 4 + 2;
        let mut body = Body::of(frame);
        let columns = body.count()?;
        self.notes.rows.begin_names();
        for _ in 0..columns {
            self.notes.rows.push_name(body.string()?);
            body.bytes(BEHIND_NAME_BYTES)?;
        }
        Ok(())
    }

    #[cold]
    fn rare(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError> {
        match tag {
            backend::ERROR_RESPONSE => {
                let code = self.notes.error(frame).code();
                self.tally.reply.error.get_or_insert(code.into());
            }
            backend::PARAMETER_STATUS => self.notes.parameter_status(frame)?,
            backend::COPY_IN_RESPONSE => self.tally.wants_copy_data = true,
            backend::ROW_DESCRIPTION if self.notes.rows.wants_names() => self.keep_names(frame)?,
            backend::NOTICE_RESPONSE
            | backend::NOTIFICATION_RESPONSE
            | backend::ROW_DESCRIPTION
            | backend::PARAMETER_DESCRIPTION
            | backend::COPY_OUT_RESPONSE
            | backend::COPY_DATA => {}
            _ if is_bare(tag) && frame.len() == HEADER_BYTES => {}
            _ => return Err(FrameError::Unexpected { tag }),
        }
        Ok(())
    }
}

/// Messages that consist of their header.
fn is_bare(tag: u8) -> bool {
    matches!(
        tag,
        backend::BIND_COMPLETE
            | backend::PARSE_COMPLETE
            | backend::CLOSE_COMPLETE
            | backend::NO_DATA
            | backend::PORTAL_SUSPENDED
            | backend::EMPTY_QUERY_RESPONSE
            | backend::COPY_DONE
    )
}

/// Reads a ReadyForQuery.
#[inline]
pub(crate) fn transaction_status(frame: &[u8]) -> Result<TransactionStatus, FrameError> {
    match frame.get(HEADER_BYTES..) {
        Some([b'I']) => Ok(TransactionStatus::Idle),
        Some([b'T']) => Ok(TransactionStatus::InTransaction),
        Some([b'E']) => Ok(TransactionStatus::Failed),
        _ => Err(FrameError::Malformed { tag: backend::READY_FOR_QUERY }),
    }
}
