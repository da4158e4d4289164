//! The work of the statements of pgbench's scripts.
//!
//! In: a target, a test of scripts. Out: what each statement made the server do. A script is an event: it is walked as
//! for its plans, and each of its statements is executed twice, once counted and once for what the script needs of its
//! answer. Where several statements are sent as one text none of them is counted, nor any with protocol extended, whose
//! plans PREPARE does not make.

use crate::error::LoadError;
use crate::own::database;
use crate::own::script_statement::{literals, parts, run};
use crate::own::taken_back::has_plan;
use crate::plan_capture::SEED;
use crate::program::own::ScriptWorkload;
use crate::statement_work::{Counter, Counts, Execution, Preparation, add, count_events, counter, in_savepoint, none};
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Scripts};
use rqps_model::statement_work::StatementWork;
use rqps_sql::Dialect;
use rqps_wire::{Rows, Session, Target};
use std::collections::{BTreeMap, BTreeSet};

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
    let event = |session: &mut Session, script: usize, number: u32| {
        walk(session, &compile(number)?, scripts[script], &is_counted, &mut *counter)
    };
    let mut found: Vec<BTreeMap<usize, StatementWork>> = vec![BTreeMap::new(); scripts.len()];
    let counted = |script: usize, counts: Vec<(usize, Counts)>| {
        for (number, counts) in counts {
            add(found[script].entry(number).or_insert_with(|| none(workload.statement(number).0)), counts);
        }
    };
    let refused = count_events(&mut session, target, scripts.len(), event, counted)?;
    let done = found.into_iter().zip(refused).filter(|(_, refused)| refused.is_none());
    Ok(done.flat_map(|(found, _)| found.into_values()).collect())
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
            return Err(LoadError::Shape(format!("`{kind}` needs a number of the command of line {line}")));
        }
        if is_counted(number) {
            let execution = Execution { text: filled.sql.clone(), literals: literals(filled) };
            let counts = in_savepoint(session, |session| counter.count(session, number, &execution))?;
            counted.push((number, counts));
        }
        answer = run(session, form, filled)?;
    }
    Ok(counted)
}
