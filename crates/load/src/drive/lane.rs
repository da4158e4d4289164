//! The loop itself: the sessions of one arm on one thread, for one visit.
//!
//! In: a port, a visit, the sessions' programs. Out: counts in the tally. A session sends, all wait, whoever is
//! readable reads and sends again. Each completed statement costs one clock reading; all other times are differences of
//! those. A statement under way is always waited for, so that its outcome is known.

mod account;
mod aside;
mod failure;
mod next;
mod overdue;

use super::arrival::{Pace, SessionPlan};
use super::burn::Burn;
use super::intervals::Row;
use super::port::{Lost, Piece, Port};
use super::schedule::Visit;
use super::slot::{Phase, Slot};
use super::tally::{Counted, Tally};
use crate::program::{Cue, Outcome, Program, Step};
use crate::random::stream;
use rqps_model::sample::Planted;
use rqps_wire::Reply;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// The longest wait for an event that is due later, so that a wish to stop is seen in time.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How often progress is reported in a long visit.
const TICK_NS: u64 = 1_000_000_000;

/// The sessions of one arm on one thread.
#[derive(Debug)]
pub(crate) struct Lane<P> {
    slots: Vec<Slot<P>>,
    /// Sessions of a client; they are neighbours.
    sessions: usize,
    pub(crate) pace: Pace,
    pub(crate) tally: Tally,
    running: usize,
    /// Whether this visit goes by the plan.
    is_open: bool,
    /// What is burned before each statement of this visit, where a change is planted.
    burn: Burn,
    /// The same of cycles with short burns and with long ones.
    burns: [Burn; 2],
    ready: Vec<u32>,
    /// Sessions without an event; used in an open loop.
    idle: Vec<u32>,
    /// When a session with a plan of its own wants to begin; `u64::MAX` if none waits for its plan.
    next_due_ns: u64,
    /// When the next session that sleeps within its event is to go on; `u64::MAX` if none does.
    next_wake_ns: u64,
    /// How long a statement may take; `u64::MAX` where the client does not see to that.
    timeout_ns: u64,
    /// Why the server counts as lost.
    lost: Option<Lost>,
}

/// What the loop works with besides the lane's own state.
struct Run<'a, P> {
    port: &'a mut P,
    visit: &'a Visit,
    kinds: &'a [String],
    stop: &'a AtomicBool,
    tick: &'a dyn Fn(u64),
}

/// How a visit was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    /// When, on the arm's clock.
    pub(crate) at_ns: u64,
    /// Whether no session had anything to do; else the visit was paused.
    pub(crate) is_idle: bool,
    /// What was counted in it.
    pub(crate) counted: Counted,
}

/// What a visit needs besides port and plan.
pub(crate) struct Around<'a> {
    pub(crate) seed: u64,
    /// The names of the kinds of statements.
    pub(crate) kinds: &'a [String],
    pub(crate) stop: &'a AtomicBool,
    /// Called about once a second with the time.
    pub(crate) tick: &'a dyn Fn(u64),
}

impl<G: Program> Lane<G> {
    /// A lane for the given clients, each with `sessions` programs that follow each other; `rows` takes those of its
    /// seconds.
    pub(crate) fn new(
        programs: impl Iterator<Item = (u32, G)>,
        sessions: usize,
        kinds: usize,
        events: usize,
        pace: Pace,
        rows: Option<SyncSender<Row>>,
    ) -> Lane<G> {
        let slots: Vec<Slot<G>> = programs.map(|(client, program)| Slot::new(client, program)).collect();
        let timeout = slots.first().and_then(|slot| slot.program.timeout());
        Lane {
            sessions,
            running: 0,
            is_open: false,
            burn: Burn::default(),
            burns: [Burn::default(); 2],
            ready: Vec::with_capacity(slots.len().max(64)),
            idle: Vec::with_capacity(slots.len()),
            next_due_ns: u64::MAX,
            next_wake_ns: u64::MAX,
            tally: Tally::new(kinds, events, matches!(pace, Pace::Open(_)), rows),
            timeout_ns: timeout.map_or(u64::MAX, |timeout| timeout.as_nanos() as u64),
            lost: None,
            slots,
            pace,
        }
    }

