//! The work of statements that the user wrote one by one.
//!
//! In: statements with the places of their values. Out: what each made the server do. A statement of which a later one
//! needs what it returned is executed twice, once counted and once for that. What has no plan is executed and not
//! counted where the server takes it back; on MySQL and MariaDB its event is not executed, which is told.

use super::by_event::{by_event, in_statement};
use crate::error::LoadError;
use crate::own::taken_back::{has_plan, is_taken_back};
use crate::own::{database, dialect};
use crate::plan_capture::SEED;
use crate::program::own::{Arm, Inputs, Prepared, ValueSet};
use crate::session::first_rows;
use crate::statement_work::{
    Counter, Counts, Execution, Preparation, add, count_events, counter, in_savepoint, none, told,
};
use rqps_model::own::{Own, OwnTest, Protocol as Sending};
use rqps_model::statement_work::StatementWork;
use rqps_sql::{Dialect, first_word, is_transaction_border};
use rqps_wire::{Protocol, Session, Target};

pub(super) fn statement_work(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementWork>, LoadError> {
    let arm = Arm::compile(own, test, inputs, target)?;
    let statements = arm.prepared();
    if statements.len() < 2 {
        return Ok(Vec::new());
    }
    let (mut units, mut left_out) = (Vec::new(), Vec::new());
    for unit in self::units(statements) {
        match unit.why_left_out(target) {
            None => units.push(unit),
            why => left_out.push(told(none(unit.name(&arm)), why)),
        }
    }
    if units.is_empty() {
        return Ok(left_out);
    }
    let (mut session, dialect) = (database::limited(own, test, target)?, dialect(target.engine()));
    let is_prepared = test.protocol == Sending::Prepared && target.endpoint.protocol() == Protocol::Postgres;
    let preparation = |statement: &Prepared| -> Option<Preparation> {
        // The server takes the types that it infers, as in the timed part.
        let types = || vec!["unknown"; statement.slots.len()];
        (is_prepared && has_plan(&statement.sql, dialect)).then(|| (statement.sql.clone(), types()))
    };
    let mut counter = counter(&mut session, target, statements.iter().map(preparation).collect())?;
    let event = |session: &mut Session, unit: usize, number: u32| {
        units[unit].event(session, target, &arm, &mut *counter, number)
    };
    let mut work: Vec<Vec<StatementWork>> = units.iter().map(Unit::uncounted).collect();
    let counted = |unit: usize, counts: Vec<Option<Counts>>| {
        let counted = work[unit].iter_mut().zip(counts);
        counted.for_each(|(work, counts)| counts.into_iter().for_each(|counts| add(work, counts)));
    };
    let refused = count_events(&mut session, target, units.len(), event, counted)?;
    let mut work = by_event(units.iter().map(|unit| unit.name(&arm)).zip(work), refused);
    work.extend(left_out);
    Ok(work)
}

/// The statements of one event.
struct Unit<'a> {
    statements: &'a [Prepared],
    /// The number of the first one among those of the test.
    first: usize,
}

/// The events of a test, in its order.
fn units(statements: &[Prepared]) -> impl Iterator<Item = Unit<'_>> {
    let mut first = 0;
    statements.chunk_by(|one, next| one.unit == next.unit).map(move |statements| {
        first += statements.len();
        Unit { statements, first: first - statements.len() }
    })
}

impl Unit<'_> {
    fn name<'a>(&self, arm: &'a Arm) -> &'a str {
        arm.unit_name(self.statements[0].unit)
    }

    /// Why the event must not be executed, if no ROLLBACK takes back what it does.
    fn why_left_out(&self, target: &Target) -> Option<String> {
        let dialect = dialect(target.engine());
        let is_executed = |statement: &&Prepared| !is_transaction_border(&statement.sql, dialect);
        let mut executed = self.statements.iter().filter(is_executed);
        let stays = executed.find(|statement| !is_taken_back(&statement.sql, target, dialect))?;
        let word = first_word(&stays.sql, dialect);
        Some(format!("`{}` is not executed before the test: no ROLLBACK takes back {word}", stays.kind))
    }

    fn uncounted(&self) -> Vec<StatementWork> {
        self.statements.iter().map(|statement| none(&statement.kind)).collect()
    }

    /// Executes an event of that number, and says what was counted of each statement.
    fn event(
        &self,
        session: &mut Session,
        target: &Target,
        arm: &Arm,
        counter: &mut dyn Counter,
        number: u32,
    ) -> Result<Vec<Option<Counts>>, LoadError> {
        let dialect = dialect(target.engine());
        let mut counted = vec![None; self.statements.len()];
        let mut values = arm.values(SEED ^ u64::from(number));
        for (at, statement) in self.statements.iter().enumerate() {
            if !is_transaction_border(&statement.sql, dialect) {
                let done = step(session, statement, (self.first + at, &mut *counter), &mut values, dialect);
                counted[at] = in_statement(&statement.kind, done)?;
            }
        }
        Ok(counted)
    }
}

/// Executes a statement, which has that number, keeps what later ones need, and says what was counted.
fn step(
    session: &mut Session,
    statement: &Prepared,
    (number, counter): (usize, &mut dyn Counter),
    values: &mut ValueSet,
    dialect: Dialect,
) -> Result<Option<Counts>, LoadError> {
    let (text, literals) = (statement.written_out(values, dialect), statement.literals(values, dialect));
    let execution = Execution { text, literals };
    let (is_counted, returns) = (has_plan(&statement.sql, dialect), !statement.kept.is_empty());
    let mut count = |session: &mut Session| counter.count(session, number, &execution);
    let counted = match (is_counted, returns) {
        (true, false) => return count(session).map(Some),
        // Explained, it returns its plan.
        (true, true) => Some(in_savepoint(session, count)?),
        (false, _) => None,
    };
    values.keep(&statement.kept, &first_rows(session, &execution.text, 1)?);
    Ok(counted)
}
