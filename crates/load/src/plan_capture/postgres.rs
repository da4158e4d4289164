//! The plan of a statement on PostgreSQL, as EXPLAIN EXECUTE shows it, which works alike on every version from 12 on.
//!
//! In: a session, a test, one of its kinds. Out: the plan as text. A statement is explained often enough that the
//! server makes its choice between a plan for the given values and a generic one, as in the timed part; the plan kept
//! is the one after that choice.

use super::draw::draw;
use crate::error::LoadError;
use crate::rows::parameter_type;
use crate::session::execute;
use rqps_model::plan::DataShape;
use rqps_suites::Test;
use rqps_wire::{ParameterType, Protocol, Session};

/// PostgreSQL plans an execution five times for its values and decides at the sixth.
const EXECUTIONS: u64 = 7;

/// The plan of one kind, which is sent as `sql`.
pub(super) fn plan(
    session: &mut Session,
    test: &Test,
    data: DataShape,
    index: usize,
    sql: &str,
) -> Result<String, LoadError> {
    let kind = &test.kinds[index];
    if kind.text {
        return explain(session, &draw(test, data, index, Protocol::Postgres, 0)?.sql);
    }
    let word = |parameter: ParameterType| match parameter {
        ParameterType::Int4 => "integer",
        ParameterType::Int8 => "bigint",
        // The server takes the column's own type, as it does in the timed part.
        ParameterType::Text { .. } | ParameterType::Any => "unknown",
    };
    let types = kind
        .parameters
        .iter()
        .flat_map(|generator| std::iter::repeat_n(word(parameter_type(*generator)), generator.width(test.range)));
    let types: Vec<&str> = types.collect();
    prepared(session, &format!("rqps_plan_{index}"), sql, &types, &|execution| {
        Ok(draw(test, data, index, Protocol::Postgres, execution)?.list)
    })
}

/// The plan of a statement that is sent prepared; `values` gives those of each execution.
pub(super) fn prepared(
    session: &mut Session,
    name: &str,
    sql: &str,
    types: &[&str],
    values: &dyn Fn(u64) -> Result<Vec<String>, LoadError>,
) -> Result<String, LoadError> {
    let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
    execute(session, &format!("PREPARE \"{name}\"{types} AS {sql}"))?;
    let mut plan = String::new();
    for execution in 0..EXECUTIONS {
        let values = values(execution)?;
        plan = match values.is_empty() {
            true => explain(session, &format!("EXECUTE \"{name}\""))?,
            false => explain(session, &format!("EXECUTE \"{name}\" ({})", values.join(", ")))?,
        };
    }
    Ok(plan)
}

/// The plan of a statement as it stands.
pub(super) fn explain(session: &mut Session, statement: &str) -> Result<String, LoadError> {
    let doing = "asking for a plan";
    let table = session.query(&format!("EXPLAIN {statement}")).map_err(LoadError::wire(doing))?;
    let lines: Vec<&str> = table.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok(lines.join("\n"))
}
