//! The queries of a client: which one comes next and with what numbers.
//!
//! In: a random stream, the ids that the table holds. Out: a statement to send, prepared on PostgreSQL, text on MySQL.
//! The order of queries and what they draw is the same on every build; a point query's ids are drawn as places between
//! the oldest and the newest row, wherever these are by then.

use super::sql::{QUERY_ROWS, RangeQuery, point_query, prepared_point_query, range_queries};
use crate::program::{Parameters, StatementForm};
use crate::random::below;
use crate::text::push_number;
use rand_pcg::Pcg64;
use rqps_model::insert::Kind;
use rqps_wire::{ParameterType, Protocol};

/// Point queries between two requests for the newest row.
const QUERIES_A_REQUEST: u64 = 100;

/// The longest text of a query.
const QUERY_BYTES_MAX: usize = 512;

/// The queries of one client.
pub(crate) struct Queries {
    is_point: bool,
    count: u64,
    forms: Vec<StatementForm>,
    /// The text's buffer, where queries are sent as text.
    text: Option<Vec<u8>>,
    range: [RangeQuery; 3],
    point: String,
}

impl Queries {
    /// The queries on a table of that engine.
    pub(crate) fn new(engine: Protocol, table: &str, kind: Kind) -> Queries {
        let range = range_queries(engine, table);
        let is_point = kind == Kind::PointQueries;
        let forms = match (engine, is_point) {
            (Protocol::Mysql, _) => vec![StatementForm::text("", QUERY_BYTES_MAX)],
            (Protocol::Postgres, true) => {
                let (sql, types) = prepared_point_query(table);
                vec![StatementForm::prepared(sql, &types)]
            }
            (Protocol::Postgres, false) => {
                let one = |query: &RangeQuery| {
                    StatementForm::prepared(format!("{}$1{}", query.before, query.after), &[ParameterType::Int4])
                };
                range.iter().map(one).collect()
            }
        };
        let text = (engine == Protocol::Mysql).then(|| Vec::with_capacity(QUERY_BYTES_MAX));
        Queries { is_point, count: 0, forms, text, range, point: point_query(table) }
    }

    /// What a session prepares: one statement for each kind, or one for all.
    pub(crate) fn forms(&self) -> &[StatementForm] {
        &self.forms
    }

    /// Whether it is time to look for the newest row.
    pub(crate) fn wants_newest(&self) -> bool {
        self.is_point && self.count > 0 && self.count.is_multiple_of(QUERIES_A_REQUEST)
    }

    /// Another query begins.
    pub(crate) fn count(&mut self) {
        self.count += 1;
    }

    /// Fills in the next one and returns its number; ids are drawn from the first to before the second.
    #[inline]
    pub(crate) fn fill<S: Parameters>(&mut self, ids: (u64, u64), random: &mut Pcg64, statements: &mut [S]) -> usize {
        match self.is_point {
            true => self.fill_point(ids, random, &mut statements[0]),
            false => return self.fill_range(random, statements),
        }
        0
    }

    fn fill_range<S: Parameters>(&mut self, random: &mut Pcg64, statements: &mut [S]) -> usize {
        let which = below(random, 3) as usize;
        let query = &self.range[which];
        let value = below(random, u64::from(query.domain));
        match &mut self.text {
            None => {
                statements[which].set_i32(0, value as i32);
                which
            }
            Some(sql) => {
                sql.clear();
                sql.extend_from_slice(query.before.as_bytes());
                push_number(sql, value);
                sql.extend_from_slice(query.after.as_bytes());
                statements[0].set_sql(sql);
                0
            }
        }
    }

    fn fill_point<S: Parameters>(&mut self, ids: (u64, u64), random: &mut Pcg64, statement: &mut S) {
        let drawn = draw_ids(random, ids);
        match &mut self.text {
            None => drawn.iter().enumerate().for_each(|(slot, id)| statement.set_i64(slot, *id as i64)),
            Some(sql) => {
                sql.clear();
                sql.extend_from_slice(self.point.as_bytes());
                for (slot, id) in drawn.into_iter().enumerate() {
                    if slot > 0 {
                        sql.push(b',');
                    }
                    push_number(sql, id);
                }
                sql.push(b')');
                statement.set_sql(sql);
            }
        }
    }
}

/// The ids of a point query, from the first to before the second.
#[inline]
fn draw_ids(random: &mut Pcg64, (from, to): (u64, u64)) -> [u64; QUERY_ROWS] {
    std::array::from_fn(|_| from + below(random, (to - from).max(1)))
}
