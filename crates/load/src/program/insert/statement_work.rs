//! What the insert, the delete and each query of a step make a server do, apart from its clients.
//!
//! In: a target with the benchmark's tables, a step that deletes. Out: [`StatementWork`] of each, on the first table.
//! Every statement has a transaction of its own that is rolled back, so that it finds the table as the step does at its
//! beginning. No rollback takes back which ids were given: the table gives them again afterwards, since point queries
//! would find the gap.

use super::roles::{DELETE, INSERT, KINDS};
use super::rows::InsertText;
use super::sql;
use super::statements::{Query, delete, queries};
use super::table::{State, id_reset};
use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::random::Purpose;
use crate::session::{connect, execute};
use crate::statement_work::{Execution, Preparation, add, count_events, counter, none, told};
use rqps_model::insert::{Shape, Step};
use rqps_model::statement_work::StatementWork;
use rqps_wire::{Protocol, Session, Target};

/// The work of a step's statements; none for a step that sends only one kind of them.
pub fn statement_work(target: &Target, shape: &Shape, step: &Step) -> Result<Vec<StatementWork>, LoadError> {
    if !step.deletes() {
        return Ok(Vec::new());
    }
    let (engine, table) = (target.endpoint.protocol(), sql::table_name(0));
    let ids = State::of_first_table(&target.endpoint, shape)?;
    let sent = Sent {
        queries: queries(engine, &table, step.kind, ids),
        insert: InsertText::new(SEED, 0, &table),
        delete: delete(engine, &table, ids.oldest, step.batch),
        batch: step.batch,
    };
    let mut session = connect(&target.endpoint)?;
    let reset = id_reset(&mut session, engine, &table)?;
    let counted = count(&mut session, target, &sent);
    // In a session of its own, since the other may be what was lost.
    let put_back = connect(&target.endpoint).and_then(|mut session| execute(&mut session, &reset));
    let counted = counted?;
    put_back.map(|()| counted)
}

/// What a step sends, by number: its queries, the insert, the delete.
struct Sent {
    queries: Vec<Query>,
    insert: InsertText,
    delete: String,
    batch: u32,
}

impl Sent {
    fn names(&self) -> Vec<&str> {
        self.queries.iter().map(|query| query.name.as_str()).chain([KINDS[INSERT], KINDS[DELETE]]).collect()
    }

    /// How a server prepares them.
    fn preparations(&self, engine: Protocol) -> Vec<Option<Preparation>> {
        let prepared =
            |query: &Query| (engine == Protocol::Postgres).then(|| (query.with_markers(engine), query.types()));
        self.queries.iter().map(prepared).chain([None, None]).collect()
    }

    /// An execution of one of them.
    fn execution(&self, statement: usize, number: u32) -> Execution {
        if let Some(query) = self.queries.get(statement) {
            let literals = query.values(Purpose::StatementWork, number.into());
            return Execution { text: query.sql(&literals), literals };
        }
        let text = if statement == self.queries.len() {
            let mut sql = Vec::new();
            self.insert.render(&mut sql, u64::from(number) * u64::from(self.batch), self.batch);
            String::from_utf8(sql).expect("the statement is ASCII")
        } else {
            self.delete.clone()
        };
        Execution { text, literals: Vec::new() }
    }
}

fn count(session: &mut Session, target: &Target, sent: &Sent) -> Result<Vec<StatementWork>, LoadError> {
    let mut counter = counter(session, target, sent.preparations(target.endpoint.protocol()))?;
    let mut work: Vec<StatementWork> = sent.names().into_iter().map(none).collect();
    let event = |session: &mut Session, statement: usize, number: u32| {
        counter.count(session, statement, &sent.execution(statement, number))
    };
    let refused =
        count_events(session, target, work.len(), event, |statement, counts| add(&mut work[statement], counts))?;
    let all = work.into_iter().zip(refused).map(|(work, why)| told(work, why));
    Ok(all.filter(|one| one.executions > 0 || one.untold.is_some()).collect())
}
