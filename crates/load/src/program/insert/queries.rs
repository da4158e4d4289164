//! The queries of a client: which one comes next and with what numbers.
//!
//! In: a random stream, the ids that the table holds. Out: a statement to send, prepared on PostgreSQL, text on MySQL. The order
//! of queries and what they draw is the same on every build; a point query's ids are drawn as places between the oldest and
//! the newest row, wherever these are by then.

use super::rows::push_number;
use super::sql::{QUERY_ROWS, RangeQuery, point_query, prepared_point_query, range_queries};
use crate::error::LoadError;
use crate::random::{Purpose, below, stream};
use rand_pcg::Pcg64;
use rqps_model::insert::Kind;
use rqps_wire::{ParameterType, Protocol, Session, Statement};

/// Point queries between two questions for the newest row.
const QUERIES_A_QUESTION: u64 = 100;

/// The longest text of a query.
const QUERY_BYTES_MAX: usize = 512;

/// The queries of one client.
pub(crate) struct Queries {
    random: Pcg64,
    is_point: bool,
    count: u64,
    form: Form,
    /// Which statement was sent last.
    last: usize,
    range: [RangeQuery; 3],
    point: String,
}

enum Form {
    /// One for each kind.
    Prepared(Vec<Statement>),
    /// One for all, with the text's buffer.
    Text { statement: [Statement; 1], sql: Vec<u8> },
}

impl Queries {
    /// Makes the statements of a client's session.
    pub(crate) fn prepare(
        session: &mut Session,
        engine: Protocol,
        table: &str,
        kind: Kind,
        seed: u64,
        client: u32,
    ) -> Result<Queries, LoadError> {
        let range = range_queries(engine, table);
        let is_point = kind == Kind::PointQueries;
        let form = match engine {
            Protocol::Mysql => Form::Text {
                statement: [session.text_statement(QUERY_BYTES_MAX)],
                sql: Vec::with_capacity(QUERY_BYTES_MAX),
            },
            Protocol::Postgres => {
                let mut prepare = |sql: &str, types: &[ParameterType]| {
                    session.prepare(sql, types).map_err(LoadError::wire("preparing the queries"))
                };
                let statements = match is_point {
                    true => {
                        let (sql, types) = prepared_point_query(table);
                        vec![prepare(&sql, &types)?]
                    }
                    false => {
                        let one = |query: &RangeQuery| {
                            prepare(&format!("{}$1{}", query.before, query.after), &[ParameterType::Int4])
                        };
                        range.iter().map(one).collect::<Result<_, _>>()?
                    }
                };
                Form::Prepared(statements)
            }
        };
        let random = stream(seed, Purpose::Keys, u64::from(client), 0);
        Ok(Queries { random, is_point, count: 0, form, last: 0, range, point: point_query(table) })
    }

    /// Whether it is time to ask for the newest row.
    pub(crate) fn wants_newest(&self) -> bool {
        self.is_point && self.count > 0 && self.count.is_multiple_of(QUERIES_A_QUESTION)
    }

    /// The statement that was sent last.
    pub(crate) fn last(&self) -> &Statement {
        match &self.form {
            Form::Prepared(statements) => &statements[self.last],
            Form::Text { statement, .. } => &statement[0],
        }
    }

    /// The next one to send; ids are drawn from the first to before the second.
    #[inline]
    pub(crate) fn next(&mut self, ids: (u64, u64)) -> &Statement {
        self.count += 1;
        match self.is_point {
            true => self.fill_point(ids),
            false => self.fill_range(),
        }
        self.last()
    }

    fn fill_range(&mut self) {
        let which = below(&mut self.random, 3) as usize;
        let query = &self.range[which];
        let value = below(&mut self.random, u64::from(query.domain));
        match &mut self.form {
            Form::Prepared(statements) => {
                self.last = which;
                statements[which].set_i32(0, value as i32);
            }
            Form::Text { statement: [statement], sql } => {
                sql.clear();
                sql.extend_from_slice(query.before.as_bytes());
                push_number(sql, value);
                sql.extend_from_slice(query.after.as_bytes());
                statement.set_sql(sql);
            }
        }
    }

    fn fill_point(&mut self, ids: (u64, u64)) {
        let drawn = draw_ids(&mut self.random, ids);
        match &mut self.form {
            Form::Prepared(statements) => {
                drawn.iter().enumerate().for_each(|(slot, id)| statements[0].set_i64(slot, *id as i64));
            }
            Form::Text { statement: [statement], sql } => {
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
pub(crate) fn draw_ids(random: &mut Pcg64, (from, to): (u64, u64)) -> [u64; QUERY_ROWS] {
    std::array::from_fn(|_| from + below(random, (to - from).max(1)))
}
