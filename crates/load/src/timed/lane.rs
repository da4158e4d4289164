//! The loop itself: the sessions of one arm on one thread, for one visit.
//!
//! In: a port, a program, a visit. Out: counts in the tally. A session sends, all wait, whoever is readable reads and sends
//! again. Each completed statement costs one clock reading; all other times are differences of those.

use super::event::Program;
use super::pacing::Pace;
use super::port::{Lost, Port};
use super::schedule::Visit;
use super::slot::{Phase, Slot};
use super::tally::Tally;
use crate::random::stream;
use rqps_wire::{ErrorCode, Reply, TransactionStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an event is tried again before it is given up.
const RETRIES_MAX: u32 = 1000;

/// After so many failed events without a success in between, the arm is given up: it measures nothing.
const FAILURES_IN_A_ROW_MAX: u32 = 1000;

/// The longest wait for an event that is due later, so that a wish to stop is seen in time.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// The sessions of one arm on one thread.
#[derive(Debug)]
pub(crate) struct Lane {
    slots: Vec<Slot>,
    pub(crate) pace: Pace,
    pub(crate) tally: Tally,
    running: usize,
    /// Whether this visit goes by the plan.
    is_open: bool,
    ready: Vec<u32>,
    /// Sessions without an event; used in an open loop.
    idle: Vec<u32>,
    failures_in_a_row: u32,
}

/// What the loop works with besides the lane's own state.
struct Run<'a, P> {
    port: &'a mut P,
    program: &'a Program,
    visit: &'a Visit,
    stop: &'a AtomicBool,
}

impl Lane {
    /// A lane for the given clients.
    pub(crate) fn new(clients: impl Iterator<Item = u32>, program: &Program, pace: Pace) -> Lane {
        let slots: Vec<Slot> = clients.map(|client| Slot::new(client, program)).collect();
        Lane {
            running: 0,
            is_open: false,
            ready: Vec::with_capacity(slots.len().max(64)),
            idle: Vec::with_capacity(slots.len()),
            tally: Tally::new(program.kind_names().len(), matches!(pace, Pace::Open(_))),
            failures_in_a_row: 0,
            slots,
            pace,
        }
    }

    /// How many sessions it has.
    pub(crate) fn sessions(&self) -> usize {
        self.slots.len()
    }

    /// Runs one visit to its end, and returns when the last session was done.
    pub(crate) fn visit<P: Port>(
        &mut self,
        port: &mut P,
        program: &Program,
        seed: u64,
        visit: &Visit,
        stop: &AtomicBool,
    ) -> Result<u64, Lost> {
        for slot in &mut self.slots {
            slot.event.reseed(stream(seed, visit.purpose, u64::from(slot.client), visit.moment));
            slot.events_in_visit = 0;
            slot.counted_in_visit = 0;
        }
        if visit.count_from_ns.is_some() {
            self.tally.make_room(visit.end_ns.saturating_sub(visit.start_ns));
        }
        self.is_open = visit.is_paced && matches!(self.pace, Pace::Open(_));
        let mut run = Run { port, program, visit, stop };
        let outcome = self.turn(&mut run);
        if outcome.is_err() {
            self.abandon();
        } else if visit.count_from_ns.is_some() {
            self.tally.close_visit();
        }
        outcome
    }

    fn turn<P: Port>(&mut self, run: &mut Run<'_, P>) -> Result<u64, Lost> {
        let mut now = run.port.now_ns().max(run.visit.start_ns);
        self.idle.clear();
        for index in 0..self.slots.len() {
            self.slots[index].last_ns = now;
            match self.is_open {
                false => self.follow(run, index, now)?,
                true => self.idle.push(index as u32),
            }
        }
        loop {
            let timeout = if self.is_open { self.dispatch(run, now)? } else { None };
            if self.running == 0 && timeout.is_none() {
                break;
            }
            self.ready.clear();
            run.port.wait(timeout, &mut self.ready)?;
            for place in 0..self.ready.len() {
                let index = self.ready[place] as usize;
                if let Some(reply) = run.port.receive(index)? {
                    now = run.port.now_ns();
                    self.completed(run, index, &reply, now)?;
                }
            }
            if timeout.is_some() {
                now = run.port.now_ns();
            }
        }
        if self.is_open && run.visit.count_from_ns.is_some() {
            // Sessions are there to be used all the time; throughput is what got through, whether they were busy or not.
            self.tally.visit_busy_ns = self.slots.len() as u64 * now.saturating_sub(run.visit.start_ns);
        }
        Ok(now)
    }

