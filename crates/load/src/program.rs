//! What a session sends: the seam between the engine room and the suites.
//!
//! `drive` asks a [`Program`] what comes next, given the last answer, and does everything else: connecting, pacing,
//! retrying, counting. A [`Workload`] makes the programs of a test, one for each session. `sysbench`, `insert`,
//! `tproc_c` and `own` are such; a test may bring its own. A program must not send, wait, or read a clock; in counted
//! time it must not allocate or lock.

pub mod insert;
mod literals;
pub mod own;
pub mod sysbench;
pub mod tproc_c;

pub(crate) use literals::Literals;

use rand_pcg::Pcg64;
use rqps_wire::{AnyValue, ParameterType, Rows, Statement};
use std::time::Duration;

/// The kind of event where a workload has only one; whole events have their latencies under this name.
pub const EVENT: &str = "event";

/// How often an event is tried that fails for a passing reason, where a program says nothing else.
pub const TRIES_MAX: u32 = 1000;

/// A statement as a session prepares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementForm {
    /// SQL with the protocol's markers for parameters.
    pub sql: String,
    /// Their types.
    pub parameters: Vec<ParameterType>,
    /// For a statement sent as text: room for its SQL.
    pub capacity: Option<usize>,
    /// How many rows of its answers are kept for the program to read.
    pub kept_rows: usize,
    /// Instead: the last row of each result, with the names of its columns.
    pub keeps_last_rows: bool,
    /// Whether it is parsed anew at each execution instead of once; PostgreSQL alone can.
    pub is_parsed_each_time: bool,
}

impl StatementForm {
    /// A statement that is prepared.
    pub fn prepared(sql: impl Into<String>, parameters: &[ParameterType]) -> StatementForm {
        StatementForm {
            sql: sql.into(),
            parameters: parameters.to_vec(),
            capacity: None,
            kept_rows: 0,
            keeps_last_rows: false,
            is_parsed_each_time: false,
        }
    }

    /// A statement that is sent as text, with room for so many bytes.
    pub fn text(sql: impl Into<String>, capacity: usize) -> StatementForm {
        StatementForm { capacity: Some(capacity), ..StatementForm::prepared(sql, &[]) }
    }

    /// A statement that is parsed anew at each execution.
    pub fn parsed_each_time(sql: impl Into<String>, parameters: &[ParameterType]) -> StatementForm {
        StatementForm { is_parsed_each_time: true, ..StatementForm::prepared(sql, parameters) }
    }

    /// The same, of whose answers so many rows are kept.
    pub fn keeping(self, kept_rows: usize) -> StatementForm {
        StatementForm { kept_rows, ..self }
    }
}

/// Takes the parameters of a statement.
pub trait Parameters {
    /// Sets a 32-bit integer.
    fn set_i32(&mut self, slot: usize, value: i32);
    /// Sets a 64-bit integer.
    fn set_i64(&mut self, slot: usize, value: i64);
    /// Sets a text.
    fn set_text(&mut self, slot: usize, value: &[u8]);
    /// Sets the whole SQL of a statement that is sent as text.
    fn set_sql(&mut self, sql: &[u8]);
    /// Sets all parameters of a statement whose parameters are of type Any; `value` gives that of each.
    fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>);
}

impl Parameters for Statement {
    #[inline]
    fn set_i32(&mut self, slot: usize, value: i32) {
        Statement::set_i32(self, slot, value);
    }

    #[inline]
    fn set_i64(&mut self, slot: usize, value: i64) {
        Statement::set_i64(self, slot, value);
    }

    #[inline]
    fn set_text(&mut self, slot: usize, value: &[u8]) {
        Statement::set_text(self, slot, value);
    }

    #[inline]
    fn set_sql(&mut self, sql: &[u8]) {
        Statement::set_sql(self, sql);
    }

    #[inline]
    fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        Statement::set_any(self, value);
    }
}

/// What a program goes on from.
#[derive(Debug, Clone, Copy)]
pub enum Cue<'a> {
    /// A new event begins.
    Begin,
    /// The event failed for a passing reason, such as a deadlock, and begins again; the random stream stands where it
    /// stood when the event began.
    Again,
    /// The statement under way succeeded: its rows, as far as its form keeps them.
    Answer(&'a Rows),
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The statement of that number is filled in and to be sent; it counts as that kind.
    Send {
        /// Its number among the program's statements.
        statement: usize,
        /// The number of its kind among those of the workload.
        kind: usize,
    },
    /// All statements that were queued are sent together; their answers are awaited as one, which counts as that kind.
    SendQueue {
        /// The number of the kind.
        kind: usize,
    },
    /// Something else first; what comes next, [`Program::go_on`] says.
    Aside(Aside),
    /// The event is over.
    End,
}

/// What an event has between its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// The statement of that number is filled in, and waits to be sent with others.
    Queue(usize),
    /// What was queued so far ends a part: if it fails, what follows is done nevertheless.
    Sync,
    /// The client does nothing for so many nanoseconds, which are not the server's.
    Sleep(u64),
    /// The client does something by itself when it is asked how to go on; nor is that time the server's.
    Work,
    /// The event cannot go on: it has failed, for the reason that [`Program::complaint`] gives.
    GiveUp {
        /// The kind of statement that the error counts for.
        kind: usize,
    },
}

