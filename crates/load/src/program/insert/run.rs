//! One step from connecting to its record.
//!
//! In: an endpoint, the shape, a step, what the steps before left. Out: a [`StepRun`]. All connections are made and all statements
//! prepared before the common start; client i belongs to thread i mod threads. A server that is lost is no error: the
//! record says how far the step came and why it ended.

use super::client::{Client, Deleter, Inserter, Plan, Querier};
use super::line::Line;
use super::queries::Queries;
use super::rows::InsertText;
use super::seconds::Seconds;
use super::shared::{Answers, Question, Shared, TableCell, answer};
use super::tally::{Role, Tally};
use super::{State, lane, sql, table};
use crate::drive::{Pinned, Watchdog, joined, monotonic_ns};
use crate::error::LoadError;
use crate::random::derive_seed;
use crate::work::connect;
use hdrhistogram::Histogram;
use rqps_model::StorageEngine;
use rqps_model::insert::SecondRow;
use rqps_model::insert::{Kind, Operations, Shape, Sla, Step, StepRecord};
use rqps_model::sample::ErrorCount;
use rqps_wire::{Endpoint, Session, Statement};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Room for a delete as text.
const DELETE_BYTES_MAX: usize = 256;
/// Room for the statement that builds all indexes.
const INDEX_BYTES_MAX: usize = 512;

/// Questions that wait for an answer at most.
const QUESTIONS_MAX: usize = 1024;

/// What a step did, with everything that was recorded.
#[derive(Debug, Clone)]
pub struct StepRun {
    /// The numbers.
    pub record: StepRecord,
    /// A row for each second and client, by client and second.
    pub seconds: Vec<SecondRow>,
    /// `insert`, `delete`, `query`, and from the planned moment `insert-from-plan`, `delete-from-plan`; only those that
    /// the step has.
    pub latency: Vec<(String, Histogram<u64>)>,
}

/// What a benchmark runs against, and with what.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// The server.
    pub endpoint: &'a Endpoint,
    /// What stores the tables of MySQL and MariaDB; InnoDB if it is not said.
    pub storage: Option<StorageEngine>,
    /// How large it is.
    pub shape: &'a Shape,
    /// Everything random follows from it.
    pub seed: u64,
    /// Threads of the client that send and receive.
    pub threads: usize,
    /// Where these run; anywhere if empty.
    pub client_cpus: &'a [usize],
}

/// What whoever runs a step hears of it, in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// All is connected and prepared; the clients begin as soon as this returns.
    Begins,
    /// About once a second.
    Advances(Progress),
    /// Everyone has the last answer; the clients' connections still stand.
    Ended,
}

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Seconds since its begin.
    pub seconds: f64,
    /// The part that is done, of the first thread's clients.
    pub done: f64,
}

/// Runs one step. `state` is what the step before left; if it knows nothing, it is read from the server. What `tell` reads at
/// begin and end belongs to the step and to nothing else: neither connecting nor looking at the tables lies between them.
pub fn run_step(
    bench: &Bench<'_>,
    step: &Step,
    state: &mut State,
    stop: &AtomicBool,
    tell: &dyn Fn(Moment),
) -> Result<StepRun, LoadError> {
    let shape = bench.shape;
    shape.check()?;
    let storage = bench.storage.unwrap_or(StorageEngine::Innodb);
    if step.kind == Kind::Load {
        table::create(bench.endpoint, shape, storage)?;
        *state = State::new();
    }
    if !state.fits(shape) {
        *state = State::read(bench.endpoint, shape)?;
    }
    let deleters = if shape.shared_table { shape.clients } else { 1 };
    let cell = |(index, ids): (usize, &rqps_model::insert::TableIds)| {
        TableCell::new(sql::table_name(index), ids.oldest, ids.newest, deleters, step.batch)
    };
    let tables: Vec<TableCell> = state.tables.iter().enumerate().map(cell).collect();
    let shared = Shared {
        engine: bench.endpoint.protocol(),
        shape,
        step,
        tables: &tables,
        stop,
        has_failed: AtomicBool::new(false),
        clients_writing: AtomicUsize::new(shape.clients as usize),
        start_ns: AtomicU64::new(0),
    };
    let mut connected = Vec::with_capacity(shape.clients as usize);
    for number in 0..shape.clients {
        connected.push(client(bench, &shared, storage, number)?);
    }
    let asker = connect(bench.endpoint)?;
    // From here on the tables change; should anything fail, their ids are read anew.
    state.tables.clear();
    let (lanes, answers) = drive(bench, &shared, connected, asker, tell)?;
    if stop.load(Ordering::Relaxed) {
        return Err(LoadError::Interrupted);
    }
    let mut run = join(&shared, lanes, answers);
    if run.record.failure.is_none() {
        match State::read(bench.endpoint, shape) {
            Ok(read) => *state = read,
            Err(error) => run.record.failure = Some(format!("after the step: {error}")),
        }
    }
    run.record.tables.clone_from(&state.tables);
    Ok(run)
}

