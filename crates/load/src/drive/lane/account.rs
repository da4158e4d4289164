//! The end of an event: what it counts for, and what its program is told.

use super::super::arrival::Pace;
use super::super::port::Port;
use super::super::slot::Phase;
use super::{Lane, Run};
use crate::program::{Ended, Outcome, Program};

impl<G: Program> Lane<G> {
    /// An event is over: it is counted as a whole.
    #[inline]
    pub(super) fn ended<P: Port>(&mut self, run: &Run<'_, P>, index: usize, outcome: Outcome, reason: &str) {
        let slot = &mut self.slots[index];
        let now = slot.last_ns;
        slot.phase = Phase::Idle;
        self.running -= 1;
        let busy_ns = now - slot.busy_from_ns;
        self.tally.events_total += 1;
        self.tally.events_total_ns += busy_ns;
        if outcome == Outcome::Succeeded {
            slot.failures_in_a_row = 0;
            slot.timeouts_in_a_row = 0;
            let began_as = std::mem::replace(&mut slot.event, slot.program.event());
            if slot.counts && slot.event != began_as {
                self.tally.events[began_as].accounting.scheduled -= 1;
                self.tally.events[slot.event].accounting.scheduled += 1;
            }
        }
        let from_plan_ns = now.saturating_sub(slot.planned_ns);
        if slot.counts {
            let visit = run.visit;
            let operations = slot.program.rated(outcome, slot.operations);
            self.tally.visit.operations += operations;
            self.tally.visit.busy_ns += busy_ns;
            self.tally.visit.burned_ns += slot.burned_ns;
            self.tally.rows += slot.rows;
            let interval = self.tally.intervals.at(visit.counted_ns(now), now.saturating_sub(visit.origin_ns));
            interval.operations += operations;
            interval.rows += slot.rows;
            interval.busy_ns += busy_ns;
            interval.errors += slot.errors;
            interval.retried += u64::from(slot.retries);
            let counts = &mut self.tally.events[slot.event];
            if outcome == Outcome::Succeeded {
                counts.succeeded(slot.rows, busy_ns, slot.is_planned.then_some(from_plan_ns));
                self.tally.intervals.latency(from_plan_ns);
            } else {
                counts.accounting.failed += 1;
                *self.tally.failures.of(slot.failure) += 1;
                self.tally.failed_events.record(from_plan_ns);
            }
        }
        let from_plan_ns = slot.is_planned.then_some(from_plan_ns);
        self.notify(index, outcome, from_plan_ns, reason);
        if self.is_open {
            self.idle.push(index as u32);
        }
    }

    /// Gives the program what became of its event.
    #[inline]
    pub(super) fn notify(&mut self, index: usize, outcome: Outcome, from_plan_ns: Option<u64>, reason: &str) {
        let slot = &mut self.slots[index];
        let (at_ns, rows) = (slot.last_ns, slot.rows);
        let took_ns = at_ns - slot.busy_from_ns;
        slot.program.ended(&Ended { outcome, at_ns, took_ns, from_plan_ns, rows, reason });
    }

    /// The test is over at that point of the arm's own time: what was due and not sent is skipped.
    pub(crate) fn skip_until(&mut self, own_ns: u64) {
        if let Pace::Open(plan) = &mut self.pace {
            let accounting = &mut self.tally.events[0].accounting;
            while plan.due_ns() < own_ns {
                plan.advance();
                accounting.scheduled += 1;
                accounting.skipped += 1;
            }
        }
    }
}
