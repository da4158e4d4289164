//! The roles of a client, a session and a program each: it inserts, deletes the oldest rows, and queries.
//!
//! In: cues of the timed loop. Out: statements, and what the published client reports beside counts and histograms:
//! seconds, buckets, index builds. The inserter makes its next statement while the server works on the one before.
//! Inserter and deleter are never further than eight batches apart. Who may send is decided in the `turn` of each role
//! and nowhere else.

use super::probes::{IdProbe, Requests};
use super::queries::Queries;
use super::rows::InsertText;
use super::seconds::Seconds;
use super::shared::StepWork;
use super::sql::push_delete;
use crate::program::{Cue, Ended, EvenPlan, Outcome, Parameters, Program, StatementForm, Step, Turn};
use rand_pcg::Pcg64;
use rqps_model::insert::{Buckets, IndexBuild};
use std::sync::atomic::Ordering;

/// Inserter and deleter of a client are never further apart than so many batches.
const BATCHES_APART_MAX: u64 = 8;

/// Deletes between two requests for the oldest row.
const DELETES_A_REQUEST: u64 = 1000;

/// After so many deletes in a row that found nothing, there is nothing.
const EMPTY_DELETES_MAX: u32 = 1000;

/// The kinds of statements and of events.
pub(crate) const INSERT: usize = 0;
pub(crate) const DELETE: usize = 1;
pub(crate) const QUERY: usize = 2;
/// The inserter, when it builds indexes.
pub(crate) const BUILD: usize = 3;

/// The names of the kinds.
pub(crate) const KINDS: [&str; 4] = ["insert", "delete", "query", "index"];

/// What every role has.
pub(crate) struct Place<'w> {
    pub(crate) work: &'w StepWork<'w>,
    pub(crate) requests: Requests,
    pub(crate) client: u32,
    pub(crate) table: usize,
    pub(crate) batch: u32,
    pub(crate) noted: Noted,
    /// Whether this writer has nothing more to write.
    pub(crate) has_written: bool,
    /// The planned end of the step, and when writers give up.
    pub(crate) end_ns: u64,
    pub(crate) give_up_ns: u64,
}

/// What a role notes of its events.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) seconds: Seconds,
    pub(crate) response: Buckets,
    pub(crate) from_plan: Buckets,
    /// Rows of statements whose answer never came.
    pub(crate) rows_unknown: u64,
    /// Statements that were planned and are not sent any more.
    pub(crate) skipped: u64,
    pub(crate) built: Vec<IndexBuild>,
}

impl Place<'_> {
    /// Whether nothing more is to be written.
    fn may_not_write(&self, now_ns: u64) -> bool {
        self.work.is_over() || now_ns >= self.give_up_ns
    }

    /// This writer is done.
    fn write_no_more(&mut self) -> Turn {
        if !std::mem::replace(&mut self.has_written, true) {
            self.work.writers.fetch_sub(1, Ordering::Relaxed);
        }
        Turn::Over
    }

    fn apart_max(&self) -> u64 {
        BATCHES_APART_MAX * u64::from(self.batch)
    }

    /// Rows that the client has inserted or given up, and deleted or given up.
    fn resolved(&self) -> (u64, u64) {
        let progress = &self.work.progress[self.client as usize];
        (progress.inserted.load(Ordering::Relaxed), progress.deleted.load(Ordering::Relaxed))
    }

    fn started(&mut self, at_ns: u64) {
        self.noted.seconds.begin(at_ns);
        if let Some(planned_ns) = self.work.planned_ns {
            self.end_ns = at_ns + planned_ns;
            self.give_up_ns = at_ns + self.work.give_up_ns(planned_ns);
        }
    }

    /// What is noted of every event; `rows_unknown` are those of a statement whose answer never came.
    fn note(&mut self, ended: &Ended<'_>, rows_unknown: u64) {
        self.noted.seconds.note(ended);
        match ended.outcome {
            Outcome::Succeeded => {
                self.noted.response.record(ended.took_ns);
                if let Some(from_plan_ns) = ended.from_plan_ns {
                    self.noted.from_plan.record(from_plan_ns);
                }
            }
            Outcome::Lost => {
                self.noted.rows_unknown += rows_unknown;
                self.work.fail(ended.reason);
            }
            Outcome::GivenUp => self.work.fail(ended.reason),
            Outcome::Failed | Outcome::Retried => {}
        }
    }
}

/// The session that inserts, and in l.x builds indexes afterwards.
pub(crate) struct Inserter<'w> {
    pub(crate) place: Place<'w>,
    pub(crate) forms: [StatementForm; 2],
    pub(crate) text: InsertText,
    pub(crate) sql: Vec<u8>,
    /// The statement under way; the other is made meanwhile.
    pub(crate) current: usize,
    pub(crate) kind: usize,
    pub(crate) rows: u64,
    pub(crate) ready_rows: u32,
    pub(crate) next_row: u64,
    /// Rows that are in no statement yet.
    pub(crate) rows_left: u64,
    /// What is left to build, the next last.
    pub(crate) index_sql: Vec<String>,
}

