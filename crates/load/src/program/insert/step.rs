//! One step of the Insert Benchmark as a workload: the programs of its clients' sessions.
//!
//! In: what the sessions share. Out: a [`Role`] for each session of each client.

use super::probes::Requests;
use super::queries::Queries;
use super::roles::{Deleter, Inserter, KINDS, Noted, Place, Querier, Role};
use super::rows::InsertText;
use super::seconds::Seconds;
use super::shared::StepWork;
use super::sql;
use crate::program::{StatementForm, Workload};
use crate::random::derive_seed;
use rqps_model::insert::{Buckets, Kind, Step};

/// What the sessions of a client are there for.
const PURPOSES: [&str; 3] = ["inserter", "deleter", "query session"];

/// Room for a delete as text.
const DELETE_BYTES_MAX: usize = 256;
/// Room for the statement that builds all indexes.
const INDEX_BYTES_MAX: usize = 512;

/// A step on each server, with the ways to request ids, which end when the last session lets go of them.
pub(crate) struct StepWorkload<'a> {
    pub(crate) works: &'a [StepWork<'a>],
    pub(crate) requests: Vec<Requests>,
}

impl StepWorkload<'_> {
    /// What all servers have in common.
    fn step(&self) -> &Step {
        self.works[0].step
    }
}

impl Workload for StepWorkload<'_> {
    type Program<'w>
        = Role<'w>
    where
        Self: 'w;

    fn sessions(&self) -> usize {
        1 + usize::from(self.step().deletes()) + usize::from(self.step().queries())
    }

    fn purposes(&self) -> &'static [&'static str] {
        &PURPOSES[..self.sessions()]
    }

    fn kinds(&self) -> Vec<String> {
        KINDS.map(str::to_owned).to_vec()
    }

    fn events(&self) -> Vec<String> {
        self.kinds()
    }

    fn program(&self, arm: usize, client: u32, session: usize) -> Role<'_> {
        let work = &self.works[arm];
        let StepWork { bench, step, protocol, .. } = *work;
        let shape = bench.shape;
        let table = if shape.shared_table { 0 } else { client as usize };
        let name = &work.tables[table].name;
        let rows = step.rows_of(client, shape.clients);
        let is_builder = session == 0 && step.kind == Kind::Index && (!shape.shared_table || client == 0);
        let mut index_sql = if is_builder { sql::create_indexes(protocol, name, bench.storage()) } else { Vec::new() };
        index_sql.reverse();
        let noted = Noted {
            seconds: Seconds::new(step.rate_per_s.map(|_| shape.seconds)),
            response: Buckets::default(),
            from_plan: Buckets::default(),
            rows_unknown: 0,
            skipped: 0,
            built: Vec::with_capacity(index_sql.len()),
        };
        let place = Place {
            work,
            requests: self.requests[arm].clone(),
            client,
            table,
            batch: step.batch,
            noted,
            has_written: false,
            end_ns: 0,
            give_up_ns: u64::MAX,
        };
        match session {
            0 => {
                let text = InsertText::new(derive_seed(bench.seed, "insert"), client, name);
                let capacity = text.capacity(step.batch as usize).max(INDEX_BYTES_MAX);
                let form = StatementForm::text("", capacity);
                Role::Insert(Inserter {
                    place,
                    forms: [form.clone(), form],
                    text,
                    sql: Vec::with_capacity(capacity),
                    current: 0,
                    kind: 0,
                    rows: 0,
                    ready_rows: 0,
                    next_row: step.first_row,
                    rows_left: rows,
                    index_sql,
                })
            }
            1 => Role::Delete(Deleter {
                place,
                forms: [StatementForm::text("", DELETE_BYTES_MAX)],
                sql: Vec::with_capacity(DELETE_BYTES_MAX),
                rows: 0,
                rows_left: rows,
                rows_missed: 0,
                statements: 0,
                empty_in_a_row: 0,
            }),
            _ => Role::Query(Querier { place, queries: Queries::new(protocol, name, step.kind), ids: (0, 0) }),
        }
    }
}
