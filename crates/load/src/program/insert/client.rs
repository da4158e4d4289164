//! One client of the benchmark: its inserter, deleter and query connections, and when each may send.
//!
//! In: moments and replies. Out: statements sent, rows counted. The inserter makes its next statement while the server works on
//! the one before. Inserter and deleter are never further than eight batches apart. Who sends what is decided in
//! [`Client::advance`] and nowhere else.

use super::line::{Answer, Context, Line, Phase};
use super::pace::Pace;
use super::queries::Queries;
use super::rows::InsertText;
use super::seconds::Seconds;
use super::shared::Question;
use super::sql::push_delete;
use super::tally::{Role, Tally};
use crate::drive::monotonic_ns;
use rqps_model::insert::IndexBuild;
use rqps_wire::Statement;
use std::sync::atomic::Ordering;

/// Inserter and deleter of a client are never further apart than so many batches.
const BATCHES_APART_MAX: u64 = 8;

/// A writer that is not done after so many times the planned seconds gives up.
const OVERRUN: f64 = 2.0;

/// Deletes between two questions for the oldest row.
const DELETES_A_QUESTION: u64 = 1000;

/// After so many deletes in a row that found nothing, there is nothing.
const EMPTY_DELETES_MAX: u32 = 1000;

/// The connection that inserts, and in l.x builds indexes afterwards.
pub(crate) struct Inserter {
    pub(crate) line: Line,
    pub(crate) text: InsertText,
    pub(crate) sql: Vec<u8>,
    /// The statement under way, and the one that is ready to be sent.
    pub(crate) under_way: Statement,
    pub(crate) ready: Statement,
    pub(crate) ready_rows: u32,
    pub(crate) next_row: u64,
    /// Rows that are in no statement yet.
    pub(crate) rows_left: u64,
    /// Rows inserted or given up.
    pub(crate) rows_resolved: u64,
    pub(crate) pace: Option<Pace>,
    /// What is left to build, the next last.
    pub(crate) index_sql: Vec<String>,
    pub(crate) built: Vec<IndexBuild>,
}

/// The connection that deletes.
pub(crate) struct Deleter {
    pub(crate) line: Line,
    pub(crate) sql: Vec<u8>,
    pub(crate) statement: Statement,
    pub(crate) rows_left: u64,
    /// Those among them that a statement was to delete and didn't find.
    pub(crate) rows_missed: u64,
    /// Rows deleted or given up.
    pub(crate) rows_resolved: u64,
    pub(crate) pace: Option<Pace>,
    pub(crate) statements: u64,
    pub(crate) empty_in_a_row: u32,
}

/// The connection that queries.
pub(crate) struct Querier {
    pub(crate) line: Line,
    pub(crate) queries: Queries,
}

/// When the writers of a step are to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Between two statements of a writer.
    pub(crate) gap_ns: f64,
    pub(crate) planned_ns: u64,
    pub(crate) clients: u32,
    pub(crate) catch_up_ns: u64,
}

/// A client.
pub(crate) struct Client {
    pub(crate) number: u32,
    pub(crate) table: usize,
    pub(crate) batch: u32,
    pub(crate) inserter: Inserter,
    pub(crate) deleter: Option<Deleter>,
    pub(crate) querier: Option<Querier>,
    pub(crate) seconds: Seconds,
    /// When the plan wants something next; `u64::MAX` if the plan is not what is waited for.
    pub(crate) next_due_ns: u64,
    /// The planned end of the step, or 0; and when writers give up.
    pub(crate) end_ns: u64,
    pub(crate) give_up_ns: u64,
    pub(crate) has_written: bool,
}

impl Inserter {
    /// Makes the next statement, if rows are left.
    pub(crate) fn prepare(&mut self, batch: u32) {
        self.ready_rows = self.rows_left.min(u64::from(batch)) as u32;
        if self.ready_rows > 0 {
            self.text.render(&mut self.sql, self.next_row, self.ready_rows);
            self.ready.set_sql(&self.sql);
            self.next_row += u64::from(self.ready_rows);
            self.rows_left -= u64::from(self.ready_rows);
        }
    }
}

