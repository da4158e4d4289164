//! The user's own tests: statements with values from sources, alone, in transactions, or mixed by weight.
//!
//! In: a test of a plan, what its sources hold, the servers. Out: programs for the timed loop. Every statement is a
//! kind, so that latency, plan and cost stay apart; a mix has its tests as the kinds of its events. The values of an
//! event follow from its random stream alone, so that every build gets the same, and an event that begins again the
//! same once more. pgbench scripts are programs of their own, in `scripts`.

mod compile;
mod literal;
mod scripts;
mod values;

pub(crate) use compile::{Arm, Prepared};
pub(crate) use literal::push_literal;
pub(crate) use scripts::Filled;
pub use scripts::{ScriptSession, ScriptWorkload};
pub use values::Inputs;
pub(crate) use values::ValueSet;

use super::{Cue, Parameters, Program, StatementForm, Step, Workload};
use compile::{Sent, Unit};
use rand_core::Rng;
use rand_pcg::Pcg64;
use rqps_draw::Random;
use std::time::Duration;

/// Failed events of a session in a row after which its server is given up.
const FAILURES_IN_A_ROW_MAX: u32 = 20;

/// Events of a session in a row that ran into their time-out, after which its server is given up.
const TIMEOUTS_IN_A_ROW_MAX: u32 = 3;

/// PostgreSQL settles on a plan at the sixth execution.
const EVENTS_TO_SETTLE: u32 = 6;

/// A test of the user's, compiled for every server.
#[derive(Debug)]
pub(crate) struct OwnWorkload {
    arms: Vec<Arm>,
}

impl OwnWorkload {
    /// A test, of what was compiled for each server.
    pub(crate) fn of(arms: Vec<Arm>) -> OwnWorkload {
        OwnWorkload { arms }
    }
}

impl Workload for OwnWorkload {
    type Program<'w> = OwnSession<'w>;

    fn kinds(&self) -> Vec<String> {
        // They have the same names on every engine.
        self.arms.first().map_or_else(Vec::new, |arm| arm.kinds.clone())
    }

    fn events(&self) -> Vec<String> {
        self.arms.first().map_or_else(Vec::new, |arm| arm.units.iter().map(|unit| unit.name.clone()).collect())
    }

    fn program(&self, arm: usize, _: u32, _: usize) -> OwnSession<'_> {
        OwnSession::new(&self.arms[arm])
    }

    fn events_to_settle(&self, arm: usize) -> u32 {
        EVENTS_TO_SETTLE * self.arms[arm].units.len() as u32
    }
}

/// One client's session.
#[derive(Debug)]
pub(crate) struct OwnSession<'w> {
    arm: &'w Arm,
    values: ValueSet,
    unit: usize,
    step: usize,
    text: Vec<u8>,
}

impl<'w> OwnSession<'w> {
    fn new(arm: &'w Arm) -> OwnSession<'w> {
        OwnSession { arm, values: ValueSet::new(&arm.sources), unit: 0, step: 0, text: Vec::with_capacity(256) }
    }

    fn begin(&mut self, random: &mut Pcg64) {
        // A stream of its own for the event, from one number of the loop's.
        let mut random = Random::seeded(random.next_u64());
        self.unit = self.arm.choose(&mut random);
        self.step = 0;
        self.values.draw(&self.arm.sources, &self.arm.units[self.unit].sources, &mut random);
    }

    fn send<S: Parameters>(&mut self, statements: &mut [S]) -> Step {
        let unit: &Unit = &self.arm.units[self.unit];
        let Some(sent) = unit.steps.get(self.step) else { return Step::End };
        let (statement, kind) = match sent {
            Sent::Bare { statement, kind } => (*statement, *kind),
            Sent::Prepared { statement, kind, slots } => {
                if !slots.is_empty() {
                    let values = &self.values;
                    statements[*statement].set_any(|slot| values.any(slots[slot]));
                }
                (*statement, *kind)
            }
            Sent::Text { statement, kind, pieces, dialect } => {
                self.text.clear();
                for (text, place) in pieces {
                    self.text.extend_from_slice(text.as_bytes());
                    if let Some(place) = place {
                        push_literal(&mut self.text, self.values.any(*place), *dialect);
                    }
                }
                statements[*statement].set_sql(&self.text);
                (*statement, *kind)
            }
        };
        Step::Send { statement, kind }
    }
}

impl Program for OwnSession<'_> {
    const FAILURES_IN_A_ROW_MAX: u32 = FAILURES_IN_A_ROW_MAX;
    const TIMEOUTS_IN_A_ROW_MAX: u32 = TIMEOUTS_IN_A_ROW_MAX;
    const KEEPS_TIMEOUTS: bool = true;

    fn opening(&self) -> &[String] {
        &self.arm.opening
    }

    fn timeout(&self) -> Option<Duration> {
        self.arm.timeout
    }

    fn statements(&self) -> &[StatementForm] {
        &self.arm.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin => self.begin(random),
            Cue::Again => {
                self.values.take_back(&self.arm.units[self.unit].sources);
                self.begin(random);
            }
            Cue::Answer(rows) => {
                let unit = &self.arm.units[self.unit];
                if let Some(kept) = unit.kept.get(self.step).filter(|kept| !kept.is_empty()) {
                    self.values.keep(kept, rows);
                }
                self.step += 1;
            }
        }
        self.send(statements)
    }

    fn rollback(&self) -> Option<usize> {
        self.arm.rollback
    }

    fn tries_max(&self) -> u32 {
        self.arm.tries_max
    }

    fn event(&self) -> usize {
        self.unit
    }
}

#[cfg(test)]
mod tests;