    /// Its programs, a session each.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &G> {
        self.slots.iter().map(|slot| &slot.program)
    }

    /// From now on each session is held up by that much for each of its statements, in cycles with short burns and with
    /// long ones.
    pub(crate) fn plant(&mut self, held_ns: [f64; 2], clock_reading_ns: u64) {
        self.burns = held_ns.map(|held_ns| Burn::new(held_ns, self.slots.len(), clock_reading_ns));
    }

    /// What it counted, and its programs.
    pub(crate) fn into_parts(mut self) -> (Tally, Vec<G>) {
        self.give_up_unfinished();
        let deferred = self.slots.iter().filter_map(|slot| slot.plan.as_ref()).map(SessionPlan::deferred_ns);
        self.tally.deferred_ns = deferred.max().unwrap_or(0);
        (self.tally, self.slots.into_iter().map(|slot| slot.program).collect())
    }

    /// Runs one visit to its end or pause.
    pub(crate) fn visit<P: Port>(&mut self, port: &mut P, visit: &Visit, around: &Around<'_>) -> Result<Left, Lost> {
        if !visit.continues {
            self.prepare(visit, around.seed);
        }
        self.is_open = visit.is_paced && matches!(self.pace, Pace::Open(_));
        let Around { kinds, stop, tick, .. } = *around;
        let mut run = Run { port, visit, kinds, stop, tick };
        let ended = self.turn(&mut run);
        // What was counted in a visit that was lost is in no sum of visits.
        let counted = std::mem::take(&mut self.tally.visit);
        match (ended, self.lost.take()) {
            (Ok((at_ns, is_idle)), None) => Ok(Left { at_ns, is_idle, counted }),
            (ended, lost) => Err(lost.or(ended.err()).unwrap_or_default()),
        }
    }

    /// Sessions begin anew.
    fn prepare(&mut self, visit: &Visit, seed: u64) {
        self.burn = self.burns[usize::from(Planted::has_long_burns(visit.moment))];
        for slot in &mut self.slots {
            slot.random = stream(seed, visit.purpose, u64::from(slot.client), visit.moment);
            slot.phase = Phase::Idle;
            slot.events_in_visit = 0;
            slot.counted_in_visit = 0;
            if G::HAS_TURNS {
                slot.program.started(visit.start_ns);
                slot.plan = slot.program.plan().map(SessionPlan::new);
            }
        }
    }

    /// Works until no session has anything to do, or the visit pauses: when that was, and whether the former; an error
    /// says that it cannot be waited.
    fn turn<P: Port>(&mut self, run: &mut Run<'_, P>) -> Result<(u64, bool), Lost> {
        let mut now = run.port.now_ns().max(run.visit.start_ns);
        let mut next_tick_ns = now + TICK_NS;
        self.idle.clear();
        for index in 0..self.slots.len() {
            if self.slots[index].phase == Phase::Idle {
                self.slots[index].last_ns = now;
                if self.is_open {
                    self.idle.push(index as u32);
                }
            }
        }
        if !self.is_open {
            now = self.follow_all(run, now);
        }
        let is_idle = loop {
            let due = match self.is_open {
                true => self.dispatch(run, now),
                false => self.until_due(now),
            };
            let is_idle = self.running == 0 && due.is_none();
            let due = if G::HAS_ASIDES { self.until_wake(now, due) } else { due };
            if is_idle || (G::HAS_TURNS && now >= run.visit.pause_ns) {
                break is_idle;
            }
            let timeout = if G::HAS_TURNS { run.visit.until_pause(now, due) } else { due };
            self.ready.clear();
            let has_rung = match run.port.wait(timeout, &mut self.ready) {
                Ok(has_rung) => has_rung,
                Err(lost) => {
                    self.abandon(run, &lost);
                    return Err(lost);
                }
            };
            for place in 0..self.ready.len() {
                let index = self.ready[place] as usize;
                match self.receive(run, index) {
                    Ok(Some(reply)) => {
                        now = run.port.now_ns();
                        now = self.completed(run, index, &reply, now);
                    }
                    Ok(None) => {}
                    Err(lost) => self.lose(run, index, lost),
                }
            }
            if G::KEEPS_TIMEOUTS && has_rung {
                self.interrupt_overdue(run);
            }
            if timeout.is_some() {
                now = run.port.now_ns();
                if !self.is_open && (now >= self.next_due_ns || self.is_over(run)) {
                    now = self.follow_all(run, now);
                }
                if G::HAS_ASIDES && (now >= self.next_wake_ns || self.is_over(run)) {
                    now = self.wake(run, now);
                }
            }
            if now >= next_tick_ns {
                (run.tick)(now);
                next_tick_ns = now + TICK_NS;
            }
        };
        if self.is_open && run.visit.count_from_ns.is_some() {
            // Sessions are there to be used all the time; throughput is what got through, whether they were busy or
            // not.
            self.tally.visit.busy_ns = self.slots.len() as u64 * now.saturating_sub(run.visit.start_ns);
        }
        Ok((now, is_idle))
    }

    /// Whether nothing new is to be begun.
    #[inline]
    fn is_over<P>(&self, run: &Run<'_, P>) -> bool {
        run.stop.load(Ordering::Relaxed) || self.lost.is_some()
    }

    #[inline]
    fn begin<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) {
        let slot = &mut self.slots[index];
        slot.busy_from_ns = slot.last_ns;
        slot.operations = 0;
        slot.rows = 0;
        slot.errors = 0;
        slot.retries = 0;
        slot.queued = 0;
        slot.burned_ns = 0;
        slot.events_in_visit += 1;
        slot.at_start.clone_from(&slot.random);
        let step = slot.program.next(Cue::Begin, &mut slot.random, run.port.statements(index).1);
        slot.event = slot.program.event();
        if slot.counts {
            slot.counted_in_visit += 1;
            self.tally.events[slot.event].accounting.scheduled += 1;
        }
        slot.phase = Phase::Running;
        self.running += 1;
        self.go_on(run, index, step);
    }

    /// Sends what comes next; an event without a statement is over at once.
    #[inline]
    fn go_on<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, step: Step) {
        match step {
            Step::Send { statement, kind } => {
                self.slots[index].kind = kind;
                if self.burn.length_ns > 0 {
                    self.burn(run, index);
                }
                if let Err(lost) = run.port.submit(index, statement) {
                    self.lose(run, index, lost);
                }
            }
            Step::End => self.at_end(run, index),
            Step::SendQueue { kind } => {
                self.slots[index].kind = kind;
                if let Err(lost) = run.port.queue(index, Piece::End) {
                    self.lose(run, index, lost);
                }
            }
            Step::Aside(aside) => self.aside(run, index, aside),
        }
    }

    /// Burns time between two statements of a session: all sessions of the thread that are at work are held up.
    fn burn<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) {
        let seen_ns = run.port.burn(self.burn.length_ns);
        self.slots[index].burned_ns += self.burn.counted_ns(seen_ns) * self.running as u64;
    }

    /// A session's statement was answered at `now`; the time afterwards.
    #[inline]
    fn completed<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, reply: &Reply, now: u64) -> u64 {
        let slot = &mut self.slots[index];
        let took_ns = now - slot.last_ns;
        slot.last_ns = now;
        let mut answered = 1;
        if G::HAS_ASIDES {
            slot.in_transaction = reply.in_transaction;
            // All that was sent together was answered together.
            answered = u64::from(std::mem::take(&mut slot.queued)).max(1);
        }
        match (slot.phase, reply.error) {
            (Phase::Running, None) => {
                self.tally.operations_total += answered;
                self.tally.bytes_total += reply.bytes;
                slot.operations += answered;
                slot.rows += reply.rows.max(reply.affected);
                if slot.counts {
                    self.tally.statements[slot.kind].record(took_ns);
                }
                let (rows, statements) = run.port.statements(index);
                let step = slot.program.next(Cue::Answer(rows), &mut slot.random, statements);
                self.go_on(run, index, step);
            }
            (Phase::Running, Some(code)) => self.refused(run, index, reply, code),
            (Phase::RollingBack { again: true }, None) => self.again(run, index),
            (Phase::RollingBack { .. }, _) => self.ended(run, index, Outcome::Failed, ""),
            (Phase::Idle | Phase::Sleeping | Phase::Lost, _) => {
                self.lose(run, index, Lost::in_doubt("the server sent a reply to no statement"));
            }
        }
        self.follow_if_idle(run, index, now)
    }

    /// What a session does that may have come to the end of its event at `now`; the time afterwards.
    #[inline]
    fn follow_if_idle<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize, now: u64) -> u64 {
        // What the client did by itself at the event's end is no part of the next.
        let now = if G::HAS_ASIDES { now.max(self.slots[index].last_ns) } else { now };
        match self.is_open || self.slots[index].phase != Phase::Idle {
            true => now,
            false if self.sessions == 1 && !G::HAS_TURNS => {
                self.follow(run, index, now);
                now
            }
            false => self.follow_client(run, index / self.sessions, now),
        }
    }
}