impl Inserter<'_> {
    fn next_rows(&self) -> u32 {
        match self.ready_rows {
            0 => self.rows_left.min(u64::from(self.place.batch)) as u32,
            ready => ready,
        }
    }

    /// Makes the next statement, if there is none and rows are left.
    fn prepare<S: Parameters>(&mut self, statements: &mut [S]) {
        if self.ready_rows == 0 && self.rows_left > 0 {
            self.ready_rows = self.next_rows();
            self.text.render(&mut self.sql, self.next_row, self.ready_rows);
            statements[1 - self.current].set_sql(&self.sql);
            self.next_row += u64::from(self.ready_rows);
            self.rows_left -= u64::from(self.ready_rows);
        }
    }

    fn turn(&mut self, now_ns: u64) -> Turn {
        let rows = u64::from(self.next_rows());
        if self.place.may_not_write(now_ns) || (rows == 0 && self.index_sql.is_empty()) {
            return self.place.write_no_more();
        }
        let (inserted, deleted) = self.place.resolved();
        let is_ahead = self.place.work.step.deletes() && inserted + rows > deleted + self.place.apart_max();
        match is_ahead || self.place.work.has_its_share() {
            true => Turn::Blocked,
            false => Turn::Begin,
        }
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, statements: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => return Step::End,
            Cue::Again => {}
            Cue::Begin => {
                self.prepare(statements);
                self.current = 1 - self.current;
                self.rows = u64::from(std::mem::take(&mut self.ready_rows));
                self.place.work.begin(self.rows);
                self.kind = INSERT;
                if self.rows == 0
                    && let Some(sql) = self.index_sql.last()
                {
                    // The inserts are done, what is left is to build.
                    self.kind = BUILD;
                    statements[self.current].set_sql(sql.as_bytes());
                }
            }
        }
        Step::Send { statement: self.current, kind: self.kind }
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        if self.kind == BUILD {
            return self.built(ended);
        }
        self.place.note(ended, self.rows);
        if matches!(ended.outcome, Outcome::Succeeded | Outcome::Failed) {
            self.place.work.progress[self.place.client as usize].inserted.fetch_add(self.rows, Ordering::Relaxed);
        }
    }

    fn built(&mut self, ended: &Ended<'_>) {
        match ended.outcome {
            Outcome::Succeeded => {
                let sql = self.index_sql.pop().unwrap_or_default();
                self.place.noted.built.push(IndexBuild { sql, seconds: ended.took_ns as f64 / 1e9 });
            }
            Outcome::Retried => {}
            Outcome::Failed => self.place.work.fail(&format!("an index cannot be built: {}", ended.reason)),
            Outcome::Lost | Outcome::GivenUp => self.place.work.fail(ended.reason),
        }
    }
}

/// The session that deletes.
pub(crate) struct Deleter<'w> {
    pub(crate) place: Place<'w>,
    pub(crate) forms: [StatementForm; 1],
    pub(crate) sql: Vec<u8>,
    pub(crate) rows: u64,
    pub(crate) rows_left: u64,
    /// Those among them that a statement was to delete and didn't find.
    pub(crate) rows_missed: u64,
    pub(crate) statements: u64,
    pub(crate) empty_in_a_row: u32,
}

impl Deleter<'_> {
    fn next_rows(&self) -> u64 {
        let wanted = if self.rows_missed > 0 { self.rows_missed } else { self.rows_left };
        wanted.min(u64::from(self.place.batch))
    }

    fn turn(&mut self, now_ns: u64) -> Turn {
        let rows = self.next_rows();
        if self.place.may_not_write(now_ns) || rows == 0 {
            return self.place.write_no_more();
        }
        let (inserted, deleted) = self.place.resolved();
        let must_wait = deleted + rows > inserted + self.place.apart_max() || self.place.work.has_its_share();
        match (must_wait, self.rows_missed > 0) {
            (true, _) => Turn::Blocked,
            (false, true) => Turn::BesidePlan,
            (false, false) => Turn::Begin,
        }
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, statements: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => return Step::End,
            Cue::Again => {}
            Cue::Begin => {
                let work = self.place.work;
                let table = &work.tables[self.place.table];
                self.rows = self.next_rows();
                self.sql.clear();
                push_delete(&mut self.sql, work.protocol, &table.name, table.take(self.rows), self.rows);
                statements[0].set_sql(&self.sql);
                self.rows_missed = self.rows_missed.saturating_sub(self.rows);
                self.statements += 1;
                if self.statements.is_multiple_of(DELETES_A_REQUEST) {
                    table.request(self.place.table, IdProbe::Oldest, &self.place.requests);
                }
            }
        }
        Step::Send { statement: 0, kind: DELETE }
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        let (sent, place) = (self.rows, &mut self.place);
        place.note(ended, sent);
        let table = &place.work.tables[place.table];
        let resolved = match ended.outcome {
            Outcome::Succeeded => {
                if ended.rows < sent {
                    // Another deleter had them: what is missing is deleted by statements beside the plan.
                    self.rows_missed += sent - ended.rows;
                    table.request(place.table, IdProbe::Oldest, &place.requests);
                }
                self.empty_in_a_row = if ended.rows == 0 { self.empty_in_a_row + 1 } else { 0 };
                ended.rows.min(sent)
            }
            Outcome::Failed => sent,
            Outcome::Retried | Outcome::Lost | Outcome::GivenUp => return,
        };
        if self.empty_in_a_row >= EMPTY_DELETES_MAX {
            place.work.fail(&format!("{EMPTY_DELETES_MAX} deletes in a row found no row in table {}", table.name));
        }
        self.rows_left -= resolved;
        place.work.progress[place.client as usize].deleted.fetch_add(resolved, Ordering::Relaxed);
    }
}