/// What a session without an event may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Begin an event, when it is due.
    Begin,
    /// Begin an event at once, whatever the plan says.
    BesidePlan,
    /// Begin an event, but not before that moment of the arm's clock.
    NotBefore(u64),
    /// Wait for another session of its client.
    Blocked,
    /// Nothing more.
    Over,
}

/// When the events of a session are due that has a plan of its own: evenly spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvenPlan {
    /// Between two events.
    pub gap_ns: f64,
    /// Where in each gap this session's events lie, from 0 to 1.
    pub phase: f64,
    /// How much of its plan a session that was held up makes good. What is further behind is deferred.
    pub catch_up_ns: u64,
    /// From here on nothing is begun any more, in time since the start.
    pub give_up_ns: u64,
}

/// How an event went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Succeeded,
    /// It was given up after an error.
    Failed,
    /// Its session was lost: whether it took effect is not known.
    Lost,
    /// It failed for a passing reason, and begins again.
    Retried,
    /// Its server is given up: it was one failure too many in a row, or the session was lost while it was idle.
    GivenUp,
}

/// An event that is over, or begins again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<'a> {
    /// How it went.
    pub outcome: Outcome,
    /// When, on the clock of the threads.
    pub at_ns: u64,
    /// From the first sending to the last answer.
    pub took_ns: u64,
    /// From its planned moment, where it has one.
    pub from_plan_ns: Option<u64>,
    /// Rows that the server sent or changed.
    pub rows: u64,
    /// Why, where it failed.
    pub reason: &'a str,
}

/// What one session repeats. Calls are resolved when compiled, and what is left as it is here costs nothing.
pub trait Program: Send {
    /// After so many failed events of a session without a success in between its server is given up: it measures
    /// nothing.
    const FAILURES_IN_A_ROW_MAX: u32 = 1000;

    /// Whether it has a say in when events begin, with [`Program::turn`] and [`Program::plan`].
    const HAS_TURNS: bool = false;

    /// After so many events of a session in a row whose statements took longer than they may, it is given up too: each
    /// may take half a minute.
    const TIMEOUTS_IN_A_ROW_MAX: u32 = u32::MAX;

    /// Whether its events have asides.
    const HAS_ASIDES: bool = false;

    /// Whether its statements may have a time-out that the client has to keep, with [`Program::timeout`].
    const KEEPS_TIMEOUTS: bool = false;

    /// What a new session is told once, before anything else.
    fn opening(&self) -> &[String] {
        &[]
    }

    /// Every statement of the session, by number.
    fn statements(&self) -> &[StatementForm];

    /// Says what comes next and fills it in.
    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step;

    /// The statement that ends a failed transaction.
    fn rollback(&self) -> Option<usize> {
        None
    }

    /// How long a statement of an event may take before the client has the server end it, the same for all sessions to
    /// a server; `None` where the server keeps the time-out itself.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// How often an event is tried that fails for a passing reason.
    fn tries_max(&self) -> u32 {
        TRIES_MAX
    }

    /// What comes next after an aside; this is where it does its work, if it asked for time to do so.
    fn go_on<S: Parameters>(&mut self, _statements: &mut [S]) -> Step {
        Step::End
    }

    /// Why its event cannot go on.
    fn complaint(&self) -> String {
        String::new()
    }

    /// The kind of the event that was begun last, among those of the workload. It is asked for again when the event has
    /// succeeded, since its kind may depend on how it went.
    #[inline]
    fn event(&self) -> usize {
        0
    }

    /// What an event that ended adds to throughput: its statements, where the workload rates nothing else.
    #[inline]
    fn rated(&self, _outcome: Outcome, statements: u64) -> u64 {
        statements
    }

    /// The clients' common start.
    fn started(&mut self, _at_ns: u64) {}

    /// When its events are due, where that is not left to the exercise.
    fn plan(&self) -> Option<EvenPlan> {
        None
    }

    /// What it may do at `now`.
    #[inline]
    fn turn(&mut self, _now_ns: u64) -> Turn {
        Turn::Begin
    }

    /// The server is at work: time to make what comes next.
    #[inline]
    fn meanwhile<S: Parameters>(&mut self, _statements: &mut [S]) {}

    /// An event is over, or begins again.
    #[inline]
    fn ended(&mut self, _ended: &Ended<'_>) {}
}

/// The programs of a test.
pub trait Workload: Sync {
    /// What each session repeats.
    type Program<'w>: Program
    where
        Self: 'w;

    /// How many sessions each client has.
    fn sessions(&self) -> usize {
        1
    }

    /// What each session of a client is there for, in their order; empty where all are for the same.
    fn purposes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The names of the kinds of statements; the same on every arm.
    fn kinds(&self) -> Vec<String>;

    /// The names of the kinds of events.
    fn events(&self) -> Vec<String> {
        vec![EVENT.to_owned()]
    }

    /// The program of a client's session to an arm.
    fn program(&self, arm: usize, client: u32, session: usize) -> Self::Program<'_>;

    /// How many events of a new session bring server and session to their usual state.
    fn events_to_settle(&self, _arm: usize) -> u32 {
        0
    }
}
