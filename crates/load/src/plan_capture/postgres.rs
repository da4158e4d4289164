//! The plan of a statement on PostgreSQL, as EXPLAIN EXECUTE shows it, which works alike on every version from 12 on.
//!
//! In: a session, a test, one of its kinds. Out: the plan as text, and what planning took. A statement is explained
//! often enough that the server makes its choice between a plan for the given values and a generic one, as in the timed
//! part; plan and time are those after that choice.

use super::draw::draw;
use super::told::Told;
use crate::error::LoadError;
use crate::rows::parameter_type;
use crate::session::execute;
use rqps_model::plan::DataShape;
use rqps_suites::{Generator, StatementKind, Test};
use rqps_wire::{ParameterType, Protocol, Session};
use std::borrow::Borrow;

/// PostgreSQL plans an execution five times for its values and decides at the sixth; then it does as in the timed part.
const UNTIL_DECIDED: u64 = 6;
/// Executions whose planning is timed.
const TIMED: u64 = 4;

/// What stands before the time in the server's words.
const PLANNING_TIME: &str = "Planning Time: ";

/// The plan of one kind, which is sent as `sql`.
pub(super) fn plan(
    session: &mut Session,
    test: &Test,
    data: DataShape,
    index: usize,
    sql: &str,
) -> Result<Told, LoadError> {
    let kind = &test.kinds[index];
    if kind.text {
        return text(session, &draw(test, data, index, Protocol::Postgres, 0)?.sql);
    }
    prepared(session, &format!("rqps_plan_{index}"), sql, &types(kind, test.range), &|execution| {
        Ok(draw(test, data, index, Protocol::Postgres, execution)?.list)
    })
}

/// The types of a statement's parameters, as PREPARE has them.
pub(crate) fn types(kind: &StatementKind, range: u32) -> Vec<&'static str> {
    let of = |generator: &Generator| std::iter::repeat_n(type_name(parameter_type(*generator)), generator.width(range));
    kind.parameters.iter().flat_map(of).collect()
}

/// The type of a parameter, as PREPARE has it.
pub(crate) const fn type_name(parameter: ParameterType) -> &'static str {
    match parameter {
        ParameterType::Int4 => "integer",
        ParameterType::Int8 => "bigint",
        // The server takes the column's own type, as it does in the timed part.
        ParameterType::Text { .. } | ParameterType::Any => "unknown",
    }
}

/// The plan of a statement that is sent prepared; `values` gives those of each execution.
pub(super) fn prepared(
    session: &mut Session,
    name: &str,
    sql: &str,
    types: &[&str],
    values: &dyn Fn(u64) -> Result<Vec<String>, LoadError>,
) -> Result<Told, LoadError> {
    let told = executed(session, name, sql, types, UNTIL_DECIDED, values)?;
    Ok(Told { is_generic: is_generic(&told.plan), ..told })
}

/// The plan of a statement that is parsed anew each time, and so is planned for its values.
pub(super) fn parsed_each_time(
    session: &mut Session,
    name: &str,
    sql: &str,
    types: &[&str],
    values: &dyn Fn(u64) -> Vec<String>,
) -> Result<Told, LoadError> {
    executed(session, name, sql, types, 0, &|execution| Ok(values(execution)))
}

/// The plan of a prepared statement after so many executions.
fn executed(
    session: &mut Session,
    name: &str,
    sql: &str,
    types: &[&str],
    before: u64,
    values: &dyn Fn(u64) -> Result<Vec<String>, LoadError>,
) -> Result<Told, LoadError> {
    prepare(session, name, sql, types)?;
    let execute = |session: &mut Session, execution: u64| explain(session, &execution_of(name, &values(execution)?));
    for execution in 0..before {
        execute(session, execution)?;
    }
    shortest((before..before + TIMED).map(|execution| execute(session, execution)))
}

/// Prepares a statement by SQL, so that EXPLAIN can execute it.
pub(crate) fn prepare(session: &mut Session, name: &str, sql: &str, types: &[&str]) -> Result<(), LoadError> {
    execute(session, &format!("PREPARE \"{name}\"{} AS {sql}", in_parentheses(types)))
}

/// The execution of a prepared statement with these literals.
pub(crate) fn execution_of(name: &str, literals: &[String]) -> String {
    format!("EXECUTE \"{name}\"{}", in_parentheses(literals))
}

