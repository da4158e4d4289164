//! What an error does to the event, the session and the lane that it happens in.
//!
//! In: a reply that refuses a statement, or a lost session. Out: the event is rolled back, tried again or given up, and
//! a server that is lost is noted; errors are counted where the event counts. Nothing here is on the path of a
//! statement that succeeds.

use super::super::port::{Lost, Port};
use super::super::slot::Phase;
use super::{Lane, Run};
use crate::program::{Cue, Outcome, Program};
use rqps_model::sample::FailureClass;
use rqps_wire::{ErrorCode, Reply, TransactionStatus};

impl<G: Program> Lane<G> {
    /// A statement failed: roll back if need be, then try the event again or give it up.
    #[cold]
    pub(super) fn refused<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, reply: &Reply, code: ErrorCode) {
        let is_over = self.is_over(run);
        let slot = &mut self.slots[index];
        slot.errors += 1;
        let kind = slot.kind;
        slot.failure = code.class();
        // One that took as long as it may is told whenever that was: it may be all that ever happens.
        if slot.counts || slot.failure == FailureClass::Timeout {
            self.tally.error(kind, code, || run.port.error_message(index).to_owned());
        }
        if code.ends_session() {
            let message = run.port.error_message(index);
            return self.lose(
                run,
                index,
                Lost::in_doubt(format!("the server ended the session with {code}: {message}")),
            );
        }
        let again = code.is_transient() && slot.retries + 1 < slot.program.tries_max() && !is_over;
        if again {
            slot.retries += 1;
            self.tally.events[slot.event].accounting.retried += u64::from(slot.counts);
        }
        self.end_failed(run, index, reply.in_transaction, again, None);
        if !again {
            self.count_failure(run, index, kind, code, None);
        }
    }

    /// An attempt failed: what it left open is rolled back, then the event is tried again or given up. Why, the server
    /// said, if not the client.
    #[cold]
    pub(super) fn end_failed<P: Port>(
        &mut self,
        run: &mut Run<'_, P>,
        index: usize,
        status: TransactionStatus,
        again: bool,
        complaint: Option<&str>,
    ) {
        let slot = &mut self.slots[index];
        match (status, slot.program.rollback()) {
            (TransactionStatus::Idle, _) if again => self.again(run, index),
            (TransactionStatus::Idle, _) => {
                self.ended(run, index, Outcome::Failed, reason(run, index, complaint));
            }
            (_, Some(rollback)) => {
                slot.phase = Phase::RollingBack { again };
                if let Err(lost) = run.port.submit(index, rollback) {
                    self.lose(run, index, lost);
                }
            }
            (_, None) => {
                self.lose(run, index, Lost::in_doubt("a statement outside a transaction left one open"));
            }
        }
    }

    /// An event was given up: after too many in a row the server is, too. Fewer are enough where each takes as long as
    /// it may.
    #[cold]
    pub(super) fn count_failure<P: Port>(
        &mut self,
        run: &Run<'_, P>,
        index: usize,
        kind: usize,
        code: ErrorCode,
        complaint: Option<&str>,
    ) {
        let slot = &mut self.slots[index];
        if matches!(slot.failure, FailureClass::Serialization | FailureClass::Deadlock) {
            // Another session went on in its place.
            return;
        }
        slot.failures_in_a_row += 1;
        slot.timeouts_in_a_row = if slot.failure == FailureClass::Timeout { slot.timeouts_in_a_row + 1 } else { 0 };
        let (max, did) = match slot.timeouts_in_a_row >= G::TIMEOUTS_IN_A_ROW_MAX {
            true => (G::TIMEOUTS_IN_A_ROW_MAX, "took longer than they may"),
            false => (G::FAILURES_IN_A_ROW_MAX, "failed"),
        };
        if slot.failures_in_a_row < max || self.lost.is_some() {
            return;
        }
        let message = reason(run, index, complaint);
        let statement = run.kinds.get(kind).map_or("", String::as_str);
        let why = format!("{max} events {did} in a row, the last in `{statement}` with {code}: {message}");
        self.lost = Some(Lost { why: why.clone(), is_refusal: code.blames_statement() });
        self.notify(index, Outcome::GivenUp, None, &why);
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
        self.mark_lost(index, &lost.why);
        self.lost = Some(self.lost.take().map_or_else(|| lost.clone(), |before| before.and(&lost)));
    }

    /// A session is gone: what it had under way has failed.
    fn mark_lost(&mut self, index: usize, why: &str) {
        let slot = &mut self.slots[index];
        let is_running = matches!(slot.phase, Phase::Running | Phase::Sleeping | Phase::RollingBack { .. });
        if is_running {
            self.running -= 1;
            self.tally.events[slot.event].accounting.failed += u64::from(slot.counts);
            *self.tally.failures.of(FailureClass::Other) += u64::from(slot.counts);
        }
        if slot.phase != Phase::Lost {
            slot.phase = Phase::Lost;
            // An idle session has no event whose outcome could be unknown.
            self.notify(index, if is_running { Outcome::Lost } else { Outcome::GivenUp }, None, why);
        }
    }

    /// The run is over: events still under way have failed. They were paused when another thread lost the server.
    pub(super) fn give_up_unfinished(&mut self) {
        for index in 0..self.slots.len() {
            if !matches!(self.slots[index].phase, Phase::Idle | Phase::Lost) {
                self.mark_lost(index, "the server was lost while the statement was under way");
            }
        }
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

/// What the client complains of, or else the server's last error.
fn reason<'r, P: Port>(run: &'r Run<'_, P>, index: usize, complaint: Option<&'r str>) -> &'r str {
    complaint.unwrap_or_else(|| run.port.error_message(index))
}
