//! What became of events and statements, counted: the identity that every sample keeps, and errors by code.
//!
//! In: nothing. Out: types of `sample.json` that samples and the records of suites share.

use crate::words;
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

words! {
    /// Why a statement or an event failed.
    FailureClass {
        /// Its transaction could not be put in an order with others.
        Serialization = "serialization",
        /// Its transaction was chosen to end a deadlock.
        Deadlock = "deadlock",
        /// It took longer than it may.
        Timeout = "timeout",
        /// For any other reason.
        Other = "other",
    }
}

impl FailureClass {
    /// The class of an error: its SQLSTATE, and its number on engines that number errors, else 0.
    pub fn of(state: &str, number: u16) -> FailureClass {
        match (number, state) {
            (0, "40001") | (1020, _) => FailureClass::Serialization,
            (0, "40P01") | (1213, _) => FailureClass::Deadlock,
            // MySQL's time-out of a SELECT, MariaDB's of any statement, and the client's own: MySQL's number of a
            // killed statement with PostgreSQL's state. What others kill has another state.
            (0 | 1317, "57014") | (3024 | 1969, _) => FailureClass::Timeout,
            _ => FailureClass::Other,
        }
    }
}

/// Events given up, by class; together as many as [`Accounting::failed`], where it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// After serialization failures.
    #[serde(default)]
    pub serialization: u64,
    /// After deadlocks.
    #[serde(default)]
    pub deadlock: u64,
    /// After a statement that took longer than it may.
    #[serde(default)]
    pub timeout: u64,
    /// For any other reason.
    #[serde(default)]
    pub other: u64,
}

impl Failures {
    /// The number of a class.
    pub fn of(&mut self, class: FailureClass) -> &mut u64 {
        match class {
            FailureClass::Serialization => &mut self.serialization,
            FailureClass::Deadlock => &mut self.deadlock,
            FailureClass::Timeout => &mut self.timeout,
            FailureClass::Other => &mut self.other,
        }
    }

    /// Whether no event was given up.
    pub fn is_none(&self) -> bool {
        *self == Failures::default()
    }
}

impl Add for Failures {
    type Output = Failures;

    fn add(self, other: Failures) -> Failures {
        Failures {
            serialization: self.serialization + other.serialization,
            deadlock: self.deadlock + other.deadlock,
            timeout: self.timeout + other.timeout,
            other: self.other + other.other,
        }
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

impl ErrorCount {
    /// Its class.
    pub fn class(&self) -> FailureClass {
        ErrorCount::class_of(&self.code)
    }

    /// The class of a code as it is written: `40P01`, or `1213 (40001)`.
    pub fn class_of(code: &str) -> FailureClass {
        match code.split_once(" (") {
            Some((number, state)) => FailureClass::of(state.trim_end_matches(')'), number.parse().unwrap_or(0)),
            None => FailureClass::of(code, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_class_however_its_engine_writes_it() {
        let class = |code: &str| {
            ErrorCount { statement: String::new(), code: code.to_owned(), count: 1, message: String::new() }.class()
        };
        for (code, expected) in [
            ("40001", FailureClass::Serialization),
            ("1020 (HY000)", FailureClass::Serialization),
            ("40P01", FailureClass::Deadlock),
            ("1213 (40001)", FailureClass::Deadlock),
            ("57014", FailureClass::Timeout),
            ("3024 (HY000)", FailureClass::Timeout),
            ("1969 (70100)", FailureClass::Timeout),
            ("1317 (57014)", FailureClass::Timeout),
            ("1317 (70100)", FailureClass::Other),
            ("23505", FailureClass::Other),
            ("1205 (HY000)", FailureClass::Other),
        ] {
            assert_eq!(class(code), expected, "{code}");
        }
    }
}
