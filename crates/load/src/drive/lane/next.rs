//! What a session without an event does next: at once in a closed loop, by its own plan, or by the plan of all sessions
//! in an open loop.

use super::super::arrival::Pace;
use super::super::port::Port;
use super::super::slot::Phase;
use super::{Lane, Run, WAIT_MAX};
use crate::program::{Program, Turn};
use std::time::Duration;

impl<G: Program> Lane<G> {
    /// How long to wait at most, where a session waits for its own plan.
    #[inline]
    pub(super) fn until_due(&self, now: u64) -> Option<Duration> {
        match G::HAS_TURNS && self.next_due_ns != u64::MAX {
            true => Some(Duration::from_nanos(self.next_due_ns.saturating_sub(now)).min(WAIT_MAX)),
            false => None,
        }
    }

    /// Every session without an event goes on, if it may.
    pub(super) fn follow_all<P: Port>(&mut self, run: &mut Run<'_, P>, mut now: u64) -> u64 {
        self.next_due_ns = u64::MAX;
        for client in 0..self.slots.len() / self.sessions {
            now = self.follow_client(run, client, now);
        }
        now
    }

    /// The sessions of a client without an event go on, if they may, and make what comes next while the server is at
    /// work.
    pub(super) fn follow_client<P: Port>(&mut self, run: &mut Run<'_, P>, client: usize, mut now: u64) -> u64 {
        let sessions = client * self.sessions..(client + 1) * self.sessions;
        for index in sessions.clone() {
            // What was sent has taken its time, which is not the next statement's.
            if self.slots[index].phase == Phase::Idle && self.follow(run, index, now) && G::HAS_TURNS {
                now = run.port.now_ns();
            }
        }
        if G::HAS_TURNS {
            for index in sessions {
                self.slots[index].program.meanwhile(run.port.statements(index).1);
            }
        }
        now
    }

    /// In a closed loop or by its own plan: what a session does after an event, at `now`; whether it began another.
    #[inline]
    pub(super) fn follow<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, now: u64) -> bool {
        let visit = run.visit;
        let is_over = self.is_over(run);
        let slot = &mut self.slots[index];
        let is_due = now < visit.end_ns || (visit.count_from_ns.is_some() && slot.counted_in_visit == 0);
        if !is_due || slot.events_in_visit >= visit.events || is_over {
            return false;
        }
        slot.planned_ns = now;
        slot.is_planned = false;
        if G::HAS_TURNS {
            match (slot.program.turn(now), &mut slot.plan) {
                (Turn::Blocked | Turn::Over, _) => return false,
                (Turn::Begin, Some(plan)) => {
                    let own_ns = visit.own_ns(now);
                    if plan.due_ns() > own_ns {
                        self.next_due_ns = self.next_due_ns.min(visit.moment_of(plan.look_again_ns()));
                        return false;
                    }
                    slot.planned_ns = visit.moment_of(plan.take(own_ns));
                    slot.is_planned = true;
                }
                (Turn::NotBefore(due_ns), _) if due_ns > now => {
                    // What is due behind the visit's end is not waited for: it may begin in the next one.
                    if due_ns < visit.end_ns {
                        self.next_due_ns = self.next_due_ns.min(due_ns);
                    }
                    return false;
                }
                (Turn::Begin | Turn::BesidePlan | Turn::NotBefore(_), _) => {}
            }
        }
        slot.last_ns = now;
        slot.counts = visit.count_from_ns.is_some_and(|from| now >= from);
        self.begin(run, index);
        true
    }

    /// In an open loop: gives what is due to idle sessions, and says how long to wait at most; nothing when all is
    /// done.
    pub(super) fn dispatch<P: Port>(&mut self, run: &mut Run<'_, P>, mut now: u64) -> Option<Duration> {
        let visit = run.visit;
        while now < visit.end_ns && !self.is_over(run) {
            let Pace::Open(plan) = &mut self.pace else { return None };
            let due_ns = plan.due_ns();
            if due_ns > visit.own_ns(now) {
                let wait_ns = visit.moment_of(due_ns).min(visit.end_ns).saturating_sub(now);
                return Some(Duration::from_nanos(wait_ns).min(WAIT_MAX));
            }
            // With no session free the next reply is waited for, but not beyond the end, where waiting ends too.
            let Some(index) = self.idle.pop() else {
                return Some(Duration::from_nanos(visit.end_ns - now).min(WAIT_MAX));
            };
            plan.advance();
            let slot = &mut self.slots[index as usize];
            slot.planned_ns = visit.moment_of(due_ns);
            slot.is_planned = true;
            slot.last_ns = now;
            slot.counts = visit.count_from_ns.is_some();
            if slot.counts {
                self.tally.lateness.record(now.saturating_sub(slot.planned_ns));
            }
            self.begin(run, index as usize);
            now = run.port.now_ns();
        }
        None
    }
}
