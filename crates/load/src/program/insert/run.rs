//! One step from connecting to its record.
//!
//! In: an endpoint, the shape, a step, what the steps before left. Out: a [`StepRun`]. All connections are made and all
//! statements prepared before the common start. A server that is lost is no error: the record says how far the step
//! came and why it ended.

use super::probes::{Requests, TableCell, answer};
use super::roles::{DELETE, INSERT, KINDS, Noted, QUERY, Role};
use super::shared::{Bench, StepWork};
use super::step::StepWorkload;
use super::{State, sql, table};
use crate::drive::{ArmRun, Exercise, Schedule, Switch, Watchdog, run_to_end};
use crate::error::LoadError;
use crate::random::derive_seed;
use crate::session::connect;
use crate::test_run::Moment;
use hdrhistogram::Histogram;
use rqps_model::insert::{IdProbes, Kind, Operations, Sla, Step, StepRecord, TableIds};
use rqps_model::plan::Arrival;
use rqps_model::sample::{SecondRow, SessionPlacement};
use rqps_wire::Session;
use std::cell::RefCell;
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
}

/// Runs one step. `state` is what the step before left; if it knows nothing, it is read from the server. What `hook`
/// reads at start and stop belongs to the step and to nothing else: neither connecting nor looking at the tables lies
/// between them; in between it hears about once a second how far the step has come.
pub fn run_step(
    bench: &Bench<'_>,
    step: &Step,
    state: &mut State,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<StepRun, LoadError> {
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
    let tables: Vec<TableCell> = state.tables.iter().enumerate().map(cell).collect();
    let work = StepWork::new(bench, step, &tables, stop);
    let prober = connect(bench.endpoint)?;
    // From here on the tables change; should anything fail, their ids are read anew.
    state.tables.clear();
    let mut run = drive(&work, prober, hook)?;
    if run.record.failure.is_none() {
        match State::read(bench.endpoint, shape) {
            Ok(read) => *state = read,
            Err(error) => run.record.failure = Some(format!("after the step: {error}")),
        }
    }
    run.record.tables.clone_from(&state.tables);
    Ok(run)
}

/// Runs the clients, and beside them the session that asks for ids.
fn drive(work: &StepWork<'_>, prober: Session, hook: &mut dyn FnMut(Moment)) -> Result<StepRun, LoadError> {
    let StepWork { bench, step, stop, .. } = *work;
    let exercise = Exercise {
        arms: std::slice::from_ref(bench.endpoint),
        clients: bench.shape.clients,
        threads: bench.threads as u32,
        cpus: bench.cpus,
        schedule: Schedule::one_slice(Duration::from_secs(1)),
        arrival: Arrival::Closed,
        seed: derive_seed(bench.seed, &step.name),
    };
    let watchdog = Watchdog::default();
    let watched = watchdog.watch(0, 0, std::iter::once(&prober));
    watched.map_err(|error| LoadError::System { doing: "watching the connections", error })?;
    let (requests, requested) = sync_channel(REQUESTS_MAX);
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog.run(stop));
        let prober = scope.spawn(move || answer(prober, work.tables, &|reason| work.fail(reason), &requested));
        let outcome = drive_clients(&exercise, work, requests, hook);
        // The last sender is gone by now, and with it the prober.
        let probed = prober.join().expect("the prober does not panic");
        watchdog.end();
        let (mut run, threads) = outcome?;
        let [min_probes, max_probes] = probed.by_id;
        run.record = StepRecord { min_probes, max_probes, threads, ..run.record };
        run.record.client_cpu_ns += probed.cpu_ns;
        Ok(run)
    })
}

fn drive_clients(
    exercise: &Exercise<'_>,
    work: &StepWork<'_>,
    requests: Requests,
    hook: &mut dyn FnMut(Moment),
) -> Result<(StepRun, u32), LoadError> {
    let workload = StepWorkload { work, requests };
    let hook = RefCell::new(hook);
    let mut on_switch = |switch| {
        let mut hook = hook.borrow_mut();
        match switch {
            Switch::Enter { arm, .. } => {
                hook(Moment::Start);
                hook(Moment::Enter(arm));
            }
            Switch::Leave { arm, .. } => {
                hook(Moment::Leave(arm));
                hook(Moment::Stop);
            }
        }
        Ok(())
    };
    let tick = |seconds| (hook.borrow_mut())(Moment::Advance(work.done(seconds)));
    let has_plan = work.planned_ns.is_some();
    let (arm, roles) = run_to_end(exercise, &workload, has_plan, &mut on_switch, work.stop, &tick)?;
    if work.stop.load(Ordering::Relaxed) {
        return Err(LoadError::Interrupted);
    }
    Ok((join(work, arm, roles), exercise.threads_used()))
}

/// Makes the record of what was counted.
fn join(work: &StepWork<'_>, arm: ArmRun, roles: Vec<Role<'_>>) -> StepRun {
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
        rows.push(noted.seconds.finish(client, KINDS[kind], seconds));
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
        threads: 0,
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
    StepRun { record, seconds: rows.concat(), latency, placement: arm.placement }
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
