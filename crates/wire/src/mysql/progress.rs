//! Where in a reply the stream stands, which alone says what a packet means.
//!
//! In: payloads, whole or their beginnings. Out: what each of them is. The sinks of both paths share it. It follows the
//! manual's "Text Resultset", "Binary Protocol Resultset" and "COM_STMT_PREPARE Response", in the old form with EOF
//! packets and in the form that CLIENT_DEPRECATE_EOF agrees on.

use super::fields::{Ended, Fields};
use super::flags::head;
use super::packet::{PACKET_BYTES_MAX, PacketError};

/// The most columns that are believed; servers allow 4096.
const COLUMNS_MAX: u64 = 65_535;

/// An EOF packet is shorter than this; a row that begins with the same byte is longer.
const EOF_BYTES_MAX: usize = 8;

/// What a packet is.
#[derive(Debug)]
pub(crate) enum Step<'p> {
    /// A result set begins, with so many columns.
    Begun(usize),
    /// A column's definition.
    Column(&'p [u8]),
    /// A row.
    Row(&'p [u8]),
    /// A statement or a result set has ended.
    Ended(Ended),
    /// The reply ends with an error.
    Error(&'p [u8]),
    /// The server says why it ends the session, without being asked.
    Farewell(&'p [u8]),
    /// The server asks for a file's content.
    WantsFile(&'p [u8]),
    /// A statement is prepared.
    Prepared(Prepared),
    /// Nothing that matters.
    Nothing,
}

/// The answer to COM_STMT_PREPARE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) parameters: u16,
}

/// The state of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first packet of a result.
    Head,
    /// The same, after a file was asked for, which happens once a result.
    HeadAfterFile,
    /// The first packet of the answer to COM_STMT_PREPARE.
    PrepareHead,
    /// So many column definitions.
    Columns(usize),
    /// The EOF between columns and rows.
    ColumnsEnd,
    Rows,
    /// So many definitions and EOFs of a prepared statement: those of its parameters, then those of so many columns.
    Definitions {
        left: usize,
        columns: usize,
    },
    Done,
}

/// The progress of one reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    phase: Phase,
    has_eof: bool,
}

impl Progress {
    /// Before the answer to a query or an execution; `has_eof` unless CLIENT_DEPRECATE_EOF was agreed on.
    #[inline]
    pub(crate) fn of_result(has_eof: bool) -> Progress {
        Progress { phase: Phase::Head, has_eof }
    }

    /// Before the answer to COM_STMT_PREPARE.
    pub(crate) fn of_prepare(has_eof: bool) -> Progress {
        Progress { phase: Phase::PrepareHead, has_eof }
    }

    /// Where no reply is awaited.
    pub(crate) fn none() -> Progress {
        Progress { phase: Phase::Done, has_eof: false }
    }

    /// Whether the reply is complete.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// Whether a packet with that first byte would be a row.
    pub(crate) fn is_row(&self, head: u8, length: usize) -> bool {
        let ends = match head {
            head::ERR => true,
            head::EOF if self.has_eof => length <= EOF_BYTES_MAX,
            head::EOF => length < PACKET_BYTES_MAX,
            _ => false,
        };
        matches!(self.phase, Phase::Rows) && !ends
    }

    /// Takes a payload of `length` bytes, of which at least the first is at hand.
    #[inline]
    pub(crate) fn step<'p>(&mut self, length: usize, payload: &'p [u8]) -> Result<Step<'p>, PacketError> {
        match self.phase {
            // Rows of prepared statements begin with 0, those of text with a length.
            Phase::Rows if payload[0] < head::EOF => Ok(Step::Row(payload)),
            Phase::Columns(left) if payload[0] != head::ERR => {
                self.phase = match left {
                    2.. => Phase::Columns(left - 1),
                    _ if self.has_eof => Phase::ColumnsEnd,
                    _ => Phase::Rows,
                };
                Ok(Step::Column(payload))
            }
            _ => self.rare_step(length, payload),
        }
    }

    fn rare_step<'p>(&mut self, length: usize, payload: &'p [u8]) -> Result<Step<'p>, PacketError> {
        let head = payload[0];
        match (self.phase, head) {
            (Phase::Done, head::ERR) => Ok(Step::Farewell(payload)),
            (Phase::Done, _) => Err(PacketError::Unexpected { head }),
            (_, head::ERR) => {
                self.phase = Phase::Done;
                Ok(Step::Error(payload))
            }
            (Phase::Head | Phase::HeadAfterFile, head::OK) => self.ended(Ended::ok(payload)?),
            (Phase::Head, head::LOCAL_INFILE) => {
                self.phase = Phase::HeadAfterFile;
                Ok(Step::WantsFile(&payload[1..]))
            }
            (Phase::Head, _) => self.begin(payload),
            (Phase::ColumnsEnd, head::EOF) if length <= EOF_BYTES_MAX => {
                Ended::eof(payload)?;
                self.phase = Phase::Rows;
                Ok(Step::Nothing)
            }
            (Phase::Rows, head::EOF) if !self.is_row(head, length) => {
                let ended = if self.has_eof { Ended::eof(payload)? } else { Ended::ok(payload)? };
                self.ended(ended)
            }
            (Phase::Rows, _) => Ok(Step::Row(payload)),
            (Phase::PrepareHead, head::OK) => self.prepared(payload),
            (Phase::Definitions { left, columns }, _) => {
                self.phase = if left > 1 { Phase::Definitions { left: left - 1, columns } } else { Phase::Done };
                let behind = usize::from(self.has_eof);
                let is_column = left > behind && left <= columns + behind;
                Ok(if is_column { Step::Column(payload) } else { Step::Nothing })
            }
            _ => Err(PacketError::Unexpected { head }),
        }
    }

    /// After a result comes another, or none.
    #[inline]
    fn ended<'p>(&mut self, ended: Ended) -> Result<Step<'p>, PacketError> {
        self.phase = if ended.has_more_results() { Phase::Head } else { Phase::Done };
        Ok(Step::Ended(ended))
    }

    /// A result set with rows begins with the number of its columns.
    fn begin<'p>(&mut self, payload: &[u8]) -> Result<Step<'p>, PacketError> {
        let mut fields = Fields::of(payload);
        let count = fields.lenenc()?;
        if count == 0 || count > COLUMNS_MAX || !fields.is_at_end() {
            return Err(fields.malformed());
        }
        let count = usize::try_from(count).expect("at most 65535");
        self.phase = Phase::Columns(count);
        Ok(Step::Begun(count))
    }

    fn prepared<'p>(&mut self, payload: &[u8]) -> Result<Step<'p>, PacketError> {
        let mut fields = Fields::behind_head(payload);
        let id = fields.int4()?;
        let columns = fields.int2()?;
        let parameters = fields.int2()?;
        let packets = |definitions: u16| match definitions {
            0 => 0,
            count => usize::from(count) + usize::from(self.has_eof),
        };
        self.phase = match packets(columns) + packets(parameters) {
            0 => Phase::Done,
            left => Phase::Definitions { left, columns: columns.into() },
        };
        Ok(Step::Prepared(Prepared { id, parameters }))
    }
}
