//! What one thread counts of one arm.
//!
//! In: completed statements and events, errors. Out: counters and recorders that `outcome` joins over the threads,
//! what each visit counted, and rows of seconds. Adding takes no lock; memory is taken when the tally is made or at the
//! first error of a kind, and none grows with the length of a run.

use super::intervals::{Intervals, Row};
use super::recorder::Fine;
use rqps_model::sample::{Accounting, Failures};
use rqps_wire::ErrorCode;
use std::ops::AddAssign;
use std::sync::mpsc::SyncSender;

/// The most errors that are told apart by kind and code; what is beyond is counted with the last.
const ERRORS_MAX: usize = 64;

/// How often one kind of statement failed with one code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorTally {
    pub(crate) kind: usize,
    pub(crate) code: ErrorCode,
    pub(crate) count: u64,
    pub(crate) message: String,
}

/// The events of one kind.
#[derive(Debug)]
pub(crate) struct EventCounts {
    pub(crate) accounting: Accounting,
    /// Rows of those that succeeded.
    pub(crate) rows: u64,
    /// From the first sending to the last answer, successes only.
    pub(crate) response: Fine,
    /// From the planned moment to the last answer; empty where there is no plan.
    pub(crate) from_plan: Fine,
}

impl EventCounts {
    fn new() -> EventCounts {
        EventCounts { accounting: Accounting::default(), rows: 0, response: Fine::new(), from_plan: Fine::new() }
    }

    /// An event succeeded.
    #[inline]
    pub(crate) fn succeeded(&mut self, rows: u64, took_ns: u64, from_plan_ns: Option<u64>) {
        self.accounting.succeeded += 1;
        self.rows += rows;
        self.response.record(took_ns);
        if let Some(from_plan_ns) = from_plan_ns {
            self.from_plan.record(from_plan_ns);
        }
    }
}

/// What was counted in a visit, or in several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) operations: u64,
    pub(crate) busy_ns: u64,
    pub(crate) burned_ns: u64,
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        self.operations += other.operations;
        self.busy_ns += other.busy_ns;
        self.burned_ns += other.burned_ns;
    }
}

/// The counts of one arm on one thread.
#[derive(Debug)]
pub(crate) struct Tally {
    /// In the visit under way.
    pub(crate) visit: Counted,
    /// Statements that succeeded at all.
    pub(crate) operations_total: u64,
    /// Bytes of all answers.
    pub(crate) bytes_total: u64,
    /// Events that ended at all, and the time they took.
    pub(crate) events_total: u64,
    pub(crate) events_total_ns: u64,
    /// Rows of counted events.
    pub(crate) rows: u64,
    pub(crate) errors: Vec<ErrorTally>,
    /// Counted events that were given up.
    pub(crate) failures: Failures,
    /// By kind of statement, successes only.
    pub(crate) statements: Vec<Fine>,
    /// By kind of event.
    pub(crate) events: Vec<EventCounts>,
    pub(crate) failed_events: Fine,
    /// By how much the session's own plan was deferred that was furthest behind.
    pub(crate) deferred_ns: u64,
    /// How late events were sent.
    pub(crate) lateness: Fine,
    pub(crate) intervals: Intervals,
}

impl Tally {
    /// `rows` takes those of seconds.
    pub(crate) fn new(kinds: usize, events: usize, is_open: bool, rows: Option<SyncSender<Row>>) -> Tally {
        Tally {
            visit: Counted::default(),
            operations_total: 0,
            bytes_total: 0,
            events_total: 0,
            events_total_ns: 0,
            rows: 0,
            errors: Vec::with_capacity(ERRORS_MAX),
            failures: Failures::default(),
            statements: (0..kinds).map(|_| Fine::new()).collect(),
            events: (0..events).map(|_| EventCounts::new()).collect(),
            deferred_ns: 0,
            failed_events: Fine::without_room(),
            lateness: if is_open { Fine::new() } else { Fine::without_room() },
            intervals: Intervals::new(rows),
        }
    }

    /// What became of all events.
    pub(crate) fn accounting(&self) -> Accounting {
        self.events.iter().fold(Accounting::default(), |all, events| all + events.accounting)
    }

    /// Counts an error of a counted event, or a statement that took longer than it may.
    #[cold]
    pub(crate) fn error(&mut self, kind: usize, code: ErrorCode, message: impl FnOnce() -> String) {
        let known = self.errors.iter().position(|error| error.kind == kind && error.code == code);
        match known {
            Some(index) => self.errors[index].count += 1,
            None if self.errors.len() < ERRORS_MAX => {
                self.errors.push(ErrorTally { kind, code, count: 1, message: message() });
            }
            None => self.errors[ERRORS_MAX - 1].count += 1,
        }
    }
}
