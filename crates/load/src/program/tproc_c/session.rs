//! A virtual user: a session that picks its next transaction, draws the inputs and runs it to the end.
//!
//! In: cues of the timed loop, what was compiled for its server. Out: statements, and counts of what was acknowledged.
//! The deck has a random stream of its own, so that the mix goes on over slices; inputs come from that of the loop, so
//! that an event that begins again is the same. It allocates nothing once its text buffer has its size.

use super::arm::{Arm, Flow, STEPS};
use super::client::{Place, Statement};
use super::deck::Deck;
use super::inputs::{Entry, Home, Transaction};
use super::pause::Pauses;
use crate::program::{Cue, Ended, Outcome, Parameters, Program, StatementForm, Step, TRIES_MAX, Turn};
use crate::random::{Pcg64, Purpose, below, one_to, stream};
use rand_core::Rng;
use rqps_model::tproc_c::DISTRICTS;
use std::sync::atomic::Ordering;

/// The kind of event that a new order becomes that is rolled back, as its user wished.
pub(super) const ROLLED_BACK: usize = Transaction::ALL.len();

/// A virtual user's session.
pub struct Session<'w> {
    arm: &'w Arm,
    client: u32,
    home: Home,
    deck: Deck,
    /// What cards, homes and pauses are drawn from; made from the loop's stream when the first event begins.
    random: Option<Pcg64>,
    /// The transaction that is under way, or was last.
    transaction: Transaction,
    /// The transaction after it, where it decides how long the user keys.
    next_transaction: Option<Transaction>,
    entry: Entry,
    place: Place,
    /// Of a routine: the step that was sent.
    step: usize,
    /// What a routine returned.
    result: Option<i64>,
    /// When the next event may begin.
    due_ns: u64,
}