    /// In a closed loop: what a session does after an event, at `now`.
    #[inline]
    fn follow<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, now: u64) -> Result<(), Lost> {
        let visit = run.visit;
        let slot = &mut self.slots[index];
        let is_due = now < visit.end_ns || (visit.count_from_ns.is_some() && slot.counted_in_visit == 0);
        if is_due && slot.events_in_visit < visit.events && !run.stop.load(Ordering::Relaxed) {
            slot.planned_ns = slot.last_ns;
            slot.counts = visit.count_from_ns.is_some_and(|from| slot.last_ns >= from);
            self.begin(run, index)?;
        }
        Ok(())
    }

    /// In an open loop: gives what is due to idle sessions, and says how long to wait at most; nothing when all is done.
    fn dispatch<P: Port>(&mut self, run: &mut Run<'_, P>, mut now: u64) -> Result<Option<Duration>, Lost> {
        let visit = run.visit;
        while now < visit.end_ns && !run.stop.load(Ordering::Relaxed) {
            let Pace::Open(plan) = &mut self.pace else { return Ok(None) };
            let due_ns = plan.due_ns();
            if due_ns > visit.own_ns(now) {
                let wait_ns = visit.moment_of(due_ns).min(visit.end_ns).saturating_sub(now);
                return Ok(Some(Duration::from_nanos(wait_ns).min(WAIT_MAX)));
            }
            // With no session free the next reply is waited for, but not beyond the end, where waiting ends too.
            let Some(index) = self.idle.pop() else {
                return Ok(Some(Duration::from_nanos(visit.end_ns - now).min(WAIT_MAX)));
            };
            plan.advance();
            let slot = &mut self.slots[index as usize];
            slot.planned_ns = visit.moment_of(due_ns);
            slot.last_ns = now;
            slot.counts = visit.count_from_ns.is_some();
            if slot.counts {
                self.tally.lateness.record(now.saturating_sub(slot.planned_ns));
            }
            self.begin(run, index as usize)?;
            now = run.port.now_ns();
        }
        Ok(None)
    }

    #[inline]
    fn begin<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) -> Result<(), Lost> {
        let slot = &mut self.slots[index];
        slot.busy_from_ns = slot.last_ns;
        slot.operations = 0;
        slot.rows = 0;
        slot.errors = 0;
        slot.retries = 0;
        slot.events_in_visit += 1;
        if slot.counts {
            slot.counted_in_visit += 1;
            self.tally.accounting.scheduled += 1;
        }
        run.program.begin(&mut slot.event);
        slot.phase = Phase::Running;
        self.running += 1;
        self.send(run, index)
    }

    #[inline]
    fn send<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) -> Result<(), Lost> {
        let event = &mut self.slots[index].event;
        let statement = run.program.statement(event);
        run.program.fill(event, run.port.statement(index, statement));
        run.port.submit(index, statement)
    }

    /// A session's statement was answered at `now`.
    #[inline]
    fn completed<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, reply: &Reply, now: u64) -> Result<(), Lost> {
        let slot = &mut self.slots[index];
        let took_ns = now - slot.last_ns;
        slot.last_ns = now;
        match (slot.phase, reply.error) {
            (Phase::Running, None) => {
                self.tally.operations_total += 1;
                self.tally.bytes_total += reply.bytes;
                self.tally.operations_in_slices += u64::from(run.visit.count_from_ns.is_some());
                slot.operations += 1;
                slot.rows += reply.rows.max(reply.affected);
                if slot.counts {
                    self.tally.statements[run.program.kind(&slot.event)].record(took_ns);
                }
                slot.event.advance();
                match slot.event.step() < run.program.steps() {
                    true => self.send(run, index),
                    false => self.ended(run, index, true),
                }
            }
            (Phase::Running, Some(code)) => self.refused(run, index, reply, code),
            (Phase::RollingBack { again: true }, None) => self.again(run, index),
            (Phase::RollingBack { .. }, _) => self.ended(run, index, false),
            (Phase::Idle, _) => Err(Lost("the server sent a reply that nobody waits for".to_owned())),
        }
    }

    /// A statement failed: roll back if need be, then try the event again or give it up.
    #[cold]
    fn refused<P: Port>(
        &mut self,
        run: &mut Run<'_, P>,
        index: usize,
        reply: &Reply,
        code: ErrorCode,
    ) -> Result<(), Lost> {
        let slot = &mut self.slots[index];
        slot.errors += 1;
        let kind = run.program.kind(&slot.event);
        if slot.counts {
            self.tally.error(kind, code, || run.port.error_message(index));
        }
        let again = code.is_transient() && slot.retries < RETRIES_MAX;
        if again {
            slot.retries += 1;
            self.tally.accounting.retried += u64::from(slot.counts);
        }
        if !again {
            self.failures_in_a_row += 1;
            if self.failures_in_a_row >= FAILURES_IN_A_ROW_MAX {
                let kind = run.program.kind_names().nth(kind).unwrap_or_default().to_owned();
                let message = run.port.error_message(index);
                return Err(Lost(format!(
                    "{FAILURES_IN_A_ROW_MAX} events failed in a row, the last in `{kind}` with {code}: {message}"
                )));
            }
        }
        match (reply.in_transaction, run.program.rollback()) {
            (TransactionStatus::Idle, _) if again => self.again(run, index),
            (TransactionStatus::Idle, _) => self.ended(run, index, false),
            (_, Some(rollback)) => {
                self.slots[index].phase = Phase::RollingBack { again };
                run.port.submit(index, rollback)
            }
            (_, None) => Err(Lost("a statement outside a transaction left one open".to_owned())),
        }
    }

    /// The same event once more, with the same keys.
    #[cold]
    fn again<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) -> Result<(), Lost> {
        let slot = &mut self.slots[index];
        run.program.begin_again(&mut slot.event);
        slot.phase = Phase::Running;
        self.send(run, index)
    }

    /// An event is over: it is counted as a whole, and the session goes on.
    #[inline]
    fn ended<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, succeeded: bool) -> Result<(), Lost> {
        let slot = &mut self.slots[index];
        let now = slot.last_ns;
        slot.phase = Phase::Idle;
        self.running -= 1;
        let busy_ns = now - slot.busy_from_ns;
        self.tally.events_total += 1;
        self.tally.events_total_ns += busy_ns;
        if succeeded {
            self.failures_in_a_row = 0;
        }
        if slot.counts {
            let visit = run.visit;
            let latency_ns = now - slot.planned_ns;
            self.tally.visit_operations += slot.operations;
            self.tally.visit_busy_ns += busy_ns;
            self.tally.rows += slot.rows;
            let interval = self.tally.intervals.at(visit.counted_ns(now), now - visit.origin_ns);
            interval.operations += slot.operations;
            interval.busy_ns += busy_ns;
            interval.errors += slot.errors;
            if succeeded {
                self.tally.accounting.succeeded += 1;
                self.tally.events.record(latency_ns);
                self.tally.intervals.latency(latency_ns);
            } else {
                self.tally.accounting.failed += 1;
                self.tally.failed_events.record(latency_ns);
            }
        }
        if self.is_open {
            self.idle.push(index as u32);
            return Ok(());
        }
        self.follow(run, index, now)
    }

    /// The server is lost: what was under way has failed.
    fn abandon(&mut self) {
        for slot in &mut self.slots {
            if slot.phase != Phase::Idle && slot.counts {
                self.tally.accounting.failed += 1;
            }
            slot.phase = Phase::Idle;
        }
        self.running = 0;
        self.tally.visit_operations = 0;
        self.tally.visit_busy_ns = 0;
    }

    /// The test is over at that point of the arm's own time: what was due and not sent is skipped.
    pub(crate) fn skip_until(&mut self, own_ns: u64) {
        if let Pace::Open(plan) = &mut self.pace {
            while plan.due_ns() < own_ns {
                plan.advance();
                self.tally.accounting.scheduled += 1;
                self.tally.accounting.skipped += 1;
            }
        }
    }
}
