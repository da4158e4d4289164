//! What a program does between its statements: statements that wait to be sent together, time in which the client
//! sleeps or works, and an event that cannot go on.
//!
//! In: an [`Aside`] of a program. Out: the pipeline in the port, sessions that are woken when their time is over. Time
//! that a session sleeps or works by itself is none of the server's: it is left out of the busy time of its event.
//! Nothing here is on the path of a program without asides.

use super::super::port::{Piece, Port};
use super::super::slot::Phase;
use super::{Lane, Run, WAIT_MAX};
use crate::program::{Aside, Outcome, Program, Step};
use rqps_model::sample::FailureClass;
use rqps_wire::{ErrorCode, SqlState, TransactionStatus};
use std::time::Duration;

/// Stands where servers have their codes: what failed is not the server's.
const OF_THE_CLIENT: SqlState = SqlState(*b"pgb00");

/// An event that ended with its transaction open.
const LEFT_OPEN: &str = "the script ends within a transaction";

impl<G: Program> Lane<G> {
    /// Does what a program asks for beside statements, until it sends one, sleeps, or its event is over.
    #[cold]
    pub(super) fn aside<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, mut aside: Aside) {
        loop {
            let is_over = self.is_over(run);
            let slot = &mut self.slots[index];
            let queued = match aside {
                Aside::Queue(statement) => {
                    slot.queued += 1;
                    run.port.queue(index, Piece::Statement(statement))
                }
                Aside::Sync => run.port.queue(index, Piece::Sync),
                Aside::Sleep(ns) if ns > 0 && !is_over => {
                    slot.phase = Phase::Sleeping;
                    slot.wake_ns = slot.last_ns.saturating_add(ns);
                    self.next_wake_ns = self.next_wake_ns.min(slot.wake_ns);
                    return;
                }
                Aside::Sleep(_) | Aside::Work => Ok(()),
                Aside::GiveUp { kind } => {
                    let why = slot.program.complaint();
                    return self.give_up(run, index, kind, &why);
                }
            };
            if let Err(lost) = queued {
                return self.lose(run, index, lost);
            }
            let step = slot.program.go_on(run.port.statements(index).1);
            if aside == Aside::Work {
                self.leave_out(index, run.port.now_ns());
            }
            match step {
                Step::Aside(next) => aside = next,
                other => return self.go_on(run, index, other),
            }
        }
    }

    /// The time of a session until now was none of the server's.
    fn leave_out(&mut self, index: usize, now: u64) {
        let slot = &mut self.slots[index];
        slot.busy_from_ns += now - slot.last_ns;
        slot.last_ns = now;
    }

    /// How long to wait at most, where a session sleeps.
    #[inline]
    pub(super) fn until_wake(&self, now: u64, due: Option<Duration>) -> Option<Duration> {
        if self.next_wake_ns == u64::MAX {
            return due;
        }
        let wake = Duration::from_nanos(self.next_wake_ns.saturating_sub(now)).min(WAIT_MAX);
        Some(due.map_or(wake, |due| due.min(wake)))
    }

    /// Sessions that have slept enough go on; all do where nothing new is to be begun. The time afterwards.
    #[cold]
    pub(super) fn wake<P: Port>(&mut self, run: &mut Run<'_, P>, mut now: u64) -> u64 {
        let is_over = self.is_over(run);
        self.next_wake_ns = u64::MAX;
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if slot.phase != Phase::Sleeping {
                continue;
            }
            if slot.wake_ns > now && !is_over {
                self.next_wake_ns = self.next_wake_ns.min(slot.wake_ns);
                continue;
            }
            slot.phase = Phase::Running;
            self.leave_out(index, now);
            let step = self.slots[index].program.go_on(run.port.statements(index).1);
            self.go_on(run, index, step);
            now = self.follow_if_idle(run, index, now);
        }
        now
    }

    /// The script of an event is at its end: the event has succeeded, unless its transaction is still open.
    #[inline]
    pub(super) fn at_end<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) {
        if G::HAS_ASIDES && self.slots[index].in_transaction != TransactionStatus::Idle {
            let kind = self.slots[index].kind;
            return self.give_up(run, index, kind, LEFT_OPEN);
        }
        self.ended(run, index, Outcome::Succeeded, "");
    }

    /// An event cannot go on, for a reason of the client's.
    #[cold]
    fn give_up<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, kind: usize, why: &str) {
        let code = ErrorCode::from(OF_THE_CLIENT);
        let slot = &mut self.slots[index];
        slot.errors += 1;
        slot.queued = 0;
        slot.failure = FailureClass::Other;
        run.port.drop_queue(index);
        if slot.counts {
            self.tally.error(kind, code, || why.to_owned());
        }
        let status = slot.in_transaction;
        self.end_failed(run, index, status, false, Some(why));
        self.count_failure(run, index, kind, code, Some(why));
    }
}
