//! Keeps the plan of every statement of a test, as it will be run.
//!
//! In: an endpoint, a test, the data's shape. Out: one [`StatementPlan`] for each kind, in the server's words. A prepared
//! statement is explained through EXPLAIN EXECUTE, which works alike on every version from 12 on. It is explained often
//! enough that the server makes its choice between a plan for the given values and a generic one, as in the timed part;
//! the plan kept is the one after that choice. The values are drawn from a fixed seed, so they are the same on all builds.
//! Costs and row estimates are in the text and come from each server's own sample: compare shapes without them.

use crate::error::LoadError;
use crate::random::{Purpose, stream};
use crate::suite::Test;
use crate::timed::render_parameters;
use crate::work::{connect, execute};
use rqps_model::facts::StatementPlan;
use rqps_model::plan::DataShape;
use rqps_wire::{Endpoint, ParameterType, Session};

/// PostgreSQL plans an execution five times for its values and decides at the sixth.
const EXECUTIONS: u64 = 7;

/// The seed of the values; the same for all campaigns, so that plans can be compared between them.
const SEED: u64 = 1;

/// The plans of a test's statements, on the first table.
pub fn plan_capture(endpoint: &Endpoint, test: &Test, data: DataShape) -> Result<Vec<StatementPlan>, LoadError> {
    let mut session = connect(endpoint)?;
    let first = DataShape { tables: 1, ..data };
    let mut plans = Vec::new();
    for (index, kind) in test.kinds.iter().enumerate() {
        let sql = kind.sql(test.range, 1);
        let mut plan = String::new();
        let name = format!("rqps_plan_{index}");
        if !kind.text {
            let types: Vec<&str> = kind
                .parameters
                .iter()
                .flat_map(|generator| {
                    let word = match generator.parameter_type() {
                        ParameterType::Int4 => "integer",
                        ParameterType::Int8 => "bigint",
                        // The server takes the column's own type, as it does in the timed part.
                        ParameterType::Text { .. } => "unknown",
                    };
                    std::iter::repeat_n(word, generator.width(test.range))
                })
                .collect();
            let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
            execute(&mut session, &format!("PREPARE {name}{types} AS {sql}"))?;
        }
        for execution in 0..if kind.text { 1 } else { EXECUTIONS } {
            let mut random = stream(SEED, Purpose::Plans, index as u64, execution);
            let values = render_parameters(test, first, index, &mut random)?;
            plan = match kind.text {
                true => explain(&mut session, &values.sql)?,
                false if values.list.is_empty() => explain(&mut session, &format!("EXECUTE {name}"))?,
                false => explain(&mut session, &format!("EXECUTE {name} ({})", values.list.join(", ")))?,
            };
        }
        plans.push(StatementPlan { statement: kind.kind.clone(), sql, plan });
    }
    Ok(plans)
}

fn explain(session: &mut Session, statement: &str) -> Result<String, LoadError> {
    let doing = "asking for a plan";
    let table = session.query(&format!("EXPLAIN {statement}")).map_err(LoadError::wire(doing))?;
    let lines: Vec<&str> = table.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok(lines.join("\n"))
}