/// Connects one client and makes its statements.
fn client(bench: &Bench<'_>, shared: &Shared<'_>, storage: StorageEngine, number: u32) -> Result<Client, LoadError> {
    let (shape, step, engine) = (shared.shape, shared.step, shared.engine);
    let table = if shape.shared_table { 0 } else { number as usize };
    let name = &shared.tables[table].name;
    let rows = step.rows_of(number, shape.clients);
    let is_builder = step.kind == Kind::Index && (!shape.shared_table || number == 0);
    let mut index_sql = match is_builder {
        true => sql::create_indexes(engine, name, storage),
        false => Vec::new(),
    };
    index_sql.reverse();
    let mut session = connect(bench.endpoint)?;
    let text = InsertText::new(derive_seed(bench.seed, "insert"), number, name);
    let capacity = text.capacity(step.batch as usize).max(INDEX_BYTES_MAX);
    let mut statement = || session.text_statement(capacity);
    let (under_way, ready): (Statement, Statement) = (statement(), statement());
    let mut inserter = Inserter {
        line: Line::new(session, Role::Insert),
        text,
        sql: Vec::with_capacity(capacity),
        under_way,
        ready,
        ready_rows: 0,
        next_row: step.first_row,
        rows_left: rows,
        rows_resolved: 0,
        pace: None,
        built: Vec::with_capacity(index_sql.len()),
        index_sql,
    };
    inserter.prepare(step.batch);
    let deleter = match step.deletes() {
        false => None,
        true => {
            let mut session = connect(bench.endpoint)?;
            Some(Deleter {
                statement: session.text_statement(DELETE_BYTES_MAX),
                line: Line::new(session, Role::Delete),
                sql: Vec::with_capacity(DELETE_BYTES_MAX),
                rows_left: rows,
                rows_missed: 0,
                rows_resolved: 0,
                pace: None,
                statements: 0,
                empty_in_a_row: 0,
            })
        }
    };
    let querier = match step.queries() {
        false => None,
        true => {
            let mut session = connect(bench.endpoint)?;
            let seed = derive_seed(bench.seed, &step.name);
            let queries = Queries::prepare(&mut session, engine, name, step.kind, seed, number)?;
            Some(Querier { line: Line::new(session, Role::Query), queries })
        }
    };
    Ok(Client {
        number,
        table,
        batch: step.batch,
        inserter,
        deleter,
        querier,
        seconds: Seconds::new(number, step.rate_per_s.map(|_| shape.seconds)),
        next_due_ns: u64::MAX,
        end_ns: 0,
        give_up_ns: u64::MAX,
        has_written: false,
    })
}

/// The clients of a thread, with what it counted.
type LaneRun = (Vec<Client>, Tally);

