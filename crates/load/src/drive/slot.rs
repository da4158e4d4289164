//! One session's place in the loop: what it does now, since when, and whether it counts.
//!
//! A slot is plain state; `lane` moves it. Its life in a visit: idle, running an event statement by statement, perhaps
//! rolling a failed transaction back, idle again.

use super::arrival::SessionPlan;
use crate::random::{Purpose, stream};
use rand_pcg::Pcg64;
use rqps_model::sample::FailureClass;
use rqps_wire::TransactionStatus;

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing.
    Idle,
    /// A statement of its event is under way.
    Running,
    /// It waits within its event, of its own will.
    Sleeping,
    /// A ROLLBACK is under way, after which the event is tried again or given up.
    RollingBack {
        /// Whether it is tried again.
        again: bool,
    },
    /// The session is gone.
    Lost,
}

/// One session's state.
#[derive(Debug, Clone)]
pub(crate) struct Slot<P> {
    /// The client's number among all clients.
    pub(crate) client: u32,
    pub(crate) program: P,
    /// What its program draws from, and where that stood when the event began.
    pub(crate) random: Pcg64,
    pub(crate) at_start: Pcg64,
    /// When its events are due, if it has a plan of its own.
    pub(crate) plan: Option<SessionPlan>,
    pub(crate) phase: Phase,
    /// The kind of the statement under way.
    pub(crate) kind: usize,
    /// The kind of its event.
    pub(crate) event: usize,
    /// When the session completed its last statement, or began its visit.
    pub(crate) last_ns: u64,
    /// When the server was last told to end its statement; of no meaning where that is before `last_ns`.
    pub(crate) killed_ns: u64,
    /// Where the busy time of its event begins.
    pub(crate) busy_from_ns: u64,
    /// When its event was to start; in a closed loop, when it did.
    pub(crate) planned_ns: u64,
    /// Whether its event counts.
    pub(crate) counts: bool,
    /// Whether its event goes by a plan.
    pub(crate) is_planned: bool,
    /// Statements of its event that succeeded.
    pub(crate) operations: u64,
    /// Rows of its event.
    pub(crate) rows: u64,
    /// Errors of its event.
    pub(crate) errors: u64,
    /// What its event burned, summed over the sessions that this held up.
    pub(crate) burned_ns: u64,
    /// How often its event was tried again.
    pub(crate) retries: u32,
    /// Events that failed without a success in between, and how many of the last of them for taking too long.
    pub(crate) failures_in_a_row: u32,
    pub(crate) timeouts_in_a_row: u32,
    /// Why its event failed, if it did.
    pub(crate) failure: FailureClass,
    /// Statements that are sent together with others, and not answered yet.
    pub(crate) queued: u32,
    /// The state of its transaction, and when it goes on if it sleeps; kept where programs have asides.
    pub(crate) in_transaction: TransactionStatus,
    pub(crate) wake_ns: u64,
    /// Events started in this visit, and how many of them count.
    pub(crate) events_in_visit: u32,
    pub(crate) counted_in_visit: u32,
}

impl<P> Slot<P> {
    /// A session that has done nothing yet.
    pub(crate) fn new(client: u32, program: P) -> Slot<P> {
        let random = stream(0, Purpose::Keys, 0, 0);
        Slot {
            client,
            program,
            at_start: random.clone(),
            random,
            plan: None,
            phase: Phase::Idle,
            kind: 0,
            event: 0,
            last_ns: 0,
            killed_ns: 0,
            busy_from_ns: 0,
            planned_ns: 0,
            counts: false,
            is_planned: false,
            operations: 0,
            rows: 0,
            errors: 0,
            burned_ns: 0,
            retries: 0,
            failures_in_a_row: 0,
            timeouts_in_a_row: 0,
            failure: FailureClass::Other,
            queued: 0,
            in_transaction: TransactionStatus::Idle,
            wake_ns: 0,
            events_in_visit: 0,
            counted_in_visit: 0,
        }
    }
    /// Whether the server was told to end the statement under way.
    #[inline]
    pub(crate) fn was_killed(&self) -> bool {
        self.killed_ns > self.last_ns
    }
}
