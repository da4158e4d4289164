//! Keeps the plan of every statement of a test, as it will be run.
//!
//! In: a target, a test, the data's shape. Out: one [`StatementPlan`] for each kind, in the server's words. The values
//! are drawn from a fixed seed, so they are the same on all builds. Costs and row estimates are in the text and come
//! from each server's own sample: compare shapes without them.

mod draw;
mod mysql;
pub(crate) mod postgres;
mod told;

pub(crate) use draw::SEED;
pub(crate) use told::Told;

use crate::error::LoadError;
use crate::session::connect;
use rqps_model::facts::StatementPlan;
use rqps_model::plan::DataShape;
use rqps_suites::Test;
use rqps_wire::{Protocol, Session, Target};

/// The plans of a test's statements, on the first table.
pub fn plan_capture(target: &Target, test: &Test, data: DataShape) -> Result<Vec<StatementPlan>, LoadError> {
    let mut session = connect(&target.endpoint)?;
    let protocol = target.endpoint.protocol();
    let first = DataShape { tables: 1, ..data };
    let mut plans = Vec::new();
    for (index, kind) in test.kinds.iter().enumerate() {
        let sql = kind.sql(test.range, 1, target.engine());
        let told = match protocol {
            Protocol::Postgres => postgres::plan(&mut session, test, first, index, &sql)?,
            Protocol::Mysql => mysql::plan(&mut session, target, test, first, index)?.into(),
        };
        plans.push(told.of(kind.kind.clone(), sql));
    }
    Ok(plans)
}

/// Asks one server for plans of statements that no test of a suite describes.
pub(crate) struct Explainer<'a> {
    session: &'a mut Session,
    target: &'a Target,
}

impl<'a> Explainer<'a> {
    pub(crate) fn new(session: &'a mut Session, target: &'a Target) -> Explainer<'a> {
        Explainer { session, target }
    }

    /// The plan of a statement that is sent as text.
    pub(crate) fn text(&mut self, statement: &str) -> Result<Told, LoadError> {
        match self.target.endpoint.protocol() {
            Protocol::Postgres => postgres::text(self.session, statement),
            Protocol::Mysql => Ok(mysql::written_out(self.session, self.target, statement)?.into()),
        }
    }

    /// The plan of a statement that is sent prepared, on PostgreSQL; `values` gives those of each execution.
    pub(crate) fn prepared(
        &mut self,
        name: &str,
        sql: &str,
        types: &[&str],
        values: &dyn Fn(u64) -> Vec<String>,
    ) -> Result<Told, LoadError> {
        postgres::prepared(self.session, name, sql, types, &|execution| Ok(values(execution)))
    }

    /// The same of a statement that is parsed anew each time.
    pub(crate) fn parsed_each_time(
        &mut self,
        name: &str,
        sql: &str,
        types: &[&str],
        values: &dyn Fn(u64) -> Vec<String>,
    ) -> Result<Told, LoadError> {
        postgres::parsed_each_time(self.session, name, sql, types, values)
    }
}
