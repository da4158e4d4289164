//! Keeps the plans of what a step with queries sends: its queries, the delete, the question for the oldest row.
//!
//! In: a target with the benchmark's tables, a step. Out: one [`StatementPlan`] for each kind of statement, on the
//! first table. It changes nothing: EXPLAIN does not execute.

use super::sql;
use super::statements::{Query, delete, queries};
use super::table::State;
use crate::error::LoadError;
use crate::plan_capture::Explainer;
use crate::random::Purpose;
use crate::session::connect;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Shape, Step};
use rqps_wire::{Protocol, Target};

/// The plans of a step's statements; none for a step without queries.
pub fn statement_plans(target: &Target, shape: &Shape, step: &Step) -> Result<Vec<StatementPlan>, LoadError> {
    if !step.queries() {
        return Ok(Vec::new());
    }
    let endpoint = &target.endpoint;
    let (engine, table) = (endpoint.protocol(), sql::table_name(0));
    let ids = State::of_first_table(endpoint, shape)?;
    let mut session = connect(endpoint)?;
    let mut explainer = Explainer::new(&mut session, target);
    let asked = queries(engine, &table, step.kind, ids);
    let plans = asked.iter().map(|query| query_plan(&mut explainer, engine, query));
    let mut plans: Vec<StatementPlan> = plans.collect::<Result<_, _>>()?;
    for (name, sql) in [("min", sql::min_id(&table)), ("delete", delete(engine, &table, ids.oldest, step.batch))] {
        plans.push(explainer.text(&sql)?.of(name.to_owned(), sql));
    }
    Ok(plans)
}

/// The statements of a step, by name, whose planning is timed while it runs, where the server tells that: to plan them,
/// PostgreSQL looks for the lowest key of the index, and may find thousands of entries there whose rows are deleted
/// (get_actual_variable_range).
pub fn planned_meanwhile(engine: Protocol, step: &Step) -> Vec<(&'static str, String)> {
    if engine != Protocol::Postgres || !step.deletes() {
        return Vec::new();
    }
    let table = sql::table_name(0);
    // The planner looks there whichever number below the lowest key it is given.
    vec![("min", sql::min_id(&table)), ("delete", delete(engine, &table, 1, step.batch))]
}

fn query_plan(explainer: &mut Explainer<'_>, engine: Protocol, query: &Query) -> Result<StatementPlan, LoadError> {
    let values = |execution| query.values(Purpose::Plans, execution);
    let sql = query.with_markers(engine);
    let told = match engine {
        Protocol::Postgres => explainer.prepared(&query.name, &sql, &query.types(), &values)?,
        Protocol::Mysql => explainer.text(&query.sql(&values(0)))?,
    };
    Ok(told.of(query.name.clone(), sql))
}
