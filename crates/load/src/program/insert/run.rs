//! One step from connecting to its record, on one server or on several that take turns.
//!
//! In: endpoints, the shape, a step, what the steps before left. Out: a [`StepRun`] for each. All connections are made
//! and all statements prepared before the common start. A server that is lost is no error: the record says how far the
//! step came and why it ended.

use super::probes::{Probed, Requests, TableCell, answer};
use super::ready::Ready;
use super::roles::{DELETE, INSERT, KINDS, Noted, QUERY, Role};
use super::shared::{Bench, StepWork};
use super::step::StepWorkload;
use super::{State, sql, table};
use crate::drive::{ArmRun, ClientCpus, Exercise, Schedule, Slices, Span, Switch, Watchdog, monotonic_ns, run_to_end};
use crate::error::LoadError;
use crate::random::derive_seed;
use crate::session::connect;
use crate::test_run::Moment;
use hdrhistogram::Histogram;
use rqps_model::insert::{IdProbes, Kind, Operations, Sla, Step, StepRecord, TableIds};
use rqps_model::sample::{SecondRow, SessionPlacement};
use rqps_wire::{Endpoint, Session};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Requests that wait for an answer at most.
const REQUESTS_MAX: usize = 1024;

/// What a step did, with everything that was recorded.
#[derive(Debug, Clone)]
pub struct StepRun {
    /// The numbers.
    pub record: StepRecord,
    /// A row for each second of each kind and client, by client, kind and second.
    pub seconds: Vec<SecondRow>,
    /// `insert`, `delete`, `query`, and from the planned moment `insert-from-plan`, `delete-from-plan`; only those that
    /// the step has.
    pub latency: Vec<(String, Histogram<u64>)>,
    /// Where its sessions were, if they were placed.
    pub placement: Option<SessionPlacement>,
    /// When the server worked, in nanoseconds of the machine's monotonic clock, if that was to be kept.
    pub counted: Vec<Range<u64>>,
}

