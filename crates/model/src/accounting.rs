//! What became of events and statements, counted: the identity that every sample keeps, and errors by code.
//!
//! In: nothing. Out: types of `sample.json` that samples and the records of suites share.

use serde::{Deserialize, Serialize};
use std::ops::Add;

/// What became of the events that were due. `scheduled = succeeded + failed + skipped` always holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Events that were due in the counted time.
    pub scheduled: u64,
    /// Events that completed.
    pub succeeded: u64,
    /// Events given up after an error.
    pub failed: u64,
    /// Events never sent, because the rate could not be kept until the end.
    pub skipped: u64,
    /// Attempts repeated after a serialization failure or deadlock; counted apart.
    pub retried: u64,
}

impl Add for Accounting {
    type Output = Accounting;

    fn add(self, other: Accounting) -> Accounting {
        Accounting {
            scheduled: self.scheduled + other.scheduled,
            succeeded: self.succeeded + other.succeeded,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
            retried: self.retried + other.retried,
        }
    }
}

impl Accounting {
    /// Whether the identity holds; checked where it is written and where it is read.
    pub const fn is_balanced(&self) -> bool {
        self.scheduled == self.succeeded + self.failed + self.skipped
    }
}

/// Errors of one statement kind with one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Statement kind, as in the workload.
    pub statement: String,
    /// SQLSTATE.
    pub code: String,
    /// How often.
    pub count: u64,
    /// The server's words, once.
    pub message: String,
}