/// Spreads the clients over threads and runs them.
fn drive(
    bench: &Bench<'_>,
    shared: &Shared<'_>,
    clients: Vec<Client>,
    asker: Session,
    tell: &dyn Fn(Moment),
) -> Result<(Vec<LaneRun>, Answers), LoadError> {
    let threads = bench.threads.clamp(1, clients.len());
    let watchdog = Watchdog::default();
    let mut lanes: Vec<Vec<Client>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, client) in clients.into_iter().enumerate() {
        lanes[index % threads].push(client);
    }
    for (thread, lane) in lanes.iter().enumerate() {
        let sessions = lane.iter().flat_map(|client| Role::ALL.map(|role| client.line(role))).flatten();
        let sessions = sessions.map(|line| &line.session);
        watchdog.watch(0, thread, sessions).map_err(watching)?;
    }
    watchdog.watch(1, 0, std::iter::once(&asker)).map_err(watching)?;
    let crew = Crew { shared, cpus: bench.client_cpus, plan: plan(shared), barrier: Barrier::new(threads) };
    let (questions, asked) = sync_channel(QUESTIONS_MAX);
    // Before this thread is pinned: what is begun here runs wherever it likes.
    tell(Moment::Begins);
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog.run(shared.stop));
        let asker = scope.spawn(move || answer(asker, shared, &asked));
        let mut lanes = lanes.into_iter();
        let own = lanes.next().expect("there is at least one thread");
        let others: Vec<_> = lanes
            .map(|lane| {
                let (crew, questions) = (&crew, questions.clone());
                scope.spawn(move || crew.run(lane, questions, None))
            })
            .collect();
        let mut runs = vec![crew.run(own, questions, Some(tell))];
        runs.extend(others.into_iter().map(|thread| thread.join().expect("a lane does not panic")));
        tell(Moment::Ended);
        let answers = asker.join().expect("the asker does not panic");
        watchdog.end();
        Ok((runs.into_iter().collect::<Result<_, LoadError>>()?, answers))
    })
}

/// What the threads of a step need to begin together.
struct Crew<'a> {
    shared: &'a Shared<'a>,
    cpus: &'a [usize],
    plan: Option<Plan>,
    barrier: Barrier,
}

impl Crew<'_> {
    /// Runs a thread's clients from the common start to their end; the leader has somebody to tell.
    fn run(
        &self,
        mut clients: Vec<Client>,
        questions: SyncSender<(usize, Question)>,
        leader: Option<&dyn Fn(Moment)>,
    ) -> Result<LaneRun, LoadError> {
        let shared = self.shared;
        let pinned = Pinned::to(self.cpus, self.plan.is_some());
        if pinned.is_err() {
            shared.has_failed.store(true, Ordering::Relaxed);
        }
        if leader.is_some() {
            shared.start_ns.store(monotonic_ns(), Ordering::Relaxed);
        }
        self.barrier.wait();
        let pinned = pinned?;
        let start_ns = shared.start_ns.load(Ordering::Relaxed);
        clients.iter_mut().for_each(|client| client.begin(start_ns, self.plan.as_ref()));
        let tell = |now: u64, clients: &[Client]| {
            if let Some(tell) = leader {
                tell(Moment::Advances(far(shared, self.plan.as_ref(), now - start_ns, clients)));
            }
        };
        let tally = lane::run(&mut clients, shared, &questions, start_ns, tell);
        drop(pinned);
        Ok((clients, tally))
    }
}

fn watching(error: std::io::Error) -> LoadError {
    LoadError::System { doing: "watching the connections", error }
}

/// The plan of a step that has one.
fn plan(shared: &Shared<'_>) -> Option<Plan> {
    let (shape, step) = (shared.shape, shared.step);
    step.rate_per_s.map(|rate| Plan {
        gap_ns: f64::from(step.batch) * 1e9 / f64::from(rate),
        planned_ns: (step.rows as f64 * 1e9 / f64::from(rate)) as u64,
        clients: shape.clients,
        catch_up_ns: (shape.catch_up_seconds * 1e9) as u64,
    })
}

fn far(shared: &Shared<'_>, plan: Option<&Plan>, elapsed_ns: u64, clients: &[Client]) -> Progress {
    let rows = shared.step.rows_of(0, shared.shape.clients).max(1) * clients.len() as u64;
    let resolved: u64 = clients.iter().map(Client::rows_resolved).sum();
    let written = resolved as f64 / rows as f64;
    let done = match plan {
        Some(plan) => written.min(elapsed_ns as f64 / plan.planned_ns as f64),
        None => written,
    };
    Progress { seconds: elapsed_ns as f64 / 1e9, done: done.clamp(0.0, 1.0) }
}

