//! What each statement of the user's transactions makes a server do, apart from its clients.
//!
//! In: a target, a test of several statements, what its sources hold. Out: [`StatementWork`] of each statement. Every
//! event is executed in a transaction of its own that is rolled back, so that it finds the data as the test does at its
//! beginning. What an event draws comes from its number, so that all builds do the same. An event with a statement that
//! has no plan, or that a server refuses, is not counted.

use super::taken_back::first_row;
use super::{database, dialect};
use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::program::own::{Arm, Inputs, Prepared};
use crate::session::execute;
use crate::statement_work::{BEFORE, COUNTED, Counter, Execution, LONGEST, Preparation, add, counter, none};
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Work};
use rqps_model::statement_work::StatementWork;
use rqps_sql::first_word;
use rqps_wire::{Protocol, Session, Target, WireError};
use std::time::Instant;

/// Words with which statements begin that have a plan, and that a ROLLBACK takes back.
const COUNTABLE: [&str; 8] = ["SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

/// An event goes back to here to execute a statement again, for what it returns.
const SAVEPOINT: &str = "rqps_work";

/// The work of a test's statements; nothing of a test that has only one, and nothing of scripts.
pub fn statement_work(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementWork>, LoadError> {
    if matches!(test.work, Work::Pgbench(_)) {
        return Ok(Vec::new());
    }
    let arm = Arm::compile(own, test, inputs, target)?;
    let statements = arm.prepared();
    let is_countable = |one: &Prepared| COUNTABLE.contains(&first_word(&one.sql, dialect(target.engine())).as_str());
    let units: Vec<&[Prepared]> = statements.chunk_by(|one, next| one.unit == next.unit).collect();
    if statements.len() < 2 || !statements.iter().any(is_countable) {
        return Ok(Vec::new());
    }
    let mut session = database::limited(own, test, target)?;
    let is_prepared = test.protocol == Sending::Prepared && target.endpoint.protocol() == Protocol::Postgres;
    let preparation = |one: &Prepared| -> Option<Preparation> {
        // The server takes the types that it infers, as in the timed part.
        (is_prepared && is_countable(one)).then(|| (one.sql.clone(), vec!["unknown"; one.slots.len()]))
    };
    let mut counter = match counter(&mut session, target, statements.iter().map(preparation).collect()) {
        Err(error) if is_refused(&error) => return Ok(Vec::new()),
        counter => counter?,
    };
    let mut counting = Counting { session: &mut session, target, arm: &arm, counter: &mut *counter };
    let mut work = Vec::new();
    let mut first = 0;
    for unit in units {
        if unit.iter().all(is_countable) {
            match counting.unit(unit, first) {
                Ok(counted) => work.extend(counted),
                Err(error) if is_refused(&error) => execute(counting.session, "ROLLBACK")?,
                Err(error) => {
                    // It still waits for an answer that nobody wants any more.
                    if matches!(error, LoadError::Wire { error: WireError::Deadline { .. }, .. }) {
                        database::end(counting.session, target)?;
                    }
                    return Err(error);
                }
            }
        }
        first += unit.len();
    }
    Ok(work)
}

/// Whether a server refused a statement; its session goes on.
fn is_refused(error: &LoadError) -> bool {
    matches!(error, LoadError::Wire { error: WireError::Server { .. }, .. } | LoadError::Shape(_))
}

/// A session in which events are executed one after the other.
struct Counting<'a> {
    session: &'a mut Session,
    target: &'a Target,
    arm: &'a Arm,
    counter: &'a mut dyn Counter,
}

impl Counting<'_> {
    /// The work of the statements of an event, of which the first has that number among those of the test.
    fn unit(&mut self, unit: &[Prepared], first: usize) -> Result<Vec<StatementWork>, LoadError> {
        let mut work: Vec<StatementWork> = unit.iter().map(|statement| none(&statement.kind)).collect();
        let begun = Instant::now();
        for number in 0..BEFORE + COUNTED {
            if begun.elapsed() > LONGEST {
                break;
            }
            self.event(unit, first, number, &mut work)?;
        }
        work.retain(|one| one.executions > 0);
        Ok(work)
    }

    fn event(
        &mut self,
        unit: &[Prepared],
        first: usize,
        number: u32,
        work: &mut [StatementWork],
    ) -> Result<(), LoadError> {
        let dialect = dialect(self.target.engine());
        let mut values = self.arm.values(SEED ^ u64::from(number));
        execute(self.session, "BEGIN")?;
        for (at, statement) in unit.iter().enumerate() {
            let execution = Execution {
                text: statement.written_out(&values, dialect),
                literals: statement.literals(&values, dialect),
            };
            let returns = !statement.kept.is_empty();
            if returns {
                execute(self.session, &format!("SAVEPOINT {SAVEPOINT}"))?;
            }
            let counts = self.counter.count(self.session, first + at, &execution)?;
            // Explained, it has returned its plan.
            if returns {
                execute(self.session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
                values.keep(&statement.kept, &first_row(self.session, &execution.text)?);
            }
            if number >= BEFORE {
                add(&mut work[at], counts);
            }
        }
        execute(self.session, "ROLLBACK")
    }
}