/// Runs one step on one server. `state` is what the step before left; if it knows nothing, it is read from the server.
/// What `hook` reads at start and stop belongs to the step and to nothing else: neither connecting nor looking at the
/// tables lies between them; in between it hears about once a second how far the step has come.
pub fn run_step(
    bench: &Bench<'_>,
    step: &Step,
    state: &mut State,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<StepRun, LoadError> {
    let mut runs = run_side_by_side(std::slice::from_ref(bench), step, &mut [state], stop, hook)?;
    runs.pop().unwrap_or_else(|| Err(LoadError::Shape("a step needs a server".to_owned())))
}

/// Runs one step on several servers, which take turns and differ in nothing else; a state for each. Rows are written in
/// equal shares, so that servers alternate on the same rows at the same age of the table; what goes by the clock, and
/// the building of indexes, alternates by each server's own time. A server that cannot be prepared fails alone.
pub fn run_side_by_side(
    benches: &[Bench<'_>],
    step: &Step,
    states: &mut [&mut State],
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<Result<StepRun, LoadError>>, LoadError> {
    let mut outcomes: Vec<Option<LoadError>> = Vec::new();
    let (mut places, mut prepared) = (Vec::new(), Vec::new());
    for (place, (bench, state)) in benches.iter().zip(states.iter_mut()).enumerate() {
        outcomes.push(match prepare(bench, step, state) {
            Ok(one) => {
                places.push(place);
                prepared.push(one);
                None
            }
            Err(error) => Some(error),
        });
    }
    let (probers, tables): (Vec<Session>, Vec<Vec<TableCell>>) = prepared.into_iter().unzip();
    let works: Vec<StepWork<'_>> =
        places.iter().zip(&tables).map(|(place, tables)| StepWork::new(&benches[*place], step, tables, stop)).collect();
    let ready = Ready { places, server_side: benches.first().and_then(|bench| bench.cpus.server_side) };
    let mut of_all = |moment| hook(ready.moment(moment));
    let mut runs = drive(&works, probers, &ready, stop, &mut of_all)?.into_iter();
    let outcome = |(place, error): (usize, Option<LoadError>)| match error {
        Some(error) => Err(error),
        None => runs.next().expect("a run for each work")?.with_tables(&benches[place], states[place]),
    };
    Ok(outcomes.into_iter().enumerate().map(outcome).collect())
}

/// Makes what a server needs before the step; from then on its tables change, and should anything fail, their ids are
/// read anew.
fn prepare(bench: &Bench<'_>, step: &Step, state: &mut State) -> Result<(Session, Vec<TableCell>), LoadError> {
    let shape = bench.shape;
    shape.check()?;
    if step.kind == Kind::Load {
        table::create(bench.endpoint, shape, bench.storage())?;
        *state = State::new();
    }
    if !state.fits(shape) {
        *state = State::read(bench.endpoint, shape)?;
    }
    let deleters = if shape.shared_table { shape.clients } else { 1 };
    let cell = |(index, ids): (usize, &TableIds)| {
        TableCell::new(sql::table_name(index), ids.oldest, ids.newest, deleters, step.batch)
    };
    let tables = state.tables.iter().enumerate().map(cell).collect();
    let prober = connect(bench.endpoint)?;
    state.tables.clear();
    Ok((prober, tables))
}

impl StepRun {
    /// With what the tables hold afterwards, which is also what the next step begins with.
    fn with_tables(mut self, bench: &Bench<'_>, state: &mut State) -> Result<StepRun, LoadError> {
        if self.record.failure.is_none() {
            match State::read(bench.endpoint, bench.shape) {
                Ok(read) => *state = read,
                Err(error) => self.record.failure = Some(format!("after the step: {error}")),
            }
        }
        self.record.tables.clone_from(&state.tables);
        Ok(self)
    }
}

/// Runs the clients, and beside them the sessions that ask for ids.
fn drive(
    works: &[StepWork<'_>],
    probers: Vec<Session>,
    ready: &Ready<'_>,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<Result<StepRun, LoadError>>, LoadError> {
    let watchdog = Watchdog::default();
    for (arm, prober) in probers.iter().enumerate() {
        let watched = watchdog.watch(arm, 0, std::iter::once(prober));
        watched.map_err(|error| LoadError::System { doing: "watching the connections", error })?;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog.run(stop));
        let _end = watchdog.end_of_watch();
        let (mut requests, mut threads) = (Vec::new(), Vec::new());
        for (work, prober) in works.iter().zip(probers) {
            let (sender, requested) = sync_channel(REQUESTS_MAX);
            requests.push(sender);
            threads.push(
                scope.spawn(move || answer(prober, &work.clock, work.tables, &|reason| work.fail(reason), &requested)),
            );
        }
        let outcome = drive_clients(works, requests, ready, stop, hook);
        // The last senders are gone by now, and with them the probers.
        let probed: Vec<Probed> =
            threads.into_iter().map(|thread| thread.join().expect("the prober does not panic")).collect();
        let with_probes = |(run, probed): (Result<StepRun, LoadError>, Probed)| {
            let mut run = run?;
            [run.record.min_probes, run.record.max_probes] = probed.by_id;
            run.record.client_cpu_ns += probed.cpu_ns;
            Ok(run)
        };
        Ok(outcome?.into_iter().zip(probed).map(with_probes).collect())
    })
}

fn drive_clients(
    works: &[StepWork<'_>],
    requests: Vec<Requests>,
    ready: &Ready<'_>,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<Result<StepRun, LoadError>>, LoadError> {
    let [first, ..] = works else { return Ok(Vec::new()) };
    let (bench, step) = (first.bench, first.step);
    let endpoints: Vec<Endpoint> = works.iter().map(|work| work.bench.endpoint.clone()).collect();
    let (schedule, seed) = (Schedule::one_slice(Duration::from_secs(1)), derive_seed(bench.seed, &step.name));
    // Nobody takes rows of seconds: sessions keep rows of their own.
    let exercise = Exercise {
        threads: bench.threads as u32,
        cpus: ClientCpus { server_side: ready.server_side.and(Some(ready)), ..bench.cpus },
        keeps_spans: bench.keeps_spans,
        ..Exercise::new(&endpoints, bench.shape.clients, schedule, seed)
    };
    let workload = StepWorkload { works, requests };
    let hook = RefCell::new(hook);
    let mut on_switch = |switch: Switch| {
        if let Switch::Leave { arm, .. } = switch {
            works[arm].clock.stop(monotonic_ns());
        }
        (hook.borrow_mut())(switch.into());
        if let Switch::Enter { arm, .. } = switch {
            works[arm].clock.go_on(monotonic_ns());
        }
        Ok(())
    };
    let done = RefCell::new(vec![0.0; works.len()]);
    let tick = |arm: usize, seconds: f64| {
        let mut done = done.borrow_mut();
        done[arm] = works[arm].done(seconds);
        (hook.borrow_mut())(Moment::Advance(done.iter().sum::<f64>() / done.len() as f64));
    };
    let shares = Shares::new(works);
    let hand_out = |longest| shares.next(longest);
    let slices = match step.kind {
        _ if works.len() == 1 => Slices::Whole,
        Kind::Load | Kind::Churn => Slices::Shares(&hand_out),
        Kind::Index | Kind::RangeQueries | Kind::PointQueries => Slices::OwnTime(bench.slice),
    };
    let has_plan = first.planned_ns.is_some();
    let ended = run_to_end(&exercise, &workload, has_plan, (Span::WHOLE, slices), &mut on_switch, stop, &tick)?;
    if stop.load(Ordering::Relaxed) {
        return Err(LoadError::Interrupted);
    }
    let joined = works.iter().zip(ended).map(|(work, (arm, roles))| match &arm.failure {
        Some(failure) if arm.seconds == 0.0 => Err(LoadError::Lost(failure.clone())),
        _ => Ok(join(work, arm, roles, exercise.threads_used())),
    });
    Ok(joined.collect())
}

/// The rows of a step in equal shares to all servers, of about a slice each on the slowest.
struct Shares<'a> {
    works: &'a [StepWork<'a>],
    rows: Cell<u64>,
    handed_out: Cell<u64>,
}

impl<'a> Shares<'a> {
    fn new(works: &'a [StepWork<'a>]) -> Shares<'a> {
        let least = works.first().map_or(1, Shares::least);
        Shares { works, rows: Cell::new(4 * least), handed_out: Cell::new(0) }
    }

    /// A statement of every client.
    fn least(work: &StepWork<'_>) -> u64 {
        u64::from(work.step.batch) * u64::from(work.bench.shape.clients)
    }

    /// Hands out the next share, and says whether it is the last.
    fn next(&self, longest: Option<Duration>) -> bool {
        let Some(first) = self.works.first() else { return true };
        if let Some(longest) = longest {
            let factor = first.bench.slice.as_secs_f64() / longest.as_secs_f64().max(1e-6);
            let least = Shares::least(first);
            let rows = (self.rows.get() as f64 * factor.clamp(0.5, 2.0) / least as f64).round() as u64;
            self.rows.set(rows.max(1) * least);
        }
        let all: u64 = first.step.rows * u64::from(first.bench.shape.clients);
        let until = self.handed_out.get() + self.rows.get();
        // A rest shorter than half a share goes with it.
        let is_last = until + self.rows.get() / 2 >= all;
        self.handed_out.set(until);
        self.works.iter().for_each(|work| work.allow(if is_last { u64::MAX } else { until }));
        is_last
    }
}

