//! The work of the statements of pgbench's scripts.
//!
//! In: a target, a test of scripts. Out: what each statement made the server do. A script is walked as for its plans,
//! and each of its statements is executed twice, once counted and once for what the script needs of its answer. Where
//! several statements are sent as one text none of them is counted, nor any with protocol extended, whose plans PREPARE
//! does not make.

use crate::error::LoadError;
use crate::own::database;
use crate::own::script_statement::{literals, parts, run};
use crate::own::taken_back::has_plan;
use crate::plan_capture::SEED;
use crate::program::own::ScriptWorkload;
use crate::statement_work::{
    BEFORE, COUNTED, Counter, Execution, LONGEST, Preparation, add, counter, in_savepoint, none, rolled_back,
};
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Scripts};
use rqps_model::statement_work::StatementWork;
use rqps_sql::Dialect;
use rqps_wire::{Rows, Session, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

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
    let mut found: BTreeMap<usize, Found> = workload.running().map(|script| (script, Found::new())).collect();
    let begun = Instant::now();
    for number in (0..BEFORE + COUNTED).take_while(|_| begun.elapsed() < LONGEST) {
        let workload = compile(number)?;
        let (mut before, mut refused) = (Found::new(), Vec::new());
        for (&script, found) in &mut found {
            let found = if number < BEFORE { &mut before } else { found };
            let event = |session: &mut Session| walk(session, &workload, script, &is_counted, &mut *counter, found);
            if rolled_back(&mut session, target, event)?.is_err() {
                refused.push(script);
            }
        }
        found.retain(|script, _| !refused.contains(script));
    }
    Ok(found.into_values().flat_map(Found::into_values).collect())
}

/// Walks a script once.
fn walk(
    session: &mut Session,
    workload: &ScriptWorkload,
    script: usize,
    is_counted: &dyn Fn(usize) -> bool,
    counter: &mut dyn Counter,
    found: &mut Found,
) -> Result<(), LoadError> {
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
            add(found.entry(number).or_insert_with(|| none(kind)), counts);
        }
        answer = run(session, form, filled)?;
    }
    Ok(())
}
