//! One test on all arms: everything that is read before and after, the contest itself, and its samples published.
//!
//! In: arms with running servers. Out: one published sample a treatment, also where the treatment failed; of a test that is
//! run again for its data, none. In turns the idle servers are frozen.

use crate::ConductError;
use crate::arm::{Arm, Connection, observed};
use crate::cells::server_start;
use crate::job::Job;
use rqps_load::LoadError;
use rqps_load::plan_capture::plan_capture;
use rqps_load::random::derive_seed;
use rqps_load::timed::{ArmRun, Contest, Phase, Schedule, Switch, run};
use rqps_model::facts::{SettingsFacts, StatementPlan};
use rqps_model::plan::{Round, TestPlan};
use rqps_model::sample::{Accounting, KindCounts, Resources, Score};
use rqps_model::settings::CpuSet;
use rqps_model::{Interleave, Part, Sample, StorageEngine, part};
use rqps_observe::clock::rfc3339;
use rqps_observe::{ClientProbe, CountersProbe, HostProbe, Probes, ProcessProbe};
use rqps_server::{Server, placement};
use rqps_store::{EVENT, SampleParts, StoreError, Writer, latency_part};
use rqps_suites::Test;
use rqps_wire::Endpoint;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// Left out of the count at the beginning of each slice: throughput is 12 % lower in the first millisecond after a
/// switch and level from the second on (docs/measurement.md).
const LEAD_IN: Duration = Duration::from_millis(1);

/// A connection has a speed of its own, some tenths of a percent off; many of them average that out.
const SESSION_LIFE: Duration = Duration::from_millis(500);

/// Turns that a test is cut into, as far as they stay between these lengths.
const TURNS: f64 = 4.0;
const TURN_SECONDS_MIN: f64 = 1.0;
const TURN_SECONDS_MAX: f64 = 60.0;

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) round: &'a Round,
    pub(crate) test: &'a TestPlan,
    pub(crate) clients: u32,
    /// CPUs that may be used.
    pub(crate) cpus: &'a [usize],
}

/// An arm that takes part: its index among the round's arms and what is observed of it.
struct Entrant {
    arm: usize,
    endpoint: Endpoint,
    probes: Probes,
    /// This round's plans where they differ from those kept for the treatment.
    plans: Vec<StatementPlan>,
}

/// What became of an entrant in a contest.
struct Fought {
    entrant: Entrant,
    run: ArmRun,
}

/// A server in a contest.
struct Rival<'a> {
    server: &'a mut Server,
    probes: &'a mut Probes,
    storage: Option<StorageEngine>,
    data: &'a Path,
}

/// Measures a test on all arms, publishes the samples, and returns the throughputs in plan order.
pub(crate) fn measure(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    store: &mut Writer,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<Option<f64>>, ConductError> {
    let Piece { job, round, test, clients, .. } = *piece;
    let workload = workload(piece)?;
    for treatment in &job.plan.treatments {
        // A killed campaign may have published those of some treatments only.
        store.withdraw(round.number, &treatment.name, &test.name, clients)?;
    }
    let started_at = rfc3339(SystemTime::now());
    let mut told = fight(piece, workload, arms, store, stop, progress)?.into_iter().peekable();
    let mut throughputs = vec![None; arms.len()];
    for (index, arm) in arms.iter_mut().enumerate() {
        let factor = workload.unit_per_operation(job.plan.suite.data(), clients);
        let base = blank_sample(piece, factor, arm, store.host_id(), &started_at);
        let parts = match told.next_if(|fought| fought.entrant.arm == index) {
            Some(fought) => finish(base, arm, fought)?,
            None => failed(base, arm),
        };
        throughputs[index] = parts.sample.throughput();
        store.publish(&parts)?;
    }
    Ok(throughputs)
}

/// Runs a test on all arms for what it leaves behind. Nothing is recorded; where it fails, the next sample says so.
pub(crate) fn repeat(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    store: &Writer,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Result<(), ConductError> {
    let told = fight(piece, workload(piece)?, arms, store, stop, progress)?;
    for Fought { entrant, run, .. } in told {
        if let Some(failure) = run.failure {
            let arm = &mut arms[entrant.arm];
            arm.notice_death();
            arm.fail(failure);
        }
    }
    for arm in arms.iter_mut().filter(|arm| arm.takes_part) {
        arm.undone.clear();
        if let Some(failure) = &arm.failure {
            let Piece { test, .. } = piece;
            arm.undone.push(format!("{}, run again before it for its data, failed: {failure}", test.name));
        }
    }
    Ok(())
}

/// The statements of a test.
fn workload<'a>(piece: &Piece<'a>) -> Result<&'a Test, ConductError> {
    let name = &piece.test.name;
    let suite = piece.job.suites.iter().find(|suite| suite.name == piece.job.plan.suite.name());
    let found = suite.and_then(|suite| suite.test(name));
    found.ok_or_else(|| ConductError::UnknownTest(name.clone()))
}

