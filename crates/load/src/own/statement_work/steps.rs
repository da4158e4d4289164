//! The work of statements that the user wrote one by one.
//!
//! In: statements with the places of their values. Out: what each made the server do. A statement of which a later one
//! needs what it returned is executed twice, once counted and once for that. What has no plan is executed and not
//! counted where the server takes it back; on MySQL and MariaDB its event is left out.

use super::event::{in_savepoint, is_refused, rolled_back};
use crate::error::LoadError;
use crate::own::taken_back::{first_row, has_plan, is_taken_back};
use crate::own::{database, dialect};
use crate::plan_capture::SEED;
use crate::program::own::{Arm, Inputs, Prepared};
use crate::statement_work::{BEFORE, COUNTED, Counter, Execution, LONGEST, Preparation, add, counter, none};
use rqps_model::own::{Own, OwnTest, Protocol as Sending};
use rqps_model::statement_work::StatementWork;
use rqps_sql::is_transaction_border;
use rqps_wire::{Protocol, Session, Target};
use std::time::Instant;

pub(super) fn statement_work(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementWork>, LoadError> {
    let arm = Arm::compile(own, test, inputs, target)?;
    let statements = arm.prepared();
    let mut units = units(statements, target);
    if statements.len() < 2 || units.is_empty() {
        return Ok(Vec::new());
    }
    let (mut session, dialect) = (database::limited(own, test, target)?, dialect(target.engine()));
    let is_prepared = test.protocol == Sending::Prepared && target.endpoint.protocol() == Protocol::Postgres;
    let preparation = |statement: &Prepared| -> Option<Preparation> {
        // The server takes the types that it infers, as in the timed part.
        let types = || vec!["unknown"; statement.slots.len()];
        (is_prepared && has_plan(&statement.sql, dialect)).then(|| (statement.sql.clone(), types()))
    };
    let mut counter = match counter(&mut session, target, statements.iter().map(preparation).collect()) {
        Err(error) if is_refused(&error) => return Ok(Vec::new()),
        counter => counter?,
    };
    let begun = Instant::now();
    for number in (0..BEFORE + COUNTED).take_while(|_| begun.elapsed() < LONGEST) {
        for unit in units.iter_mut().filter(|unit| !unit.is_refused) {
            let event = |session: &mut Session| unit.event(session, target, &arm, &mut *counter, number);
            let is_done = rolled_back(&mut session, target, event)?;
            unit.is_refused = !is_done;
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

/// The events that can be taken back.
fn units<'a>(statements: &'a [Prepared], target: &Target) -> Vec<Unit<'a>> {
    let mut first = 0;
    let unit = |statements: &'a [Prepared]| {
        let work = statements.iter().map(|statement| none(&statement.kind)).collect();
        first += statements.len();
        Unit { statements, first: first - statements.len(), work, is_refused: false }
    };
    let units = statements.chunk_by(|one, next| one.unit == next.unit).map(unit);
    let dialect = dialect(target.engine());
    let stays = |statement: &Prepared| !is_taken_back(&statement.sql, target, dialect);
    units.filter(|unit| !unit.statements.iter().any(stays)).collect()
}

impl Unit<'_> {
    /// Executes an event of that number.
    fn event(
        &mut self,
        session: &mut Session,
        target: &Target,
        arm: &Arm,
        counter: &mut dyn Counter,
        number: u32,
    ) -> Result<(), LoadError> {
        let dialect = dialect(target.engine());
        let mut values = arm.values(SEED ^ u64::from(number));
        for ((statement, work), kind) in self.statements.iter().zip(&mut self.work).zip(self.first..) {
            if is_transaction_border(&statement.sql, dialect) {
                continue;
            }
            let (text, literals) = (statement.written_out(&values, dialect), statement.literals(&values, dialect));
            let execution = Execution { text, literals };
            let (is_counted, returns) = (has_plan(&statement.sql, dialect), !statement.kept.is_empty());
            if is_counted {
                let counts = match returns {
                    // Explained, it returns its plan.
                    true => in_savepoint(session, |session| counter.count(session, kind, &execution))?,
                    false => counter.count(session, kind, &execution)?,
                };
                if number >= BEFORE {
                    add(work, counts);
                }
            }
            if returns || !is_counted {
                values.keep(&statement.kept, &first_row(session, &execution.text)?);
            }
        }
        Ok(())
    }
}
