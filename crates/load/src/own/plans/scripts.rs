//! The plans of pgbench's scripts: each is walked once in a transaction that is rolled back.
//!
//! In: a target, a test of scripts. Out: a plan for each statement. Since what a statement needs may come from those
//! before it (a value of \gset, a temporary table, a row), each is explained with the values that it has then, and
//! executed. Where scripts begin and end transactions themselves, nothing is sent.

use super::explained::{sending, untold, with_values};
use crate::error::LoadError;
use crate::own::database;
use crate::own::script_statement::{literals, parts, run};
use crate::plan_capture::{Explainer, SEED, Told};
use crate::program::StatementForm;
use crate::program::own::{Filled, ScriptWorkload};
use crate::session::execute;
use rqps_model::facts::StatementPlan;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Scripts};
use rqps_sql::{Dialect, statements};
use rqps_wire::{Rows, Session, Target, WireError};
use std::collections::BTreeMap;

/// What is done goes back to here where a server refuses it.
const SAVEPOINT: &str = "rqps_plan";

/// The code with which PostgreSQL refuses to explain what has no plan.
const SYNTAX_ERROR: &str = "42601";

/// The plan of each statement of the scripts that run.
pub(super) fn plans(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    scripts: &Scripts,
) -> Result<Vec<StatementPlan>, LoadError> {
    let workload = ScriptWorkload::compile(own, test, scripts, std::slice::from_ref(target), (SEED, 1))?;
    let session = database::limited(own, test, target)?;
    let mut asking = Asking { session, target, test };
    let mut plans = Vec::new();
    for script in workload.running() {
        execute(&mut asking.session, "BEGIN")?;
        plans.extend(asking.script(&workload, script)?);
        execute(&mut asking.session, "ROLLBACK")?;
    }
    Ok(plans)
}

/// A session within a transaction.
struct Asking<'a> {
    session: Session,
    target: &'a Target,
    test: &'a OwnTest,
}

impl Asking<'_> {
    fn script(&mut self, workload: &ScriptWorkload, script: usize) -> Result<Vec<StatementPlan>, LoadError> {
        let lines: BTreeMap<usize, usize> = workload.statements_of(script).collect();
        let mut walk = workload.walk(script);
        let mut told = BTreeMap::new();
        let mut answer = Rows::default();
        let not_reached = loop {
            let number = match walk.next(&answer) {
                Ok(Some(number)) => number,
                Ok(None) => break "the script does not come to it with the values that were drawn".to_owned(),
                Err(why) => break format!("the script ends before it: {why}"),
            };
            answer = Rows::default();
            let (_, form) = workload.statement(number);
            let filled = walk.filled(number);
            if parts(&filled.sql).is_empty() {
                continue;
            }
            if let Some(line) = walk.lacks() {
                let why = format!("it needs a number of the command of line {line}, which is not run for plans");
                told.insert(number, untold(why));
                continue;
            }
            let (plan, answered) = self.ask(number, form, filled)?;
            told.insert(number, plan);
            match answered {
                Ok(rows) => answer = rows,
                Err(_) if form.keeps_last_rows => {
                    break format!("the script ends before it: line {} has no answer", lines[&number]);
                }
                Err(_) => {}
            }
        };
        let of = |number: usize| {
            let (kind, form) = workload.statement(number);
            let told = told.remove(&number).unwrap_or_else(|| untold(&not_reached));
            told.of(kind.to_owned(), form.sql.clone())
        };
        let has_plan = |number: &usize| !parts(&workload.statement(*number).1.sql).is_empty();
        Ok(lines.into_keys().filter(has_plan).map(of).collect())
    }

    /// The plan of a statement, and what it answers.
    fn ask(
        &mut self,
        number: usize,
        form: &StatementForm,
        filled: &Filled,
    ) -> Result<(Told, Result<Rows, LoadError>), LoadError> {
        let told = match sending(self.test, self.target) {
            Sending::Simple => self.group(&filled.sql)?,
            Sending::Extended | Sending::Prepared => self.guarded(|asking| {
                let values = |_| literals(filled);
                let sql = (form.sql.as_str(), filled.values.len());
                // PREPARE would be the first of several statements alone.
                match statements(&form.sql, Dialect::Postgres).len() {
                    1 => with_values(&mut asking.session, asking.target, asking.test, number, sql, &values),
                    _ => run(&mut asking.session, form, filled).map(|_| Told::default()),
                }
            })?,
        };
        let answered = self.guarded(|asking| run(&mut asking.session, form, filled))?;
        let told = match (told, &answered) {
            (Ok(told), _) => told,
            (Err(error), Ok(_)) if code(&error) == SYNTAX_ERROR => untold("such a statement has no plan"),
            (Err(error), Ok(_)) => untold(error),
            (Err(_), Err(why)) => untold(why),
        };
        Ok((told, answered))
    }

    /// The plans of statements that are sent as one text, one below the other as if they were one. Each is explained
    /// after those before it, which are executed.
    fn group(&mut self, sql: &str) -> Result<Result<Told, LoadError>, LoadError> {
        let parts = parts(sql);
        if let [one] = &parts[..] {
            return self.guarded(|asking| Explainer::new(&mut asking.session, asking.target).text(one));
        }
        let told = self.guarded(|asking| {
            let mut plans = Vec::new();
            for part in &parts {
                plans.push(Explainer::new(&mut asking.session, asking.target).text(part)?.plan);
                execute(&mut asking.session, part)?;
            }
            Ok(Told::from(plans.join("\n->  ")))
        });
        // The text as a whole is still to be executed.
        execute(&mut self.session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
        told
    }

    /// Does something; if the server refuses it, the transaction is as before.
    fn guarded<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<Result<T, LoadError>, LoadError> {
        execute(&mut self.session, &format!("SAVEPOINT {SAVEPOINT}"))?;
        let done = act(self);
        if done.is_err() {
            execute(&mut self.session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
        }
        Ok(done)
    }
}

/// The code of a server's error; empty where it is no server's.
fn code(error: &LoadError) -> String {
    match error {
        LoadError::Wire { error: WireError::Server { error, .. }, .. } => error.error_code().to_string(),
        _ => String::new(),
    }
}
