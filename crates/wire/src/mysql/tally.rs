//! Counts a reply packet by packet without keeping it: the sink of the timed path.
//!
//! In: payloads. Out: a [`Reply`] when the reply is complete. It allocates nothing but for an error text longer than
//! any before; rows and column definitions are counted from their headers and never looked into.

use crate::reply::{Reply, TransactionStatus};

use super::fields::Ended;
use super::flags::head;
use super::kept_row::{keep_row, keep_type};
use super::notes::{ERROR_BYTES_MAX, Notes};
use super::packet::{PAYLOAD_BYTES_MAX, PacketError, Sink};
use super::progress::{Progress, Step};

/// What is kept of an OK, whose numbers come first and whose text, if any, is of no interest.
const OK_BYTES_KEPT: usize = 32;

/// A reply that is being counted.
#[derive(Debug)]
pub(crate) struct Tally {
    reply: Reply,
    progress: Progress,
    /// Rows of results that have ended.
    rows_ended: u64,
    is_awaited: bool,
    wants_file: bool,
    has_refused_file: bool,
}

/// Before the first statement.
impl Default for Tally {
    fn default() -> Tally {
        let reply = Reply { rows: 0, affected: 0, bytes: 0, error: None, in_transaction: TransactionStatus::Idle };
        Tally {
            reply,
            progress: Progress::none(),
            rows_ended: 0,
            is_awaited: false,
            wants_file: false,
            has_refused_file: false,
        }
    }
}

impl Tally {
    /// Begins to await a reply; if it is an error, the transaction is as it was, which only we know.
    #[inline]
    pub(crate) fn begin(&mut self, progress: Progress, in_transaction: TransactionStatus) {
        self.reply = Reply { rows: 0, affected: 0, bytes: 0, error: None, in_transaction };
        self.progress = progress;
        self.rows_ended = 0;
        self.is_awaited = true;
        self.wants_file = false;
        self.has_refused_file = false;
    }

    /// No reply is awaited any more.
    pub(crate) fn give_up(&mut self) {
        *self = Tally::default();
    }

    /// Whether a reply is awaited.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// Counts received bytes.
    #[inline]
    pub(crate) fn add_bytes(&mut self, count: usize) {
        self.reply.bytes += count as u64;
    }

    /// The reply, once it is complete; then none is awaited any more.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Reply> {
        if !self.is_complete() {
            return None;
        }
        self.is_awaited = false;
        Some(self.reply)
    }

    /// Whether the awaited reply has come to its end.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.is_awaited && self.progress.is_done()
    }

    /// Whether the awaited reply is an error, as far as it has come.
    pub(crate) fn has_error(&self) -> bool {
        self.is_awaited && self.reply.error.is_some()
    }

    /// Whether the server has asked for a file since the last call; on this path it must be given an empty one.
    #[inline]
    pub(crate) fn take_file_request(&mut self) -> bool {
        self.has_refused_file |= self.wants_file;
        std::mem::take(&mut self.wants_file)
    }

    /// Whether the statement asked for a file.
    #[inline]
    pub(crate) fn has_refused_file(&self) -> bool {
        self.has_refused_file
    }

    #[inline]
    fn ended(&mut self, ended: Ended) {
        let rows = self.reply.rows - self.rows_ended;
        // A server may count up to 2^64 - 1, which it also says for "unknown".
        self.reply.affected = self.reply.affected.wrapping_add(ended.affected).wrapping_add(rows);
        self.rows_ended = self.reply.rows;
        self.reply.in_transaction = transaction_status(ended);
    }
}

/// What a session is in after a result that ended well.
#[inline]
pub(crate) fn transaction_status(ended: Ended) -> TransactionStatus {
    if ended.is_in_transaction() { TransactionStatus::InTransaction } else { TransactionStatus::Idle }
}

/// A tally with the session's notes at hand, for the time of one read.
#[derive(Debug)]
pub(crate) struct Counting<'a> {
    pub(crate) tally: &'a mut Tally,
    pub(crate) notes: &'a mut Notes,
}

impl Sink for Counting<'_> {
    fn keep(&mut self, head: u8, length: usize) -> Result<usize, PacketError> {
        Ok(match head {
            // Not its length: of a row in several packets, that of the first is all that is known yet.
            head if head != head::ERR && self.notes.rows.wants_more() => PAYLOAD_BYTES_MAX,
            _ if self.tally.progress.is_row(head, length) => 1,
            head::ERR => ERROR_BYTES_MAX,
            _ => OK_BYTES_KEPT,
        })
    }

    #[inline]
    fn packet(&mut self, length: usize, payload: &[u8]) -> Result<(), PacketError> {
        match self.tally.progress.step(length, payload)? {
            Step::Row(payload) => {
                self.tally.reply.rows += 1;
                if self.notes.rows.wants_more() {
                    return keep_row(&mut self.notes.rows, payload);
                }
            }
            Step::Ended(ended) => self.tally.ended(ended),
            Step::Error(payload) => self.failed(payload),
            Step::WantsFile(_) => self.tally.wants_file = true,
            Step::Farewell(payload) => self.notes.farewell(payload),
            Step::Begun(_) => self.notes.rows.begin_result(),
            Step::Column(payload) => {
                if self.notes.rows.wants_more() {
                    return keep_type(&mut self.notes.rows, payload);
                }
            }
            Step::Nothing | Step::Prepared(_) => {}
        }
        Ok(())
    }
}

impl Counting<'_> {
    #[cold]
    fn failed(&mut self, payload: &[u8]) {
        // An error does not tell whether the transaction is over: after 1213 it is on InnoDB, and is not on RocksDB. So
        // the session stays in what it was, and a ROLLBACK does no harm.
        self.tally.reply.error = Some(self.notes.error(payload));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Framing;
    use crate::mysql::packet::{Framer, PACKET_BYTES_MAX, encode, header};

    #[test]
    fn a_row_of_several_packets_is_kept_whole() {
        let value = vec![b'x'; PACKET_BYTES_MAX + 5];
        let column = [b"\x03def\0\0\0\x01x\0".as_slice(), b"\x0c\x3f\0\0\0\0\0", b"\xfc\0\0\0\0\0"].concat();
        // Its length in eight bytes.
        let row = [&[0xfe][..], &(value.len() as u64).to_le_bytes(), &value].concat();
        let (first, rest) = row.split_at(PACKET_BYTES_MAX);
        let stream = [
            encode(1, &[1]),
            encode(2, &column),
            [&header(3, first.len())[..], first].concat(),
            encode(4, rest),
            encode(5, &[head::EOF, 0, 0, 2, 0, 0, 0]),
        ]
        .concat();

        let (mut tally, mut notes, mut framer) = (Tally::default(), Notes::default(), Framer::default());
        tally.begin(Progress::of_result(false), TransactionStatus::Idle);
        notes.rows.begin(1);
        for piece in stream.chunks(1 << 20) {
            framer.feed(piece, &mut Counting { tally: &mut tally, notes: &mut notes }).unwrap();
        }
        assert_eq!(tally.take().map(|reply| (reply.rows, reply.error)), Some((1, None)));
        assert!(notes.rows.text(0, 0) == Some(&value));
    }
}
