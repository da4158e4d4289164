//! Keeps the reply to a control-plane request: the sink for text results.
//!
//! In: frames. Out: a [`Table`], counts, an error. Result rows are held in memory, which is meant
//! for settings, plans and counters, not for benchmark results.

use crate::error::ServerError;
use crate::reply::Table;

use super::body::{Body, tag_count};
use super::frame::{FrameError, HEADER_BYTES, Sink};
use super::notes::Notes;
use super::tag::backend;
use super::tally::transaction_status;

/// The longest row or row description that the control plane takes.
const CONTROL_FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What has come of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The last result set; rows are kept only if `keeps_rows`.
    pub(crate) table: Table,
    /// Whether anybody wants the rows.
    pub(crate) keeps_rows: bool,
    /// The sum of the counts in the command tags.
    pub(crate) affected: u64,
    /// The first error.
    pub(crate) error: Option<Box<ServerError>>,
    /// The number of parameters of a statement that was described.
    pub(crate) parameters: Option<usize>,
    /// The server waits for COPY data.
    pub(crate) wants_copy_data: bool,
    /// ReadyForQuery has come.
    pub(crate) done: bool,
}

/// A reply in the making, with the session's notes at hand, for the time of one call.
#[derive(Debug)]
pub(crate) struct Collecting<'a> {
    pub(crate) collected: &'a mut Collected,
    pub(crate) notes: &'a mut Notes,
}

impl Sink for Collecting<'_> {
    fn keep(&mut self, tag: u8, frame_bytes: usize) -> Result<usize, FrameError> {
        if let Some(keep) = Notes::keep(tag, frame_bytes) {
            return keep;
        }
        match tag {
            backend::COPY_DATA => Ok(HEADER_BYTES),
            backend::DATA_ROW if !self.collected.keeps_rows => Ok(HEADER_BYTES),
            _ if frame_bytes <= CONTROL_FRAME_BYTES_MAX => Ok(frame_bytes),
            _ => Err(FrameError::TooLong { tag, length: frame_bytes, limit: CONTROL_FRAME_BYTES_MAX }),
        }
    }

    fn frame(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError> {
        let collected = &mut *self.collected;
        match tag {
            backend::ROW_DESCRIPTION => {
                collected.table.columns = row_description(frame)?;
                collected.table.rows.clear();
            }
            backend::DATA_ROW if collected.keeps_rows => {
                collected.table.rows.push(data_row(frame)?);
            }
            backend::COMMAND_COMPLETE => {
                let count = tag_count(&frame[HEADER_BYTES..]);
                collected.affected = collected.affected.wrapping_add(count);
            }
            backend::READY_FOR_QUERY => {
                transaction_status(frame)?;
                if std::mem::replace(&mut collected.done, true) {
                    return Err(FrameError::Unexpected { tag });
                }
            }
            backend::ERROR_RESPONSE => {
                let error = self.notes.error(frame);
                if collected.error.is_none() {
                    collected.error = Some(Box::new(error.clone()));
                }
                collected.wants_copy_data = false;
            }
            backend::NOTICE_RESPONSE => self.notes.notice(frame),
            backend::PARAMETER_STATUS => self.notes.parameter_status(frame)?,
            backend::PARAMETER_DESCRIPTION => {
                collected.parameters = Some(Body::of(frame).count()?);
            }
            backend::COPY_IN_RESPONSE => collected.wants_copy_data = true,
            backend::DATA_ROW
            | backend::NOTIFICATION_RESPONSE
            | backend::PARSE_COMPLETE
            | backend::BIND_COMPLETE
            | backend::CLOSE_COMPLETE
            | backend::NO_DATA
            | backend::EMPTY_QUERY_RESPONSE
            | backend::COPY_OUT_RESPONSE
            | backend::COPY_DATA
            | backend::COPY_DONE => {}
            _ => return Err(FrameError::Unexpected { tag }),
        }
        Ok(())
    }
}

/// The column names of a RowDescription.
fn row_description(frame: &[u8]) -> Result<Vec<String>, FrameError> {
    /// Table, attribute number, type, size, modifier and format of a column, which we don't need.
    const FIELD_REST_BYTES: usize = 18;
    let mut body = Body::of(frame);
    (0..body.count()?)
        .map(|_| {
            let name = String::from_utf8_lossy(body.string()?).into_owned();
            body.bytes(FIELD_REST_BYTES)?;
            Ok(name)
        })
        .collect()
}

/// The values of a DataRow.
fn data_row(frame: &[u8]) -> Result<Vec<Option<String>>, FrameError> {
    let mut body = Body::of(frame);
    (0..body.count()?)
        .map(|_| match body.int32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| body.malformed())?;
                let value = String::from_utf8_lossy(body.bytes(length)?);
                Ok(Some(value.into_owned()))
            }
        })
        .collect()
}
