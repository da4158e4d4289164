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
    let mut units = countable_units(statements, target);
    if statements.len() < 2 || units.is_empty() {
        return Ok(Vec::new());
    }
    let mut session = database::limited(own, test, target)?;
    let is_prepared = test.protocol == Sending::Prepared && target.endpoint.protocol() == Protocol::Postgres;
    let preparation = |statement: &Prepared| -> Option<Preparation> {
        // The server takes the types that it infers, as in the timed part.
        let types = || vec!["unknown"; statement.slots.len()];
        (is_prepared && is_countable(statement, target)).then(|| (statement.sql.clone(), types()))
    };
    let mut counter = match counter(&mut session, target, statements.iter().map(preparation).collect()) {
        Err(error) if is_refused(&error) => return Ok(Vec::new()),
        counter => counter?,
    };
    let mut counting = Counting { session: &mut session, target, arm: &arm, counter: &mut *counter };
    let begun = Instant::now();
    for number in (0..BEFORE + COUNTED).take_while(|_| begun.elapsed() < LONGEST) {
        for unit in &mut units {
            counting.event(unit, number)?;
        }
    }
    let work = units.into_iter().filter(|unit| !unit.is_refused).flat_map(|unit| unit.work);
    Ok(work.filter(|work| work.executions > 0).collect())
}

/// The statements of one event, and what was counted of them.
struct Unit<'a> {
    statements: &'a [Prepared],
    /// The number of the first one among those of the test.
    first: usize,
    work: Vec<StatementWork>,
    /// Whether the server refused one of them: then none is executed any more.
    is_refused: bool,
}

/// The events of which each statement can be counted.
fn countable_units<'a>(statements: &'a [Prepared], target: &Target) -> Vec<Unit<'a>> {
    let mut first = 0;
    let unit = |statements: &'a [Prepared]| {
        let work = statements.iter().map(|statement| none(&statement.kind)).collect();
        first += statements.len();
        Unit { statements, first: first - statements.len(), work, is_refused: false }
    };
    let units = statements.chunk_by(|one, next| one.unit == next.unit).map(unit);
    units.filter(|unit| unit.statements.iter().all(|statement| is_countable(statement, target))).collect()
}

fn is_countable(statement: &Prepared, target: &Target) -> bool {
    COUNTABLE.contains(&first_word(&statement.sql, dialect(target.engine())).as_str())
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
    /// Executes an event of that number, and takes it back.
    fn event(&mut self, unit: &mut Unit<'_>, number: u32) -> Result<(), LoadError> {
        if unit.is_refused {
            return Ok(());
        }
        execute(self.session, "BEGIN")?;
        match self.statements(unit, number) {
            Err(error) if is_refused(&error) => unit.is_refused = true,
            Err(error) => {
                // It still waits for an answer that nobody wants any more.
                if matches!(error, LoadError::Wire { error: WireError::Deadline { .. }, .. }) {
                    database::end(self.session, self.target)?;
                }
                return Err(error);
            }
            Ok(()) => {}
        }
        execute(self.session, "ROLLBACK")
    }

    fn statements(&mut self, unit: &mut Unit<'_>, number: u32) -> Result<(), LoadError> {
        let dialect = dialect(self.target.engine());
        let mut values = self.arm.values(SEED ^ u64::from(number));
        for ((statement, work), kind) in unit.statements.iter().zip(&mut unit.work).zip(unit.first..) {
            let (text, literals) = (statement.written_out(&values, dialect), statement.literals(&values, dialect));
            let execution = Execution { text, literals };
            let returns = !statement.kept.is_empty();
            if returns {
                execute(self.session, &format!("SAVEPOINT {SAVEPOINT}"))?;
            }
            let counts = self.counter.count(self.session, kind, &execution)?;
            // Explained, it has returned its plan.
            if returns {
                execute(self.session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
                values.keep(&statement.kept, &first_row(self.session, &execution.text)?);
            }
            if number >= BEFORE {
                add(work, counts);
            }
        }
        Ok(())
    }
}
