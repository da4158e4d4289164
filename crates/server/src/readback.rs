//! Every setting as the running server shows it, compared with what was written.
//!
//! In: nothing but the answer to one question. Out: the types that the engines' own parts fill. They must not say
//! whether a difference matters.

use crate::{Result, ServerError};
use rqps_wire::{Session, Table};
use std::collections::BTreeMap;

/// What a running server reports about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readback {
    /// Every setting, in the form in which the server shows it.
    pub effective: BTreeMap<String, String>,
    /// Settings that are not as written.
    pub mismatches: Vec<Mismatch>,
    /// Settings that were written for a server that may not have them, and that this one has not, with the reason.
    pub left_out: BTreeMap<String, String>,
    /// Settings that the server itself rounded or adjusted, or that it does not show, with what it made of them.
    pub adjusted: BTreeMap<String, String>,
    /// Character encoding of the database.
    pub encoding: String,
    /// Collation of the database.
    pub collation: String,
    /// Whether data checksums are on.
    pub checksums: bool,
}

/// A setting that is not as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The setting.
    pub name: String,
    /// As written.
    pub written: String,
    /// As the server has it.
    pub effective: String,
}

impl Readback {
    /// Queries encoding and collation of the database, the two columns of an answer.
    pub(crate) fn read_encoding(&mut self, session: &mut Session, build: &str, sql: &str) -> Result<()> {
        let database = session.query(sql)?;
        let Some([Some(encoding), Some(collation)]) = database.rows.first().map(Vec::as_slice) else {
            return Err(unexpected(build, "for its encoding", &database));
        };
        (self.encoding, self.collation) = (encoding.clone(), collation.clone());
        Ok(())
    }
}

/// An answer that cannot be.
pub(crate) fn unexpected(build: &str, question: &'static str, table: &Table) -> ServerError {
    ServerError::Answer { build: build.to_owned(), question, answer: format!("{:?}", table.rows.first()) }
}
