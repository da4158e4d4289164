//! A step's statements as they are asked apart from the clients: for their plans, and to count what they do.
//!
//! In: engine, table, the ids that it holds. Out: SQL. Values come from a fixed seed and from these ids, so that builds
//! can be compared.

use super::sql;
use crate::plan_capture::SEED;
use crate::plan_capture::postgres::type_name;
use crate::random::{Purpose, below, stream};
use rqps_model::insert::{Kind, TableIds};
use rqps_wire::{ParameterType, Protocol};

/// A query of a step with queries.
pub(crate) struct Query {
    /// Such as `query-pdc`.
    pub(crate) name: String,
    /// Among the step's queries.
    number: u64,
    before: String,
    after: &'static str,
    /// Its values, which are drawn from the first number to before the second.
    places: usize,
    drawn_from: (u64, u64),
    kind: ParameterType,
}

/// The queries of a step; none for a step without.
pub(crate) fn queries(engine: Protocol, table: &str, kind: Kind, ids: TableIds) -> Vec<Query> {
    match kind {
        Kind::PointQueries => vec![Query {
            name: "query-point".to_owned(),
            number: 0,
            before: sql::point_query(table),
            after: ")",
            places: sql::QUERY_ROWS,
            drawn_from: (ids.oldest, ids.newest.max(ids.oldest) + 1),
            kind: ParameterType::Int8,
        }],
        Kind::RangeQueries => {
            let of = |(query, number): (sql::RangeQuery, usize)| Query {
                name: format!("query-{}", sql::INDEXES[number].0),
                number: number as u64,
                before: query.before,
                after: query.after,
                places: 1,
                drawn_from: (0, query.domain.into()),
                kind: ParameterType::Int4,
            };
            sql::range_queries(engine, table).into_iter().zip(0..).map(of).collect()
        }
        Kind::Load | Kind::Index | Kind::Churn => Vec::new(),
    }
}

impl Query {
    /// Its values, as literals.
    pub(crate) fn values(&self, purpose: Purpose, execution: u64) -> Vec<String> {
        let mut random = stream(SEED, purpose, self.number, execution);
        let (from, to) = self.drawn_from;
        (0..self.places).map(|_| (from + below(&mut random, to - from)).to_string()).collect()
    }

    /// Its SQL with these in the places of values.
    pub(crate) fn sql(&self, values: &[String]) -> String {
        format!("{}{}{}", self.before, values.join(", "), self.after)
    }

    /// Its SQL as it is prepared, or on MySQL would be.
    pub(crate) fn with_markers(&self, engine: Protocol) -> String {
        let marker = |place: usize| match engine {
            Protocol::Postgres => format!("${}", place + 1),
            Protocol::Mysql => "?".to_owned(),
        };
        self.sql(&(0..self.places).map(marker).collect::<Vec<_>>())
    }

    /// The types of its values, as PREPARE has them.
    pub(crate) fn types(&self) -> Vec<&'static str> {
        vec![type_name(self.kind); self.places]
    }
}

/// The delete of the `rows` oldest rows from `first` on.
pub(crate) fn delete(engine: Protocol, table: &str, first: u64, rows: u32) -> String {
    let mut sql = Vec::new();
    sql::push_delete(&mut sql, engine, table, first, rows.into());
    String::from_utf8(sql).expect("the statement is ASCII")
}