/// Makes the record of what was counted.
fn join(work: &StepWork<'_>, arm: ArmRun, roles: Vec<Role<'_>>, threads: u32) -> StepRun {
    let (shape, step) = (work.bench.shape, work.step);
    let seconds = arm.seconds;
    let mut by_kind: [Operations; 3] = Default::default();
    for kind in [INSERT, DELETE, QUERY] {
        by_kind[kind].accounting = arm.events[kind].accounting;
        by_kind[kind].rows = arm.events[kind].rows;
    }
    let (mut rows, mut index_builds) = (Vec::with_capacity(roles.len()), Vec::new());
    for mut role in roles {
        let (client, kind) = (role.client(), role.kind());
        let operations = &mut by_kind[kind];
        let noted: Noted = role.into_noted();
        operations.accounting.scheduled += noted.skipped;
        operations.accounting.skipped += noted.skipped;
        operations.rows_unknown += noted.rows_unknown;
        operations.response.add(&noted.response);
        operations.from_plan.add(&noted.from_plan);
        index_builds.extend(noted.built);
        let machine_second = |second| work.clock.machine_second(second);
        rows.push(noted.seconds.finish(client, KINDS[kind], seconds, machine_second));
    }
    rows.sort_by_key(|rows| rows.first().and_then(|row| row.client));
    let [inserts, deletes, queries] = by_kind;
    for operations in [inserts, deletes, queries] {
        assert!(operations.accounting.is_balanced(), "{:?}", operations.accounting);
    }
    let target_per_s = step.rate_per_s.map(|rate| f64::from(rate) * f64::from(shape.clients));
    let latency = latency(&arm);
    let record = StepRecord {
        step: step.name.clone(),
        clients: shape.clients,
        threads,
        seconds,
        planned_seconds: work.planned_ns.map(|planned_ns| planned_ns as f64 / 1e9),
        inserts,
        deletes,
        queries,
        rows_indexed: (step.kind == Kind::Index).then(|| shape.rows_loaded() + inserts.rows),
        index_builds,
        min_probes: IdProbes::default(),
        max_probes: IdProbes::default(),
        sla: target_per_s.map(|target_per_s| Sla { target_per_s, reached_per_s: inserts.rows as f64 / seconds }),
        deferred_seconds: arm.deferred_ns as f64 / 1e9,
        errors: arm.errors,
        client_cpu_ns: arm.client_cpu_ns,
        failure: work.take_failure().or(arm.failure),
        tables: Vec::new(),
    };
    StepRun { record, seconds: rows.concat(), latency, placement: arm.placement, counted: arm.counted }
}

fn latency(arm: &ArmRun) -> Vec<(String, Histogram<u64>)> {
    let mut latencies = Vec::new();
    for events in [INSERT, DELETE, QUERY].map(|kind| &arm.events[kind]) {
        latencies.push((events.name.clone(), events.response.clone()));
        latencies.push((format!("{}-from-plan", events.name), events.from_plan.clone()));
    }
    latencies.retain(|(_, histogram)| !histogram.is_empty());
    latencies
}