/// Joins what the threads counted.
fn join(shared: &Shared<'_>, lanes: Vec<LaneRun>, answers: Answers) -> StepRun {
    let (shape, step) = (shared.shape, shared.step);
    let threads = lanes.len() as u32;
    let end_ns = lanes.iter().map(|(_, tally)| tally.end_ns).max().unwrap_or(0);
    let start_ns = shared.start_ns.load(Ordering::Relaxed);
    let seconds = (end_ns - start_ns) as f64 / 1e9;
    let (mut clients, mut tallies) = (Vec::new(), Vec::new());
    for (lane, tally) in lanes {
        clients.extend(lane);
        tallies.push(tally);
    }
    clients.sort_by_key(|client| client.number);
    let put_off_ns = clients.iter().map(Client::put_off_ns).max().unwrap_or(0);
    let failure = tallies.iter_mut().find_map(|tally| tally.failure.take()).or(answers.failure);
    let index_builds: Vec<_> =
        clients.iter_mut().flat_map(|client| std::mem::take(&mut client.inserter.built)).collect();
    let rows: Vec<_> = clients.into_iter().flat_map(|client| client.seconds.finish(end_ns)).collect();
    let inserts = operations(&tallies, Role::Insert);
    let target_per_s = step.rate_per_s.map(|rate| f64::from(rate) * f64::from(shape.clients));
    let [min_questions, max_questions] = answers.questions;
    let record = StepRecord {
        step: step.name.clone(),
        clients: shape.clients,
        threads,
        seconds,
        planned_seconds: plan(shared).map(|plan| plan.planned_ns as f64 / 1e9),
        deletes: operations(&tallies, Role::Delete),
        queries: operations(&tallies, Role::Query),
        rows_indexed: (step.kind == Kind::Index).then(|| shape.rows_loaded() + inserts.rows),
        index_builds,
        min_questions,
        max_questions,
        sla: target_per_s.map(|target_per_s| Sla { target_per_s, reached_per_s: inserts.rows as f64 / seconds }),
        inserts,
        deferred_seconds: put_off_ns as f64 / 1e9,
        errors: errors(&tallies),
        client_cpu_ns: tallies.iter().map(|tally| tally.cpu_ns).sum::<u64>() + answers.cpu_ns,
        failure,
        tables: Vec::new(),
    };
    StepRun { record, seconds: rows, latency: latency(&tallies) }
}

fn operations(tallies: &[Tally], role: Role) -> Operations {
    let mut joined = Operations::default();
    tallies.iter().for_each(|tally| joined.add(&tally.counts(role).operations));
    assert!(joined.accounting.is_balanced(), "{role:?}: {:?}", joined.accounting);
    joined
}

fn errors(tallies: &[Tally]) -> Vec<ErrorCount> {
    let mut joined: Vec<ErrorCount> = Vec::new();
    for error in tallies.iter().flat_map(Tally::errors) {
        match joined.iter_mut().find(|known| (&known.statement, &known.code) == (&error.statement, &error.code)) {
            Some(known) => known.count += error.count,
            None => joined.push(error.clone()),
        }
    }
    joined
}

fn latency(tallies: &[Tally]) -> Vec<(String, Histogram<u64>)> {
    let mut latencies = Vec::new();
    for role in [Role::Insert, Role::Delete, Role::Query] {
        let counts = tallies.iter().map(|tally| tally.counts(role));
        let response = joined(counts.clone().map(|counts| &counts.response));
        let from_plan = joined(counts.map(|counts| &counts.from_plan));
        latencies.push((role.name().to_owned(), response));
        latencies.push((format!("{}-from-plan", role.name()), from_plan));
    }
    latencies.retain(|(_, histogram)| !histogram.is_empty());
    latencies
}
