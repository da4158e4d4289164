//! Keeps the plans of what a step with queries sends: its queries, the delete, the question for the oldest row.
//!
//! In: a target with the benchmark's tables, a step. Out: one [`StatementPlan`] for each kind of statement, on the
//! first table. Values come from a fixed seed and from the ids that the table holds, so that builds can be compared. It
//! changes nothing: EXPLAIN does not execute.

use super::queries::draw_ids;
use super::sql::{self, QUERY_ROWS};
use super::table::State;
use crate::error::LoadError;
use crate::plan_capture::{Explainer, SEED};
use crate::random::{Purpose, below, stream};
use crate::session::connect;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Kind, Shape, Step, TableIds};
use rqps_wire::{Protocol, Target};

/// The plans of a step's statements; none for a step without queries.
pub fn statement_plans(target: &Target, shape: &Shape, step: &Step) -> Result<Vec<StatementPlan>, LoadError> {
    if !step.queries() {
        return Ok(Vec::new());
    }
    let endpoint = &target.endpoint;
    let (engine, table) = (endpoint.protocol(), sql::table_name(0));
    let ids = State::read(endpoint, &Shape { clients: 1, ..shape.clone() })?.tables[0];
    let mut session = connect(endpoint)?;
    let mut explainer = Explainer::new(&mut session, target);
    let mut plans = match step.kind {
        Kind::PointQueries => vec![point_plan(&mut explainer, engine, &table, ids)?],
        _ => range_plans(&mut explainer, engine, &table)?,
    };
    let mut delete = Vec::new();
    sql::push_delete(&mut delete, engine, &table, ids.oldest, u64::from(step.batch));
    let delete = String::from_utf8(delete).expect("the statement is ASCII");
    for (name, sql) in [("min", sql::min_id(&table)), ("delete", delete)] {
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
    let mut delete = Vec::new();
    // The planner looks there whichever number below the lowest key it is given.
    sql::push_delete(&mut delete, engine, &table, 1, u64::from(step.batch));
    let delete = String::from_utf8(delete).expect("the statement is ASCII");
    vec![("min", sql::min_id(&table)), ("delete", delete)]
}

fn range_plans(explainer: &mut Explainer<'_>, engine: Protocol, table: &str) -> Result<Vec<StatementPlan>, LoadError> {
    let mut plans = Vec::new();
    for (index, query) in sql::range_queries(engine, table).iter().enumerate() {
        let name = format!("query-{}", sql::INDEXES[index].0);
        let value = |execution| {
            let mut random = stream(SEED, Purpose::Plans, index as u64, execution);
            below(&mut random, u64::from(query.domain)).to_string()
        };
        let sql = |value: &str| format!("{}{value}{}", query.before, query.after);
        plans.push(match engine {
            Protocol::Postgres => {
                let told = explainer.prepared(&name, &sql("$1"), &["integer"], &|execution| vec![value(execution)])?;
                told.of(name, sql("$1"))
            }
            Protocol::Mysql => explainer.text(&sql(&value(0)))?.of(name, sql("?")),
        });
    }
    Ok(plans)
}

fn point_plan(
    explainer: &mut Explainer<'_>,
    engine: Protocol,
    table: &str,
    ids: TableIds,
) -> Result<StatementPlan, LoadError> {
    let name = "query-point".to_owned();
    let values = |execution| {
        let mut random = stream(SEED, Purpose::Plans, 0, execution);
        draw_ids(&mut random, (ids.oldest, ids.newest.max(ids.oldest) + 1)).map(|id| id.to_string()).to_vec()
    };
    Ok(match engine {
        Protocol::Postgres => {
            let (sql, _) = sql::prepared_point_query(table);
            explainer.prepared(&name, &sql, &["bigint"; QUERY_ROWS], &values)?.of(name, sql)
        }
        Protocol::Mysql => {
            let sql = |values: &[String]| format!("{}{})", sql::point_query(table), values.join(", "));
            let marks: [String; QUERY_ROWS] = std::array::from_fn(|_| "?".to_owned());
            explainer.text(&sql(&values(0)))?.of(name, sql(&marks))
        }
    })
}
