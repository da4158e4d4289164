//! Keeps the reply to a control-plane request: the sink for text results.
//!
//! In: payloads. Out: a [`Table`], counts, an error. Result rows are held in memory, which is meant for settings, plans
//! and counters, not for benchmark results. Bytes that are no UTF-8 are replaced.

use crate::error::ServerError;
use crate::reply::{Table, TransactionStatus};

use super::fields::Fields;
use super::notes::ERROR_BYTES_MAX;
use super::packet::{PacketError, Sink};
use super::progress::{Prepared, Progress, Step};
use super::tally::transaction_status;

/// The longest row that the control plane takes.
const CONTROL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is kept of a packet that is only counted.
const COUNTED_BYTES_KEPT: usize = 32;

/// What has come of a reply so far.
#[derive(Debug)]
pub(crate) struct Collected {
    progress: Progress,
    /// The last result set; rows are kept only if `keeps_rows`.
    pub(crate) table: Table,
    /// Whether anybody wants the rows, or the names of their columns.
    pub(crate) keeps_rows: bool,
    /// The columns of the result set under way.
    columns: usize,
    /// The rows affected by, or returned from, all statements.
    pub(crate) affected: u64,
    pub(crate) error: Option<Box<ServerError>>,
    pub(crate) prepared: Option<Prepared>,
    /// The file that the server asks for and has not been given.
    pub(crate) wants_file: Option<Vec<u8>>,
    pub(crate) in_transaction: TransactionStatus,
}

impl Collected {
    pub(crate) fn new(progress: Progress, in_transaction: TransactionStatus) -> Collected {
        Collected {
            progress,
            table: Table::default(),
            keeps_rows: false,
            columns: 0,
            affected: 0,
            error: None,
            prepared: None,
            wants_file: None,
            in_transaction,
        }
    }

    /// Whether the reply is complete.
    pub(crate) fn is_done(&self) -> bool {
        self.progress.is_done()
    }
}

impl Sink for Collected {
    fn keep(&mut self, head: u8, length: usize) -> Result<usize, PacketError> {
        match head {
            _ if !self.keeps_rows && self.progress.is_row(head, length) => Ok(COUNTED_BYTES_KEPT),
            _ if length <= CONTROL_BYTES_MAX => Ok(CONTROL_BYTES_MAX),
            _ => Err(PacketError::TooLong { length, limit: CONTROL_BYTES_MAX }),
        }
    }

    fn packet(&mut self, length: usize, payload: &[u8]) -> Result<(), PacketError> {
        match self.progress.step(length, payload)? {
            Step::Begun(columns) => {
                self.columns = columns;
                self.table = Table::default();
            }
            Step::Column(payload) => {
                if self.keeps_rows {
                    self.table.columns.push(column_name(payload)?);
                }
            }
            Step::Row(_) if !self.keeps_rows => self.affected = self.affected.wrapping_add(1),
            Step::Row(payload) => {
                if payload.len() < length {
                    return Err(PacketError::TooLong { length, limit: CONTROL_BYTES_MAX });
                }
                self.affected = self.affected.wrapping_add(1);
                self.table.rows.push(row(payload, self.columns)?);
            }
            Step::Ended(ended) => {
                self.affected = self.affected.wrapping_add(ended.affected);
                self.in_transaction = transaction_status(ended);
            }
            Step::Error(payload) | Step::Farewell(payload) => {
                let mut error = ServerError::default();
                error.read_err_packet(&payload[..payload.len().min(ERROR_BYTES_MAX)]);
                self.error = Some(Box::new(error));
            }
            Step::WantsFile(name) => self.wants_file = Some(name.to_vec()),
            Step::Prepared(prepared) => self.prepared = Some(prepared),
            Step::Nothing => {}
        }
        Ok(())
    }
}

/// The name in a column definition.
fn column_name(payload: &[u8]) -> Result<String, PacketError> {
    let mut fields = Fields::of(payload);
    let _catalog = fields.text()?;
    let _schema = fields.text()?;
    let _table = fields.text()?;
    let _original_table = fields.text()?;
    Ok(String::from_utf8_lossy(fields.text()?).into_owned())
}

/// The values of a text row.
fn row(payload: &[u8], columns: usize) -> Result<Vec<Option<String>>, PacketError> {
    let mut fields = Fields::of(payload);
    // Every value takes a byte at least, so a short row cannot make us reserve much.
    let mut values = Vec::with_capacity(columns.min(payload.len()));
    for _ in 0..columns {
        values.push(fields.text_or_null()?.map(|value| String::from_utf8_lossy(value).into_owned()));
    }
    if !fields.is_at_end() {
        return Err(fields.malformed());
    }
    Ok(values)
}
