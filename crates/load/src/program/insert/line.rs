//! One connection of a client, with what it has under way.
//!
//! In: statements. Out: replies with their times, counted. A statement that fails for a passing reason, such as a deadlock, is
//! sent again; its response time goes on. A connection that is lost ends the step, and what it had under way is counted as
//! failed, its rows as unknown.

use super::shared::{Question, Shared};
use super::tally::{Role, Tally};
use crate::drive::monotonic_ns;
use rqps_wire::{ErrorCode, Session, Statement, WireError};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

/// How often a statement is sent again before it is given up.
const RETRIES_MAX: u32 = 1000;

/// After so many failed statements of a connection without a success in between, the step is given up: it measures nothing.
const FAILURES_IN_A_ROW_MAX: u32 = 100;

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Idle,
    Busy,
    Lost,
}

/// What the loop hands down: what is shared, and what this thread counts.
pub(crate) struct Context<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) questions: &'a SyncSender<(usize, Question)>,
    pub(crate) tally: &'a mut Tally,
    /// Statements under way on this thread.
    pub(crate) under_way: usize,
}

impl Context<'_> {
    /// Ends the step.
    #[cold]
    pub(crate) fn fail(&mut self, why: impl FnOnce() -> String) {
        self.shared.has_failed.store(true, Ordering::Relaxed);
        self.tally.failure.get_or_insert_with(why);
    }
}

/// What became of a statement, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer has not come yet.
    Pending,
    /// It was sent again.
    Again { at_ns: u64 },
    /// It succeeded: rows inserted, deleted or sent, and how long it took.
    Done { at_ns: u64, rows: u64, took_ns: u64 },
    /// It failed for good.
    Failed { at_ns: u64 },
}

impl Answer {
    /// When it came, if it did.
    #[inline]
    pub(crate) fn at_ns(self) -> Option<u64> {
        match self {
            Answer::Pending => None,
            Answer::Again { at_ns } | Answer::Done { at_ns, .. } | Answer::Failed { at_ns } => Some(at_ns),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) session: Session,
    pub(crate) role: Role,
    pub(crate) phase: Phase,
    sent_ns: u64,
    planned_ns: Option<u64>,
    /// Rows of the statement under way.
    pub(crate) rows: u64,
    retries: u32,
    failures_in_a_row: u32,
}

impl Line {
    pub(crate) fn new(session: Session, role: Role) -> Line {
        Line {
            session,
            role,
            phase: Phase::Idle,
            sent_ns: 0,
            planned_ns: None,
            rows: 0,
            retries: 0,
            failures_in_a_row: 0,
        }
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Sends a statement of so many rows.
    #[inline]
    pub(crate) fn send(
        &mut self,
        statement: &Statement,
        rows: u64,
        now: u64,
        planned_ns: Option<u64>,
        context: &mut Context<'_>,
    ) {
        self.rows = rows;
        self.sent_ns = now;
        self.planned_ns = planned_ns;
        self.retries = 0;
        self.phase = Phase::Busy;
        context.under_way += 1;
        context.tally.of(self.role).operations.accounting.scheduled += 1;
        if let Err(error) = self.session.submit(statement) {
            self.lose(&error, context);
        }
    }

    /// Takes what has come; `statement` is the one under way.
    #[inline]
    pub(crate) fn receive(&mut self, statement: &Statement, context: &mut Context<'_>) -> Answer {
        if self.phase == Phase::Lost {
            return Answer::Pending;
        }
        let reply = match self.session.receive() {
            Ok(None) => return Answer::Pending,
            Ok(Some(reply)) => reply,
            Err(error) => {
                self.lose(&error, context);
                return Answer::Pending;
            }
        };
        let at_ns = monotonic_ns();
        if let Some(code) = reply.error {
            return self.refused(code, statement, at_ns, context);
        }
        let took_ns = at_ns.saturating_sub(self.sent_ns);
        let rows = match self.role {
            Role::Query => reply.rows,
            Role::Insert | Role::Delete | Role::Build => reply.affected,
        };
        let from_plan_ns = self.planned_ns.map(|planned_ns| at_ns.saturating_sub(planned_ns));
        context.tally.of(self.role).succeeded(rows, took_ns, from_plan_ns);
        self.failures_in_a_row = 0;
        context.under_way -= 1;
        self.phase = Phase::Idle;
        Answer::Done { at_ns, rows, took_ns }
    }

    #[cold]
    fn refused(&mut self, code: ErrorCode, statement: &Statement, at_ns: u64, context: &mut Context<'_>) -> Answer {
        let message = self.session.last_error().map_or("", |error| error.message());
        context.tally.error(self.role, code, message);
        if code.ends_session() {
            let why = format!("the server ended the session with {code}: {message}");
            self.end(context, || why);
            return Answer::Pending;
        }
        if code.is_transient() && self.retries < RETRIES_MAX && !context.shared.is_over() {
            self.retries += 1;
            context.tally.of(self.role).operations.accounting.retried += 1;
            if let Err(error) = self.session.submit(statement) {
                self.lose(&error, context);
                return Answer::Pending;
            }
            return Answer::Again { at_ns };
        }
        context.tally.of(self.role).operations.accounting.failed += 1;
        self.failures_in_a_row += 1;
        context.under_way -= 1;
        self.phase = Phase::Idle;
        if self.failures_in_a_row >= FAILURES_IN_A_ROW_MAX {
            let role = self.role.name();
            let message = self.session.last_error().map_or("", |error| error.message());
            context.fail(|| {
                format!("{FAILURES_IN_A_ROW_MAX} statements failed in a row, the last a {role} with {code}: {message}")
            });
        }
        Answer::Failed { at_ns }
    }

    /// The connection is gone.
    #[cold]
    pub(crate) fn lose(&mut self, error: &WireError, context: &mut Context<'_>) {
        self.end(context, || error.to_string());
    }

    /// Nothing more can be sent: whether what was under way took effect is not known.
    #[cold]
    fn end(&mut self, context: &mut Context<'_>, why: impl FnOnce() -> String) {
        if self.phase == Phase::Busy {
            context.under_way -= 1;
            let operations = &mut context.tally.of(self.role).operations;
            operations.accounting.failed += 1;
            if self.role != Role::Query {
                operations.rows_unknown += self.rows;
            }
        }
        self.phase = Phase::Lost;
        context.fail(why);
    }
}
