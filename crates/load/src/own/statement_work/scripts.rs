//! The work of the statements of pgbench's scripts.
//!
//! In: a target, a test of scripts. Out: what each statement made the server do. A script is an event: it is walked as
//! for its plans, and each of its statements is executed twice, once counted and once for what the script needs of its
//! answer. Where several statements are sent as one text none of them is counted, nor any with protocol extended, whose
//! plans PREPARE does not make.

use super::by_event::{by_event, in_statement};
use crate::error::LoadError;
use crate::own::database;
use crate::own::script_statement::{literals, parts, run};
use crate::own::taken_back::has_plan;
use crate::plan_capture::SEED;
use crate::program::Workload;
use crate::program::own::ScriptWorkload;
use crate::statement_work::{Counter, Counts, Execution, Preparation, add, count_events, counter, in_savepoint, none};
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Scripts};
use rqps_model::statement_work::StatementWork;
use rqps_sql::Dialect;
use rqps_wire::{Rows, Session, Target};
use std::collections::{BTreeMap, BTreeSet};

/// What was counted, by the number of the statement.
type Found = BTreeMap<usize, StatementWork>;

pub(super) fn statement_work(
    target: &Target,
    own: &Own,
    test: &OwnTest,
    scripts: &Scripts,
) -> Result<Vec<StatementWork>, LoadError> {
    // Each event has a seed of its own.
    let compile = |number: u32| {
        let seed = SEED ^ u64::from(number);
        ScriptWorkload::compile(own, test, scripts, std::slice::from_ref(target), (seed, 1))
    };
    let workload = compile(0)?;
    let numbers: BTreeSet<usize> =
        workload.running().flat_map(|script| workload.statements_of(script)).map(|(number, _)| number).collect();
    let is_counted = |number: usize| {
        let sql = &workload.statement(number).1.sql;
        matches!(&parts(sql)[..], [one] if has_plan(one, Dialect::Postgres))
    };
    if test.protocol == Sending::Extended || numbers.iter().filter(|number| is_counted(**number)).count() < 2 {
        return Ok(Vec::new());
    }
    let mut session = database::limited(own, test, target)?;
    let preparation = |number: usize| -> Option<Preparation> {
        let is_prepared = test.protocol == Sending::Prepared && numbers.contains(&number) && is_counted(number);
        let (_, form) = workload.statement(number);
        is_prepared.then(|| (form.sql.clone(), vec!["unknown"; form.parameters.len()]))
    };
    let all = 0..numbers.last().map_or(0, |last| last + 1);
    let mut counter = counter(&mut session, target, all.map(preparation).collect())?;
    let scripts: Vec<usize> = workload.running().collect();
    let names = workload.events();
    let mut found = vec![Found::new(); scripts.len()];
    let event = |session: &mut Session, script: usize, number: u32| {
        walk(session, &compile(number)?, scripts[script], &is_counted, &mut *counter)
    };
    let counted = |script: usize, counted: Vec<(usize, Counts)>| {
        for (number, counts) in counted {
            add(found[script].entry(number).or_insert_with(|| none(workload.statement(number).0)), counts);
        }
    };
    let refused = count_events(&mut session, target, scripts.len(), event, counted)?;
    let names = scripts.iter().map(|script| names[*script].as_str());
    Ok(by_event(names.zip(found.into_iter().map(|found| found.into_values().collect())), refused))
}

/// Walks a script once, and says what was counted of its statements, by their numbers.
fn walk(
    session: &mut Session,
    workload: &ScriptWorkload,
    script: usize,
    is_counted: &dyn Fn(usize) -> bool,
    counter: &mut dyn Counter,
) -> Result<Vec<(usize, Counts)>, LoadError> {
    let mut counted = Vec::new();
    let mut walk = workload.walk(script);
    let mut answer = Rows::default();
    while let Some(number) = walk.next(&answer).map_err(LoadError::Shape)? {
        answer = Rows::default();
        let (kind, form) = workload.statement(number);
        let filled = walk.filled(number);
        if parts(&filled.sql).is_empty() {
            continue;
        }
        if let Some(line) = walk.lacks() {
            let why = format!("`{kind}` needs a number of the command of line {line}, which is not run for this");
            return Err(LoadError::Shape(why));
        }
        if is_counted(number) {
            let execution = Execution { text: filled.sql.clone(), literals: literals(filled) };
            let counts = in_savepoint(session, |session| counter.count(session, number, &execution));
            counted.push((number, in_statement(kind, counts)?));
        }
        answer = in_statement(kind, run(session, form, filled))?;
    }
    Ok(counted)
}