/// Whether a plan lets the next statement go: with its planned moment, or with the moment to wait for.
fn is_due(pace: &mut Option<Pace>, now: u64) -> Result<Option<u64>, u64> {
    match pace {
        None => Ok(None),
        Some(pace) if pace.due_ns() <= now => Ok(Some(pace.take(now))),
        Some(pace) => Err(pace.due_ns()),
    }
}

impl Client {
    /// Sends whatever may be sent at `now`, and then makes the next insert while the server is at work.
    pub(crate) fn advance(&mut self, mut now: u64, context: &mut Context<'_>) {
        self.next_due_ns = u64::MAX;
        if !self.has_written {
            let may_write = !context.shared.is_over() && now < self.give_up_ns;
            if may_write {
                // What was sent has taken its time, which is not the next statement's.
                if self.insert(now, context) {
                    now = monotonic_ns();
                }
                if self.delete(now, context) {
                    now = monotonic_ns();
                }
            }
            let is_idle = |line: &Line| line.phase != Phase::Busy;
            if is_idle(&self.inserter.line)
                && self.deleter.as_ref().is_none_or(|deleter| is_idle(&deleter.line))
                && (!may_write || context.shared.is_over() || self.is_all_written())
            {
                self.has_written = true;
                context.shared.clients_writing.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.query(now, context);
        if self.inserter.ready_rows == 0 && self.inserter.rows_left > 0 {
            self.inserter.prepare(self.batch);
        }
    }

    fn is_all_written(&self) -> bool {
        let inserter = &self.inserter;
        inserter.ready_rows == 0
            && inserter.rows_left == 0
            && inserter.index_sql.is_empty()
            && self.deleter.as_ref().is_none_or(|deleter| deleter.rows_left == 0)
    }

    /// Whether it sent an insert, or what builds indexes.
    fn insert(&mut self, now: u64, context: &mut Context<'_>) -> bool {
        let inserter = &mut self.inserter;
        if !inserter.line.is_idle() {
            return false;
        }
        if inserter.ready_rows == 0 {
            // The inserts are done, what is left is to build.
            let Some(sql) = inserter.index_sql.last() else { return false };
            inserter.line.role = Role::Build;
            inserter.under_way.set_sql(sql.as_bytes());
            inserter.line.send(&inserter.under_way, 0, now, None, context);
            return true;
        }
        let rows = u64::from(inserter.ready_rows);
        if let Some(deleter) = &self.deleter
            && inserter.rows_resolved + rows > deleter.rows_resolved + BATCHES_APART_MAX * u64::from(self.batch)
        {
            return false;
        }
        match is_due(&mut inserter.pace, now) {
            Err(due_ns) => {
                self.next_due_ns = self.next_due_ns.min(due_ns).min(self.give_up_ns);
                false
            }
            Ok(planned_ns) => {
                std::mem::swap(&mut inserter.under_way, &mut inserter.ready);
                inserter.ready_rows = 0;
                inserter.line.send(&inserter.under_way, rows, now, planned_ns, context);
                true
            }
        }
    }

    /// Whether it sent a delete.
    fn delete(&mut self, now: u64, context: &mut Context<'_>) -> bool {
        let Some(deleter) = &mut self.deleter else { return false };
        let wanted = if deleter.rows_missed > 0 { deleter.rows_missed } else { deleter.rows_left };
        let rows = wanted.min(u64::from(self.batch));
        if !deleter.line.is_idle()
            || rows == 0
            || deleter.rows_resolved + rows > self.inserter.rows_resolved + BATCHES_APART_MAX * u64::from(self.batch)
        {
            return false;
        }
        let due = if deleter.rows_missed > 0 { Ok(None) } else { is_due(&mut deleter.pace, now) };
        match due {
            Err(due_ns) => {
                self.next_due_ns = self.next_due_ns.min(due_ns).min(self.give_up_ns);
                false
            }
            Ok(planned_ns) => {
                let shared = context.shared;
                let table = &shared.tables[self.table];
                deleter.sql.clear();
                push_delete(&mut deleter.sql, shared.engine, &table.name, table.take(rows), rows);
                deleter.statement.set_sql(&deleter.sql);
                deleter.line.send(&deleter.statement, rows, now, planned_ns, context);
                deleter.rows_missed = deleter.rows_missed.saturating_sub(rows);
                deleter.statements += 1;
                if deleter.statements.is_multiple_of(DELETES_A_QUESTION) {
                    table.ask(self.table, Question::Oldest, context.questions);
                }
                true
            }
        }
    }

    fn query(&mut self, now: u64, context: &mut Context<'_>) {
        let Some(querier) = &mut self.querier else { return };
        let shared = context.shared;
        if !querier.line.is_idle()
            || shared.is_over()
            || (now >= self.end_ns && shared.clients_writing.load(Ordering::Relaxed) == 0)
        {
            return;
        }
        let table = &shared.tables[self.table];
        if querier.queries.wants_newest() {
            table.ask(self.table, Question::Newest, context.questions);
        }
        let statement = querier.queries.next(table.range());
        querier.line.send(statement, 0, now, None, context);
    }

    /// A connection is readable. Returns the moment if that may let the client send, and whether the connection is of no
    /// more use.
    pub(crate) fn receive(&mut self, role: Role, context: &mut Context<'_>) -> (Option<u64>, bool) {
        match role {
            Role::Insert | Role::Build => {
                let line = &mut self.inserter.line;
                let answer = line.receive(&self.inserter.under_way, context);
                let is_lost = line.phase == Phase::Lost;
                (self.inserted(answer, context), is_lost)
            }
            Role::Delete => {
                let Some(deleter) = &mut self.deleter else { return (None, true) };
                let answer = deleter.line.receive(&deleter.statement, context);
                let is_lost = deleter.line.phase == Phase::Lost;
                (self.deleted(answer, context), is_lost)
            }
            Role::Query => {
                let Some(querier) = &mut self.querier else { return (None, true) };
                let answer = querier.line.receive(querier.queries.last(), context);
                let is_lost = querier.line.phase == Phase::Lost;
                (self.queried(answer), is_lost)
            }
        }
    }

    fn inserted(&mut self, answer: Answer, context: &mut Context<'_>) -> Option<u64> {
        let inserter = &mut self.inserter;
        let is_build = inserter.line.role == Role::Build;
        let now = answer.at_ns()?;
        let second = self.seconds.at(now);
        match answer {
            Answer::Pending => return None,
            Answer::Again { .. } => {
                second.insert_retries += 1;
                return None;
            }
            Answer::Done { took_ns, .. } if is_build => {
                let sql = inserter.index_sql.pop().unwrap_or_default();
                inserter.built.push(IndexBuild { sql, seconds: took_ns as f64 / 1e9 });
            }
            Answer::Failed { .. } if is_build => {
                let said = inserter.line.session.last_error().map_or_else(String::new, ToString::to_string);
                context.fail(|| format!("an index cannot be built: {said}"));
            }
            Answer::Done { rows, took_ns, .. } => {
                inserter.rows_resolved += inserter.line.rows;
                second.inserted += rows as u32;
                second.longest_insert_ns = second.longest_insert_ns.max(took_ns);
            }
            Answer::Failed { .. } => inserter.rows_resolved += inserter.line.rows,
        }
        Some(now)
    }

    fn deleted(&mut self, answer: Answer, context: &mut Context<'_>) -> Option<u64> {
        let deleter = self.deleter.as_mut()?;
        let now = answer.at_ns()?;
        let second = self.seconds.at(now);
        let sent = deleter.line.rows;
        let resolved = match answer {
            Answer::Pending => return None,
            Answer::Again { .. } => {
                second.delete_retries += 1;
                return None;
            }
            Answer::Done { rows, took_ns, .. } => {
                second.deleted += rows as u32;
                second.longest_delete_ns = second.longest_delete_ns.max(took_ns);
                if rows < sent {
                    // Another deleter had them: what is missing is deleted by statements beside the plan.
                    deleter.rows_missed += sent - rows;
                    context.shared.tables[self.table].ask(self.table, Question::Oldest, context.questions);
                }
                deleter.empty_in_a_row = if rows == 0 { deleter.empty_in_a_row + 1 } else { 0 };
                rows.min(sent)
            }
            Answer::Failed { .. } => sent,
        };
        if deleter.empty_in_a_row >= EMPTY_DELETES_MAX {
            let table = &context.shared.tables[self.table].name;
            context.fail(|| format!("{EMPTY_DELETES_MAX} deletes in a row found no row in table {table}"));
        }
        deleter.rows_left -= resolved;
        deleter.rows_resolved += resolved;
        Some(now)
    }

    fn queried(&mut self, answer: Answer) -> Option<u64> {
        let now = answer.at_ns()?;
        let second = self.seconds.at(now);
        match answer {
            Answer::Pending => return None,
            Answer::Again { .. } => {
                second.query_retries += 1;
                return None;
            }
            Answer::Done { took_ns, .. } => {
                second.queries += 1;
                second.longest_query_ns = second.longest_query_ns.max(took_ns);
            }
            Answer::Failed { .. } => {}
        }
        Some(now)
    }

    /// Counts what was planned and will not be sent any more.
    pub(crate) fn count_skipped(&self, tally: &mut Tally) {
        let batch = u64::from(self.batch);
        let inserter = &self.inserter;
        tally.of(Role::Insert).skipped(u64::from(inserter.ready_rows > 0) + inserter.rows_left.div_ceil(batch));
        if let Some(deleter) = &self.deleter {
            tally.of(Role::Delete).skipped(deleter.rows_left.div_ceil(batch));
        }
    }

    /// The connection for a kind of statements.
    pub(crate) fn line(&self, role: Role) -> Option<&Line> {
        match role {
            Role::Insert | Role::Build => Some(&self.inserter.line),
            Role::Delete => self.deleter.as_ref().map(|deleter| &deleter.line),
            Role::Query => self.querier.as_ref().map(|querier| &querier.line),
        }
    }

    /// How many connections it has.
    pub(crate) fn connections(&self) -> usize {
        1 + usize::from(self.deleter.is_some()) + usize::from(self.querier.is_some())
    }

    /// The step begins: plans and seconds count from here.
    pub(crate) fn begin(&mut self, start_ns: u64, plan: Option<&Plan>) {
        self.seconds.begin(start_ns);
        let Some(plan) = plan else { return };
        let pace = Pace::new(start_ns, plan.gap_ns, self.number, plan.clients, plan.catch_up_ns);
        self.inserter.pace = Some(pace.clone());
        if let Some(deleter) = &mut self.deleter {
            deleter.pace = Some(pace);
        }
        self.end_ns = start_ns + plan.planned_ns;
        self.give_up_ns = start_ns + (plan.planned_ns as f64 * OVERRUN) as u64;
    }

    /// By how much the plan of the writer that was further behind was put off.
    pub(crate) fn put_off_ns(&self) -> u64 {
        let of = |pace: &Option<Pace>| pace.as_ref().map_or(0, Pace::put_off_ns);
        of(&self.inserter.pace).max(self.deleter.as_ref().map_or(0, |deleter| of(&deleter.pace)))
    }

    /// Rows inserted or given up.
    pub(crate) fn rows_resolved(&self) -> u64 {
        self.inserter.rows_resolved
    }
}
