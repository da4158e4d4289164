//! The plans of a test's statements, where the user wrote them one by one.
//!
//! In: a session, statements with the places of their values. Out: a plan for each. Where a statement needs what an
//! earlier one of its event returned, those up to the last that is needed are executed, in a transaction that is rolled
//! back, and it is explained with what they returned: with NULL in its place a server plans no work at all.

use super::explained::{sending, untold, with_values};
use crate::drive::end_session;
use crate::error::LoadError;
use crate::own::taken_back::is_taken_back;
use crate::own::{database, dialect};
use crate::plan_capture::{Explainer, SEED, Told};
use crate::program::own::{Arm, Inputs, Prepared, ValueSet};
use crate::session::{execute, first_rows};
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending};
use rqps_sql::{first_word, is_transaction_border};
use rqps_wire::{Session, Target, WireError};

/// What is done goes back to here where a server refuses it.
const SAVEPOINT: &str = "rqps_plan";

/// The plan of each statement.
pub(super) fn plans(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    inputs: &Inputs,
) -> Result<Vec<StatementPlan>, LoadError> {
    let arm = Arm::compile(own, test, inputs, target)?;
    let session = database::limited(own, test, target)?;
    let mut asking =
        Asking { session, own, test, target, arm: &arm, values: arm.values(SEED), asked: 0, unknown: None };
    let mut plans = Vec::new();
    for unit in arm.prepared().chunk_by(|one, next| one.unit == next.unit) {
        plans.extend(asking.unit(unit)?);
    }
    Ok(plans)
}

/// A session in which statements are explained one after the other.
struct Asking<'a> {
    session: Session,
    own: &'a Own,
    test: &'a OwnTest,
    target: &'a Target,
    arm: &'a Arm,
    /// The values of the statements that are executed, with what they returned.
    values: ValueSet,
    /// How many were explained.
    asked: usize,
    /// Why it is not known what statements return, where that is so: none is executed any more.
    unknown: Option<String>,
}

impl Asking<'_> {
    /// The plans of the statements of an event.
    fn unit(&mut self, unit: &[Prepared]) -> Result<Vec<StatementPlan>, LoadError> {
        let needs_kept = unit.iter().any(Prepared::needs_kept);
        let last = unit.iter().rposition(|statement| !statement.kept.is_empty()).filter(|_| needs_kept);
        let executed = last.map_or(0, |last| last + 1);
        self.unknown = None;
        if executed > 0 {
            execute(&mut self.session, "BEGIN")?;
        }
        let mut plans = Vec::new();
        for (at, statement) in unit.iter().enumerate() {
            let told = match self.lack(statement) {
                Some(why) => untold(why),
                None => self.explain(statement, executed > 0)?,
            };
            plans.push(told.of(statement.kind.clone(), statement.sql.clone()));
            if at < executed && self.unknown.is_none() {
                self.execute(statement)?;
            }
        }
        if executed > 0 {
            execute(&mut self.session, "ROLLBACK")?;
        }
        Ok(plans)
    }

    /// Why a statement cannot be explained for want of what earlier ones return.
    fn lack(&self, statement: &Prepared) -> Option<String> {
        if !statement.needs_kept() {
            return None;
        }
        let why = self.unknown.clone();
        why.or_else(|| {
            let is_there = statement.kept_places().all(|place| !self.values.is_null(place));
            (!is_there)
                .then(|| "what it needs of an earlier statement is NULL with the values that were drawn".to_owned())
        })
    }

    fn explain(&mut self, statement: &Prepared, is_guarded: bool) -> Result<Told, LoadError> {
        let Asking { test, target, arm, .. } = *self;
        let (number, dialect) = (self.asked, dialect(target.engine()));
        self.asked += 1;
        let kept = self.values.clone();
        let values = |execution| arm.values(SEED ^ execution).keeping(&kept);
        let told = self.guarded(is_guarded, |session| match sending(test, target) {
            Sending::Simple => Explainer::new(session, target).text(&statement.written_out(&values(0), dialect)),
            Sending::Extended | Sending::Prepared => {
                let literals = |execution| statement.literals(&values(execution), dialect);
                let sql = (statement.sql.as_str(), statement.slots.len());
                with_values(session, target, test, number, sql, &literals)
            }
        })?;
        Ok(told.unwrap_or_else(untold))
    }

    /// Executes a statement, and keeps what later ones need.
    fn execute(&mut self, statement: &Prepared) -> Result<(), LoadError> {
        let dialect = dialect(self.target.engine());
        if is_transaction_border(&statement.sql, dialect) {
            return Ok(());
        }
        if !is_taken_back(&statement.sql, self.target, dialect) {
            let word = first_word(&statement.sql, dialect);
            let why = format!("it needs what is known after a {word}, which could not be taken back");
            self.unknown = Some(why);
            return Ok(());
        }
        let text = statement.written_out(&self.values, dialect);
        let ran = self.guarded(true, |session| first_rows(session, &text, 1))?;
        match ran {
            Ok(rows) => self.values.keep(&statement.kept, &rows),
            Err(why) => {
                self.unknown = Some(format!("it needs what is known after `{}`, which failed: {why}", statement.kind))
            }
        }
        Ok(())
    }

    /// Does something; if the server refuses it, a transaction is as before.
    fn guarded<T>(
        &mut self,
        is_guarded: bool,
        act: impl FnOnce(&mut Session) -> Result<T, LoadError>,
    ) -> Result<Result<T, String>, LoadError> {
        let is_guarded = is_guarded && self.unknown.is_none();
        if is_guarded {
            execute(&mut self.session, &format!("SAVEPOINT {SAVEPOINT}"))?;
        }
        match act(&mut self.session) {
            // Its session waits for an answer that nobody wants any more, and its transaction ends with it.
            Err(LoadError::Wire { error: WireError::Deadline { .. }, .. }) => {
                end_session(&self.session, self.target)?;
                self.session = database::limited(self.own, self.test, self.target)?;
                let seconds = self.test.timeout_seconds;
                self.unknown = Some(format!("a statement before it was not done within {seconds} s"));
                Ok(Err(format!("the server did not plan it within {seconds} s")))
            }
            Err(error) => {
                if is_guarded {
                    execute(&mut self.session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
                }
                Ok(Err(error.to_string()))
            }
            Ok(done) => Ok(Ok(done)),
        }
    }
}
