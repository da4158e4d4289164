//! What an error does to the event, the session and the lane that it happens in.
//!
//! In: a reply that refuses a statement, or a lost session. Out: the event is rolled back, tried again or given up, and
//! a server that is lost is noted; errors are counted where the event counts. Nothing here is on the path of a
//! statement that succeeds.

use super::super::port::{Lost, Port};
use super::super::slot::Phase;
use super::{Lane, Run};
use crate::program::{Cue, Outcome, Program};
use rqps_wire::{ErrorCode, Reply, TransactionStatus};

/// How often an event is tried again before it is given up.
const RETRIES_MAX: u32 = 1000;

impl<G: Program> Lane<G> {
    /// A statement failed: roll back if need be, then try the event again or give it up.
    #[cold]
    pub(super) fn refused<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, reply: &Reply, code: ErrorCode) {
        let is_over = self.is_over(run);
        let slot = &mut self.slots[index];
        slot.errors += 1;
        let kind = slot.kind;
        if slot.counts {
            self.tally.error(kind, code, || run.port.error_message(index));
        }
        if code.ends_session() {
            let message = run.port.error_message(index);
            return self.lose(run, index, Lost(format!("the server ended the session with {code}: {message}")));
        }
        let again = code.is_transient() && slot.program.retries() && slot.retries < RETRIES_MAX && !is_over;
        if again {
            slot.retries += 1;
            self.tally.events[slot.event].accounting.retried += u64::from(slot.counts);
        }
        match (reply.in_transaction, slot.program.rollback()) {
            (TransactionStatus::Idle, _) if again => self.again(run, index),
            (TransactionStatus::Idle, _) => {
                let reason = run.port.error_message(index);
                self.ended(run, index, Outcome::Failed, &reason);
            }
            (_, Some(rollback)) => {
                slot.phase = Phase::RollingBack { again };
                if let Err(lost) = run.port.submit(index, rollback) {
                    self.lose(run, index, lost);
                }
            }
            (_, None) => {
                self.lose(run, index, Lost("a statement outside a transaction left one open".to_owned()));
            }
        }
        let slot = &mut self.slots[index];
        slot.failures_in_a_row += u32::from(!again);
        if slot.failures_in_a_row >= G::FAILURES_IN_A_ROW_MAX && self.lost.is_none() {
            let message = run.port.error_message(index);
            self.lost = Some(Lost(format!(
                "{} events failed in a row, the last in `{}` with {code}: {message}",
                G::FAILURES_IN_A_ROW_MAX,
                run.kinds.get(kind).map_or("", String::as_str)
            )));
            let why = self.lost.as_ref().map(|lost| lost.0.clone()).unwrap_or_default();
            self.notify(index, Outcome::GivenUp, None, &why);
        }
    }

    /// The same event once more, with the same keys.
    #[cold]
    pub(super) fn again<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) {
        let slot = &mut self.slots[index];
        slot.random.clone_from(&slot.at_start);
        slot.phase = Phase::Running;
        let step = slot.program.next(Cue::Again, &mut slot.random, run.port.statements(index).1);
        self.notify(index, Outcome::Retried, None, "");
        self.go_on(run, index, step);
    }

    /// A session is gone, and with it the server counts as lost: nothing new is begun, what is under way elsewhere is
    /// waited for, and what this session had under way has failed.
    #[cold]
    pub(super) fn lose<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, lost: Lost) {
        run.port.forget(index);
        let slot = &mut self.slots[index];
        let is_running = matches!(slot.phase, Phase::Running | Phase::RollingBack { .. });
        if is_running {
            self.running -= 1;
            self.tally.events[slot.event].accounting.failed += u64::from(slot.counts);
        }
        if slot.phase != Phase::Lost {
            slot.phase = Phase::Lost;
            // An idle session has no event whose outcome could be unknown.
            self.notify(index, if is_running { Outcome::Lost } else { Outcome::GivenUp }, None, &lost.0);
        }
        self.lost.get_or_insert(lost);
    }

    /// It cannot be waited any more.
    #[cold]
    pub(super) fn abandon<P: Port>(&mut self, run: &mut Run<'_, P>, lost: &Lost) {
        for index in 0..self.slots.len() {
            if self.slots[index].phase != Phase::Idle {
                self.lose(run, index, lost.clone());
            }
        }
    }
}
