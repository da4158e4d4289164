//! What a test recorded by the second is rated by: rows, rows that came into indexes, or queries.
//!
//! In: a sample's record. Out: the operation, and how it is counted in a second.

use super::seconds::{inserted, queries};
use rqps_model::insert::StepRecord;
use rqps_model::sample::SecondRow;

/// The main operation of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Main {
    /// Rows inserted.
    Rows,
    /// Rows that came into indexes; they have no rate by the second.
    IndexedRows,
    /// Queries answered.
    Queries,
}

impl Main {
    pub(crate) fn of(record: &StepRecord) -> Main {
        match (record.rows_indexed, record.queries.accounting.scheduled) {
            (Some(_), _) => Main::IndexedRows,
            (None, 0) => Main::Rows,
            _ => Main::Queries,
        }
    }

    /// What each second counts of it.
    pub(crate) fn by_second(self) -> Option<fn(&SecondRow) -> u64> {
        match self {
            Main::Rows => Some(inserted),
            Main::IndexedRows => None,
            Main::Queries => Some(queries),
        }
    }
}
