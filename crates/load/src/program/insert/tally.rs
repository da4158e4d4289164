//! What one thread counts of a step.
//!
//! In: statements sent and answered. Out: counters and recorders that `run` joins. Nothing here allocates but the first error
//! of a kind.

use crate::drive::Fine;
use rqps_model::insert::Operations;
use rqps_model::sample::ErrorCount;
use rqps_wire::ErrorCode;

/// The kinds of statements, and of the connections that send them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Insert,
    Delete,
    Query,
    /// The inserter, when it builds indexes.
    Build,
}

impl Role {
    pub(crate) const ALL: [Role; 4] = [Role::Insert, Role::Delete, Role::Query, Role::Build];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Role::Insert => "insert",
            Role::Delete => "delete",
            Role::Query => "query",
            Role::Build => "index",
        }
    }
}

/// The counts of one kind of statement.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) operations: Operations,
    pub(crate) response: Fine,
    pub(crate) from_plan: Fine,
}

impl Counts {
    fn new() -> Counts {
        Counts { operations: Operations::default(), response: Fine::new(), from_plan: Fine::new() }
    }

    /// A statement was answered as it should.
    #[inline]
    pub(crate) fn succeeded(&mut self, rows: u64, took_ns: u64, from_plan_ns: Option<u64>) {
        self.operations.accounting.succeeded += 1;
        self.operations.rows += rows;
        self.operations.response.record(took_ns);
        self.response.record(took_ns);
        if let Some(from_plan_ns) = from_plan_ns {
            self.operations.from_plan.record(from_plan_ns);
            self.from_plan.record(from_plan_ns);
        }
    }

    /// Statements that will not be sent.
    pub(crate) fn skipped(&mut self, statements: u64) {
        self.operations.accounting.scheduled += statements;
        self.operations.accounting.skipped += statements;
    }
}

/// The counts of one thread.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: [Counts; 4],
    errors: Vec<(Role, ErrorCode, ErrorCount)>,
    /// What ended the step.
    pub(crate) failure: Option<String>,
    pub(crate) cpu_ns: u64,
    /// When the last statement was answered and nothing was left to send.
    pub(crate) end_ns: u64,
}

impl Tally {
    pub(crate) fn new() -> Tally {
        Tally { counts: Role::ALL.map(|_| Counts::new()), errors: Vec::new(), failure: None, cpu_ns: 0, end_ns: 0 }
    }

    #[inline]
    pub(crate) fn of(&mut self, role: Role) -> &mut Counts {
        &mut self.counts[role as usize]
    }

    pub(crate) fn counts(&self, role: Role) -> &Counts {
        &self.counts[role as usize]
    }

    /// Counts an error.
    #[cold]
    pub(crate) fn error(&mut self, role: Role, code: ErrorCode, message: &str) {
        if let Some((_, _, known)) = self.errors.iter_mut().find(|(r, c, _)| (*r, *c) == (role, code)) {
            known.count += 1;
            return;
        }
        let count = ErrorCount {
            statement: role.name().to_owned(),
            code: code.to_string(),
            count: 1,
            message: message.to_owned(),
        };
        self.errors.push((role, code, count));
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = &ErrorCount> {
        self.errors.iter().map(|(_, _, count)| count)
    }
}