fn in_parentheses<T: Borrow<str>>(words: &[T]) -> String {
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// The plan of a statement as it stands, which is planned at each execution.
pub(super) fn text(session: &mut Session, statement: &str) -> Result<Told, LoadError> {
    shortest((0..TIMED).map(|_| explain(session, statement)))
}

/// The last of several plans with the shortest of their times.
fn shortest(plans: impl Iterator<Item = Result<Told, LoadError>>) -> Result<Told, LoadError> {
    plans
        .reduce(|shortest, told| {
            let (before, told) = (shortest?, told?);
            let times = before.planning_us.into_iter().chain(told.planning_us);
            Ok(Told { planning_us: times.reduce(f64::min), ..told })
        })
        .unwrap_or_else(|| Ok(Told::default()))
}

/// One plan.
fn explain(session: &mut Session, statement: &str) -> Result<Told, LoadError> {
    let doing = "asking for a plan";
    let table = session.query(&format!("EXPLAIN (SUMMARY) {statement}")).map_err(LoadError::wire(doing))?;
    let lines = table.rows.iter().filter_map(|row| row.first()?.as_deref());
    Ok(told(lines))
}

/// A plan's lines without the time, which is another in each of them.
fn told<'a>(lines: impl Iterator<Item = &'a str>) -> Told {
    let (times, plan): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with(PLANNING_TIME));
    let milliseconds = |line: &&str| line.strip_prefix(PLANNING_TIME)?.strip_suffix(" ms")?.parse::<f64>().ok();
    let planning_us = times.iter().find_map(milliseconds).map(|ms| ms * 1000.0);
    Told { plan: plan.join("\n"), planning_us, is_generic: None }
}

/// Whether a plan of a prepared statement is for all values: then it names parameters. A plan without conditions shows
/// neither. Before 17 what a part of the plan returns has such a name as well (`InitPlan 1 (returns $0)`): a number
/// that may be either says nothing.
fn is_generic(plan: &str) -> Option<bool> {
    let of_parts: Vec<u32> =
        plan.lines().filter_map(|line| line.split_once("(returns $")).flat_map(|(_, all)| numbers(all)).collect();
    let mut conditions = plan.lines().filter(|line| line.contains("Cond: ") || line.contains("Filter: ")).peekable();
    conditions.peek()?;
    let named: Vec<u32> =
        conditions.flat_map(|line| line.split('$').skip(1).flat_map(|rest| numbers(rest).next())).collect();
    match () {
        () if named.iter().any(|number| !of_parts.contains(number)) => Some(true),
        // Parameters are counted from 1.
        () if named.iter().any(|number| *number > 0) => None,
        () => Some(false),
    }
}

/// The numbers at the beginning of a text, such as `0,$1)`.
fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let list = text.split(')').next().unwrap_or(text);
    list.split(',').map_while(|word| {
        let word = word.trim_start_matches('$');
        word[..word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len())].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_no_part_of_the_plan() {
        let lines = ["Result  (cost=0.00..0.01 rows=1 width=4)", "Planning Time: 0.042 ms"];
        let found = told(lines.into_iter());
        assert_eq!((found.plan.as_str(), found.planning_us), (lines[0], Some(42.0)));
        assert_eq!(told(lines[..1].iter().copied()).planning_us, None);
        let times = [55.0, 41.0, 48.0].map(|us| Ok(Told { planning_us: Some(us), ..Told::from(us.to_string()) }));
        let shortest = shortest(times.into_iter()).unwrap();
        assert_eq!((shortest.plan.as_str(), shortest.planning_us), ("48", Some(41.0)));
    }

    #[test]
    fn a_generic_plan_names_its_parameters() {
        let plan = |condition: &str| format!("Index Scan using a on b  (cost=0.29..8.31 rows=1)\n  {condition}");
        assert_eq!(is_generic(&plan("Index Cond: (id = $1)")), Some(true));
        assert_eq!(is_generic(&plan("Index Cond: (id = 5)")), Some(false));
        let of_part = |condition| is_generic(&format!("{}\n  InitPlan 1 (returns $0,$2)", plan(condition)));
        assert_eq!(of_part("Index Cond: (id = $0)"), Some(false));
        assert_eq!(of_part("Index Cond: ((id = $0) AND (k = $1))"), Some(true));
        assert_eq!(of_part("Index Cond: (id = $2)"), None, "of the part or of the statement");
        assert_eq!(is_generic("Insert on b\n  ->  Result"), None);
    }
}