impl<'w> Session<'w> {
    pub(super) fn new(arm: &'w Arm, client: u32) -> Session<'w> {
        Session {
            arm,
            client,
            home: arm.homes.first(client),
            deck: Deck::new(arm.is_mix_drawn),
            random: None,
            transaction: Transaction::NewOrder,
            next_transaction: None,
            entry: Entry::with_room(arm.room),
            place: Place::BEGIN,
            step: 0,
            result: None,
            due_ns: 0,
        }
    }

    /// A new event: which transaction, and in which warehouse.
    fn deal(&mut self, loop_random: &Pcg64) {
        let Session { arm, client, home, deck, random, transaction, next_transaction, .. } = self;
        let random = random.get_or_insert_with(|| {
            let mut random = stream(loop_random.clone().next_u64(), Purpose::Cards, 0, 0);
            if arm.homes.is_drawn {
                home.warehouse = one_to(&mut random, arm.homes.warehouses.into()) as u32;
                home.level_district = one_to(&mut random, DISTRICTS.into()) as u32;
            }
            random
        });
        *transaction = next_transaction.take().unwrap_or_else(|| deck.deal(random));
        if let Some(owned) = arm.homes.owned() {
            home.warehouse = arm.homes.of(*client, below(random, owned.into()) as u32);
        }
    }

    /// Begins a transaction that no card says, in the user's first warehouse.
    pub(super) fn enter<S: Parameters>(
        &mut self,
        transaction: Transaction,
        random: &mut Pcg64,
        statements: &mut [S],
    ) -> Step {
        self.transaction = transaction;
        self.begin(random, statements)
    }

    /// Enters the inputs and sends the first statement.
    fn begin<S: Parameters>(&mut self, random: &mut Pcg64, statements: &mut [S]) -> Step {
        self.arm.inputs.draw(self.transaction, self.home, random, &mut self.entry);
        self.place = Place::BEGIN;
        self.step = 0;
        self.result = None;
        match &self.arm.flow {
            Flow::Client(_) => self.send(Statement::Begin, statements),
            Flow::Routines(_) => self.call(statements),
        }
    }

    /// Fills in a statement of the client.
    #[inline]
    fn send<S: Parameters>(&mut self, statement: Statement, statements: &mut [S]) -> Step {
        let number = statement as usize;
        if let Flow::Client(all) = &self.arm.flow {
            let Entry { values, text, .. } = &mut self.entry;
            all[number].fill(values, text, &mut statements[number]);
        }
        Step::Send { statement: number, kind: number }
    }

    /// Fills in the step of a routine that is due, or the next one that there is.
    #[inline]
    fn call<S: Parameters>(&mut self, statements: &mut [S]) -> Step {
        let Flow::Routines(routines) = &self.arm.flow else { return Step::End };
        while let Some(step) = routines[self.transaction as usize].get(self.step) {
            if let Some((statement, sql)) = step {
                let Entry { values, text, .. } = &mut self.entry;
                sql.fill(values, text, &mut statements[*statement]);
                return Step::Send { statement: *statement, kind: STEPS[self.step] as usize };
            }
            self.step += 1;
        }
        Step::End
    }

    /// Whether a new order was rolled back, as its user wished.
    fn is_rolled_back(&self) -> bool {
        let is_over = match self.arm.flow {
            Flow::Client(_) => self.place.sent == Statement::Rollback,
            Flow::Routines(_) => self.step >= STEPS.len() && self.result.unwrap_or(0) == 0,
        };
        self.transaction == Transaction::NewOrder && is_over
    }

    fn delivered(&self) -> u64 {
        match (self.transaction, &self.arm.flow) {
            (Transaction::Delivery, Flow::Client(_)) => self.place.delivered.into(),
            (Transaction::Delivery, Flow::Routines(_)) => {
                self.result.and_then(|count| count.try_into().ok()).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// The user reads the answer, and keys what comes next.
    fn pause(&mut self, pauses: &Pauses, at_ns: u64) {
        let Some(random) = &mut self.random else { return };
        let next = self.deck.deal(random);
        self.due_ns = at_ns + pauses.thinking_ns(self.transaction, random) + pauses.keying_ns(next);
        self.next_transaction = Some(next);
    }
}

impl Program for Session<'_> {
    const HAS_TURNS: bool = true;

    fn opening(&self) -> &[String] {
        &self.arm.opening
    }

    fn statements(&self) -> &[StatementForm] {
        &self.arm.forms
    }

    #[inline]
    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin => {
                self.deal(random);
                self.begin(random, statements)
            }
            Cue::Again => self.begin(random, statements),
            Cue::Answer(rows) => match &self.arm.flow {
                Flow::Client(_) => {
                    let Entry { values, lines, .. } = &mut self.entry;
                    match self.place.next(self.transaction, rows, &self.arm.rules, lines, values) {
                        Some(statement) => self.send(statement, statements),
                        None => Step::End,
                    }
                }
                Flow::Routines(_) => {
                    self.result = rows.integer(0, 0).or(self.result);
                    self.step += 1;
                    self.call(statements)
                }
            },
        }
    }

    fn rollback(&self) -> Option<usize> {
        matches!(self.arm.flow, Flow::Client(_)).then_some(Statement::Rollback as usize)
    }

    #[inline]
    fn event(&self) -> usize {
        if self.is_rolled_back() { ROLLED_BACK } else { self.transaction as usize }
    }

    fn tries_max(&self) -> u32 {
        if self.arm.retries { TRIES_MAX } else { 1 }
    }

    fn started(&mut self, at_ns: u64) {
        if let Some(pauses) = &self.arm.pauses
            && self.random.is_none()
        {
            self.due_ns = at_ns + pauses.first_ns(self.client);
        }
    }

    #[inline]
    fn turn(&mut self, _now_ns: u64) -> Turn {
        match self.arm.pauses {
            Some(_) => Turn::NotBefore(self.due_ns),
            None => Turn::Begin,
        }
    }

    /// Committed new orders are what counts.
    #[inline]
    fn rated(&self, outcome: Outcome, _statements: u64) -> u64 {
        u64::from(outcome == Outcome::Succeeded && self.event() == Transaction::NewOrder as usize)
    }

    #[inline]
    fn ended(&mut self, ended: &Ended<'_>) {
        let counts = &self.arm.counts;
        match ended.outcome {
            Outcome::Succeeded => {
                counts.succeeded[self.event()].fetch_add(1, Ordering::Relaxed);
                if self.transaction == Transaction::Delivery {
                    counts.delivered.fetch_add(self.delivered(), Ordering::Relaxed);
                }
            }
            Outcome::Lost => _ = counts.unknown[self.transaction as usize].fetch_add(1, Ordering::Relaxed),
            Outcome::Retried => return,
            Outcome::Failed | Outcome::GivenUp => {}
        }
        if let Some(pauses) = &self.arm.pauses {
            self.pause(pauses, ended.at_ns);
        }
    }
}