/// The session that queries.
pub(crate) struct Querier<'w> {
    pub(crate) place: Place<'w>,
    pub(crate) queries: Queries,
    /// The ids from which the query under way was drawn.
    pub(crate) ids: (u64, u64),
}

impl Querier<'_> {
    fn turn(&mut self, now_ns: u64) -> Turn {
        let work = self.place.work;
        let is_done = now_ns >= self.place.end_ns && work.writers.load(Ordering::Relaxed) == 0;
        if work.is_over() || is_done { Turn::Over } else { Turn::Begin }
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => return Step::End,
            // The same ids and the same draws: the same query.
            Cue::Again => {}
            Cue::Begin => {
                let table = &self.place.work.tables[self.place.table];
                if self.queries.wants_newest() {
                    table.request(self.place.table, IdProbe::Newest, &self.place.requests);
                }
                self.queries.count();
                self.ids = table.range();
            }
        }
        Step::Send { statement: self.queries.fill(self.ids, random, statements), kind: QUERY }
    }
}

/// A session of a client.
pub(crate) enum Role<'w> {
    Insert(Inserter<'w>),
    Delete(Deleter<'w>),
    Query(Querier<'w>),
}

impl<'w> Role<'w> {
    /// The kind of its statements.
    pub(crate) const fn kind(&self) -> usize {
        match self {
            Role::Insert(_) => INSERT,
            Role::Delete(_) => DELETE,
            Role::Query(_) => QUERY,
        }
    }

    fn place(&mut self) -> &mut Place<'w> {
        match self {
            Role::Insert(inserter) => &mut inserter.place,
            Role::Delete(deleter) => &mut deleter.place,
            Role::Query(querier) => &mut querier.place,
        }
    }

    /// The number of its client.
    pub(crate) fn client(&mut self) -> u32 {
        self.place().client
    }

    /// What it noted, with what was planned and will not be sent any more.
    pub(crate) fn into_noted(mut self) -> Noted {
        let batch = u64::from(self.place().batch);
        let skipped = match &self {
            Role::Insert(inserter) => u64::from(inserter.ready_rows > 0) + inserter.rows_left.div_ceil(batch),
            Role::Delete(deleter) => deleter.rows_left.div_ceil(batch),
            Role::Query(_) => 0,
        };
        let (Role::Insert(Inserter { place, .. })
        | Role::Delete(Deleter { place, .. })
        | Role::Query(Querier { place, .. })) = self;
        Noted { skipped, ..place.noted }
    }
}

impl Program for Role<'_> {
    const FAILURES_IN_A_ROW_MAX: u32 = 100;
    const HAS_TURNS: bool = true;

    fn statements(&self) -> &[StatementForm] {
        match self {
            Role::Insert(inserter) => &inserter.forms,
            Role::Delete(deleter) => &deleter.forms,
            Role::Query(querier) => querier.queries.forms(),
        }
    }

    #[inline]
    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match self {
            Role::Insert(inserter) => inserter.next(cue, statements),
            Role::Delete(deleter) => deleter.next(cue, statements),
            Role::Query(querier) => querier.next(cue, random, statements),
        }
    }

    #[inline]
    fn event(&self) -> usize {
        match self {
            Role::Insert(inserter) => inserter.kind,
            other => other.kind(),
        }
    }

    fn started(&mut self, at_ns: u64) {
        self.place().started(at_ns);
    }

    fn plan(&self) -> Option<EvenPlan> {
        match self {
            Role::Insert(Inserter { place, .. }) | Role::Delete(Deleter { place, .. }) => place.work.plan(place.client),
            Role::Query(_) => None,
        }
    }

    #[inline]
    fn turn(&mut self, now_ns: u64) -> Turn {
        match self {
            Role::Insert(inserter) => inserter.turn(now_ns),
            Role::Delete(deleter) => deleter.turn(now_ns),
            Role::Query(querier) => querier.turn(now_ns),
        }
    }

    #[inline]
    fn meanwhile<S: Parameters>(&mut self, statements: &mut [S]) {
        if let Role::Insert(inserter) = self {
            inserter.prepare(statements);
        }
    }

    #[inline]
    fn ended(&mut self, ended: &Ended<'_>) {
        match self {
            Role::Insert(inserter) => inserter.ended(ended),
            Role::Delete(deleter) => deleter.ended(ended),
            Role::Query(querier) => querier.place.note(ended, 0),
        }
    }
}