/// Runs a test on all arms that have a server; what it came to, in the order of arms.
fn fight(
    piece: &Piece<'_>,
    workload: &Test,
    arms: &mut [Arm<'_>],
    store: &Writer,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<Fought>, ConductError> {
    let Piece { job, round, test, clients, .. } = *piece;
    let (server_cpus, client_cpus) =
        placement::choose(job.plan.placement, piece.cpus, clients).map_err(ConductError::server("choosing CPUs"))?;
    let mut entrants = Vec::new();
    for (index, arm) in arms.iter_mut().enumerate() {
        arm.notice_death();
        if arm.server.is_some() {
            match enter(piece, index, arm, workload, &server_cpus, &client_cpus, store) {
                Ok(entrant) => entrants.push(entrant),
                Err(ConductError::Store(error)) => return Err(error.into()),
                // A server that cannot even be asked fails this test, and the others go on.
                Err(error) => arm.failure = Some(error.to_string()),
            }
        }
    }

    let endpoints: Vec<Endpoint> = entrants.iter().map(|entrant| entrant.endpoint.clone()).collect();
    let contest = Contest {
        test: workload,
        data: job.plan.suite.data(),
        arms: &endpoints,
        clients,
        threads: (client_cpus.len() as u32).min(clients),
        client_cpus: &client_cpus,
        schedule: schedule(job.plan, test),
        arrival: job.plan.arrival,
        seed: derive_seed(round.seed, &format!("{}.c{clients}", test.name)),
    };
    if entrants.is_empty() {
        return Ok(Vec::new());
    }
    let runs = contend(&contest, test.interleave, &mut entrants, arms, stop, progress)?;
    Ok(entrants.into_iter().zip(runs).map(|(entrant, run)| Fought { entrant, run }).collect())
}

/// Slices as planned, or turns: long slices with new sessions each.
fn schedule(plan: &rqps_model::Plan, test: &TestPlan) -> Schedule {
    let slice = match test.interleave {
        Some(Interleave::Slices) => Duration::from_secs_f64(plan.slice_ms / 1e3),
        _ => {
            let turn = (test.seconds / TURNS).clamp(TURN_SECONDS_MIN, TURN_SECONDS_MAX);
            // The turns' counted parts make up the test's seconds; were they short of it, one more turn would follow.
            Duration::from_secs_f64(test.seconds / (test.seconds / turn).ceil()) + LEAD_IN
        }
    };
    Schedule {
        seconds: test.seconds,
        warmup_seconds: plan.warmup_seconds,
        slice,
        lead_in: LEAD_IN.min(slice / 4),
        session_life: SESSION_LIFE.max(slice),
    }
}

/// How often an arm is visited until it has its counted seconds.
fn visits(schedule: &Schedule) -> f64 {
    (schedule.seconds / (schedule.slice - schedule.lead_in).as_secs_f64()).round().max(1.0)
}

/// Places the server, keeps settings and plans the first time, and reads what will be compared afterwards. Plans are read
/// each time: the planner may decide otherwise in another round.
fn enter(
    piece: &Piece<'_>,
    index: usize,
    arm: &mut Arm<'_>,
    workload: &Test,
    server_cpus: &CpuSet,
    client_cpus: &CpuSet,
    store: &Writer,
) -> Result<Entrant, ConductError> {
    let name = arm.name().to_owned();
    let about = |doing: &str| format!("{doing} {name}");
    let server = arm.server.as_ref().expect("only arms with a server enter");
    let placed = server.set_cpus(server_cpus).map_err(ConductError::server(about("placing")))?;
    let endpoint = server.endpoint();
    if store.settings(&name)?.is_none() {
        let facts = arm.contestant.settings(server)?;
        let Connection { storage_engine, transport } = arm.contestant.connection(&endpoint)?;
        let (server_cpus, client_cpus) = (placed, client_cpus.clone());
        let facts = SettingsFacts { server_cpus, client_cpus, storage_engine, transport, ..facts };
        store.write_settings(&name, &facts)?;
    }
    let plans = plan_capture(server.target(), workload, piece.job.plan.suite.data())
        .map_err(ConductError::load(about("keeping the plans of")))?;
    let plans = kept_beside(store, &name, &piece.test.name, plans)?;
    let mut probes = Probes(vec![
        Box::new(CountersProbe::default()),
        Box::new(ProcessProbe::from_begin()),
        Box::new(HostProbe::open(&arm.data)?),
        Box::new(ClientProbe::open()?),
    ]);
    observed(server, arm.contestant.plan.storage, &arm.data, |it| probes.begin(it));
    Ok(Entrant { arm: index, endpoint, probes, plans })
}

/// Keeps a test's plans for its treatment the first time; of later ones, those that differ in any word and so belong beside
/// the sample.
pub(crate) fn kept_beside(
    store: &Writer,
    treatment: &str,
    test: &str,
    plans: Vec<StatementPlan>,
) -> Result<Vec<StatementPlan>, StoreError> {
    match store.plans(treatment, test)? {
        Some(kept) if kept == plans => Ok(Vec::new()),
        Some(_) => Ok(plans),
        None => store.write_plans(treatment, test, &plans).map(|()| Vec::new()),
    }
}

/// A round's plans as a part of its sample, if they are others than those kept.
pub(crate) fn plans_part(plans: &[StatementPlan]) -> Option<Part> {
    (!plans.is_empty()).then(|| Part::json(part::PLANS, plans))
}

/// Runs the contest with probes at every switch; in turns, idle servers are frozen.
fn contend(
    contest: &Contest<'_>,
    interleave: Option<Interleave>,
    entrants: &mut [Entrant],
    arms: &mut [Arm<'_>],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<ArmRun>, ConductError> {
    let progress = RefCell::new(progress);
    let turns = visits(&contest.schedule) * entrants.len() as f64;
    let mut entrants = entrants.iter_mut().peekable();
    let rivals = arms.iter_mut().enumerate().filter_map(|(index, arm)| {
        let entrant = entrants.next_if(|entrant| entrant.arm == index)?;
        Some(Rival::of(arm, &mut entrant.probes).expect("an entrant has a server"))
    });
    let rivals: RefCell<Vec<Rival<'_>>> = RefCell::new(rivals.collect());
    // A server that died cannot be frozen; the contest finds that out by itself and goes on with the rest.
    let freezes = interleave == Some(Interleave::Turns);
    if freezes {
        rivals.borrow_mut().iter_mut().for_each(|rival| _ = rival.server.freeze());
    }
    let mut turns_done = 0.0;
    let mut hook = |switch: Switch| -> Result<(), LoadError> {
        match switch {
            Switch::Enter { arm, .. } => {
                let rival = &mut rivals.borrow_mut()[arm];
                if freezes {
                    let _ = rival.server.thaw();
                }
                rival.probes.enter();
            }
            Switch::Leave { arm, phase } => {
                let rival = &mut rivals.borrow_mut()[arm];
                rival.probes.leave();
                if freezes {
                    let _ = rival.server.freeze();
                }
                // A cycle of turns may take many minutes, and is told of at its end only.
                if freezes && phase == Phase::Counted {
                    turns_done += 1.0;
                    (progress.borrow_mut())(f64::min(turns_done / turns, 1.0));
                }
            }
        }
        Ok(())
    };
    let advances = |fraction: f64| {
        if fraction >= 1.0 {
            // All is counted, and the sessions are still there: when they end, so do PostgreSQL's processes.
            rivals.borrow_mut().iter_mut().for_each(Rival::stop_probes);
        }
        (progress.borrow_mut())(fraction);
    };
    let runs = run(contest, &mut hook, stop, &advances);
    let mut rivals = rivals.into_inner();
    if freezes {
        rivals.iter_mut().for_each(|rival| _ = rival.server.thaw());
    }
    runs.map_err(ConductError::load(format!("driving {}", contest.test.name)))
}

impl<'a> Rival<'a> {
    fn of(arm: &'a mut Arm<'_>, probes: &'a mut Probes) -> Option<Rival<'a>> {
        Some(Rival { server: arm.server.as_mut()?, probes, storage: arm.contestant.plan.storage, data: &arm.data })
    }

    fn stop_probes(&mut self) {
        observed(self.server, self.storage, self.data, |it| self.probes.stop(it));
    }
}

/// A sample with all that is known before anything ran.
pub(crate) fn blank_sample(piece: &Piece<'_>, factor: f64, arm: &Arm<'_>, host: &str, started_at: &str) -> Sample {
    let Piece { job, round, test, clients, .. } = *piece;
    Sample {
        round: round.number,
        treatment: arm.name().to_owned(),
        suite: job.plan.suite.name().to_owned(),
        test: test.name.clone(),
        clients,
        started_at: started_at.to_owned(),
        interleave: test.interleave,
        server_start: server_start(round.number, arm.starts, job.resumed),
        data_copy: arm.copy.clone(),
        host: host.to_owned(),
        score: Score { unit: test.unit, count: 0, factor },
        ..Sample::default()
    }
}

/// The sample of an arm that ran, with everything that is read afterwards.
fn finish(base: Sample, arm: &mut Arm<'_>, fought: Fought) -> Result<SampleParts, StoreError> {
    let Fought { entrant, run } = fought;
    arm.notice_death();
    let mut sample = Sample {
        score: Score { count: run.operations, ..base.score },
        kinds: kinds(&run),
        rows: run.rows,
        busy_ns: run.busy_ns,
        seconds: run.seconds,
        sessions: run.sessions,
        batch_scheduling: run.is_patient,
        accounting: run.accounting,
        errors: run.errors,
        resources: Resources { operations: run.operations_total, ..Resources::default() },
        warnings: std::mem::take(&mut arm.undone),
        ..base
    };
    let mut parts = arm.end(entrant.probes, &mut sample);
    if arm.starts > 1 {
        let again = "the server had died before in this round and was started again on the same data";
        sample.warnings.push(again.to_owned());
    }
    sample.failure = run.failure.map(|failure| arm.fail(failure));
    parts.push(Part::json(part::SLICES, &run.slices));
    parts.push(Part::lines(part::INTERVALS, &run.intervals));
    parts.push(latency_part(&run.latency.into_iter().collect(), sample.seconds)?);
    parts.extend(plans_part(&entrant.plans));
    Ok(SampleParts { sample, parts })
}

/// What became of each kind of statement, and of whole events.
fn kinds(run: &ArmRun) -> Vec<KindCounts> {
    let Accounting { succeeded, failed, retried, .. } = run.accounting;
    let event = KindCounts { name: EVENT.to_owned(), done: succeeded, failed, retried: Some(retried) };
    let statements = run.latency.iter().filter(|(name, _)| !name.starts_with(EVENT)).map(|(name, latency)| {
        let errors = run.errors.iter().filter(|error| error.statement == *name);
        let failed = errors.map(|error| error.count).sum();
        KindCounts { name: name.clone(), done: latency.len(), failed, retried: None }
    });
    statements.chain([event]).collect()
}

/// The sample of an arm that had no server: complete, with the reason in place of numbers.
pub(crate) fn failed(base: Sample, arm: &Arm<'_>) -> SampleParts {
    let failure = arm.failure.clone().unwrap_or_else(|| "the server could not be asked".to_owned());
    SampleParts::of(Sample { failure: Some(failure), ..base })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scene, plan, test};
    use rqps_model::plan::{DataShape, Stage, SuitePlan};

    fn scheduled(interleave: Interleave, seconds: f64) -> Schedule {
        schedule(&plan(&["a"], 0), &test("scan", interleave, seconds))
    }

    #[test]
    fn turns_make_up_the_tests_seconds() {
        for (seconds, turns) in [(0.3, 1.0), (1.0, 1.0), (1.5, 2.0), (10.0, 4.0), (200.0, 4.0), (600.0, 10.0)] {
            let schedule = scheduled(Interleave::Turns, seconds);
            let counted = (schedule.slice - schedule.lead_in).as_secs_f64() * turns;
            assert!((counted - seconds).abs() < 1e-6 && counted + 1e-6 >= seconds, "{seconds} s: {counted}");
            assert_eq!(visits(&schedule), turns);
        }
        assert_eq!(scheduled(Interleave::Slices, 5.0).slice, Duration::from_millis(10));
    }

    #[test]
    fn what_a_server_used_is_read_while_its_sessions_are_there() {
        const CLIENTS: [u32; 2] = [1, 9];
        for interleave in [Interleave::Slices, Interleave::Turns] {
            let mut plan = plan(&["a", "b"], 0);
            // Longer than a session lives.
            let data = DataShape { tables: 1, rows: 1000 };
            let tests = vec![test("point-query", interleave, 1.0)];
            plan.suite = SuitePlan::Sysbench(data);
            plan.stages = vec![Stage::side_by_side(data, CLIENTS.to_vec(), tests)];
            plan.warmup_seconds = 0.0;
            let scene = Scene::new(plan);
            let mut store = scene.create();
            scene.run(&mut store, &AtomicBool::new(false), &mut |_| ()).expect("measured");
            let samples = store.samples().expect("whole");
            let of = |name: &str, clients: u32| {
                let is_it = |s: &&Sample| s.treatment == name && s.clients == clients;
                samples.iter().map(|folder| &folder.sample).find(is_it).expect("measured")
            };
            for name in ["a", "b"] {
                let [few, many] = CLIENTS.map(|clients| of(name, clients));
                let of_server = |sample: &Sample| sample.resources.server;
                // Eight sessions more, and up to three workers of autovacuum in either.
                let [few_processes, many_processes] = [few, many].map(|sample| of_server(sample).processes);
                assert!(many_processes + 3 >= few_processes + 8, "{interleave:?} {name}: {many:?} {few:?}");
                for sample in [few, many] {
                    let Resources { host, server, operations, .. } = sample.resources;
                    let what = format!("{interleave:?} {name}, {} clients: {:?}", sample.clients, sample.resources);
                    assert_eq!(sample.failure, None, "{what}");
                    assert!(host.page_faults > 0, "{what}");
                    // Ten microseconds a statement is what the fastest of servers needs.
                    let server_s = server.cpu_user_s + server.cpu_system_s;
                    assert!(
                        server_s > operations as f64 * 5e-6 && server_s < 2.0 * host.seconds * f64::from(host.cpus),
                        "{what}"
                    );
                }
            }
        }
    }
}
