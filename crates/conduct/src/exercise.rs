//! The one file that knows `load`: what a test of the plan is there, how it is run, and what came of it as a sample.
//!
//! In: a plan's test at a number of clients, endpoints, and hooks for the moments of the run. Out: for each arm what
//! becomes of its sample. It asks which suite the plan has; the rest of this crate does not.

use crate::ConductError;
use crate::run::Job;
use rqps_load::LoadError;
use rqps_load::drive::{self, ArmRun, Phase, Schedule, Switch, run};
use rqps_load::insert::{Bench, State, StepRun, count_rows, run_step, statement_plans};
use rqps_load::plan_capture::plan_capture;
use rqps_load::program::sysbench::Statements;
use rqps_load::random::derive_seed;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Kind, Operations, Shape, Step, StepRecord, steps};
use rqps_model::plan::{Round, SuitePlan, TestPlan};
use rqps_model::sample::{Accounting, KindCounts, Resources, Score, SuiteRecord};
use rqps_model::{Interleave, Part, Plan, Sample, StorageEngine, part};
use rqps_store::{EVENT, StoreError, latency_part};
use rqps_suites::{Test, Work};
use rqps_wire::{Endpoint, Target};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The work that fills the caches of a server that was just started.
pub(crate) const WARM: &str = "warm";

/// Left out of the count at the beginning of each slice: throughput is 12 % lower in the first millisecond after a
/// switch and level from the second on (docs/measurement.md).
const LEAD_IN: Duration = Duration::from_millis(1);

/// A connection has a speed of its own, some tenths of a percent off; many of them average that out.
const SESSION_LIFE: Duration = Duration::from_millis(500);

/// Turns that a test is cut into, as far as they stay between these lengths.
const TURNS: f64 = 4.0;
const TURN_SECONDS_MIN: f64 = 1.0;
const TURN_SECONDS_MAX: f64 = 60.0;

/// A moment of a run; arms by index.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// Clients begin to work.
    Start,
    /// An arm's slice begins; once for a test that is not cut into slices.
    Enter(usize),
    /// And ends.
    Leave(usize),
    /// All is counted, and the sessions are still there: when they end, so do PostgreSQL's processes.
    Stop,
    /// This share is done.
    Advance(f64),
}

/// What tests that build on each other leave with the client.
pub(crate) struct Progress {
    state: State,
    /// Rows that the tables must hold by what was acknowledged.
    rows: RangeInclusive<u64>,
    clients: u32,
    /// Seconds in which next to nothing was written, in the test that ran last.
    pub(crate) stalled_seconds: u32,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { state: State::new(), rows: 0..=0, clients: 1, stalled_seconds: 0 }
    }
}

/// A test at a number of clients, ready to be run.
pub(crate) struct Exercise<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) round: &'a Round,
    pub(crate) test: &'a TestPlan,
    pub(crate) clients: u32,
    what: What<'a>,
}

enum What<'a> {
    Test(&'a Test),
    Step(Shape, Step),
}

/// What came of an arm.
pub(crate) enum Ran {
    Test(Box<ArmRun>),
    Step(Box<StepRun>, Kind),
    /// Nothing was measured: the server could not be connected to, or would not make the tables.
    Failed(String),
}

impl<'a> Exercise<'a> {
    pub(crate) fn new(
        job: &Job<'a>,
        round: &'a Round,
        test: &'a TestPlan,
        clients: u32,
    ) -> Result<Exercise<'a>, ConductError> {
        let what = match &job.plan.suite {
            SuitePlan::Sysbench(_) => {
                let suite = job.suites.iter().find(|suite| suite.name == job.plan.suite.name());
                suite.and_then(|suite| suite.test(&test.name)).map(What::Test)
            }
            SuitePlan::Insert(shape) => {
                let shape = shape.at(clients);
                let step = steps(&shape).into_iter().find(|step| step.name == test.name);
                step.map(|step| What::Step(shape, step))
            }
        };
        let what = what.ok_or_else(|| ConductError::UnknownTest(test.name.clone()))?;
        Ok(Exercise { plan: job.plan, round, test, clients, what })
    }

    /// Units of its throughput in each thing that is counted.
    pub(crate) fn factor(&self) -> f64 {
        match &self.what {
            What::Test(test) => test.unit_per_operation(self.plan.suite.data(), self.clients),
            What::Step(..) => 1.0,
        }
    }

    /// Whether it makes tables, which may then be stored otherwise than planned.
    pub(crate) fn makes_tables(&self) -> bool {
        matches!(&self.what, What::Step(_, step) if step.kind == Kind::Load)
    }

    /// The plans of its statements as a server has them now.
    pub(crate) fn plans(&self, target: &Target) -> Result<Vec<StatementPlan>, LoadError> {
        match &self.what {
            What::Test(test) => plan_capture(target, test, self.plan.suite.data()),
            What::Step(shape, step) if step.queries() => statement_plans(target, shape, step),
            What::Step(..) => Ok(Vec::new()),
        }
    }

    /// Runs it on all arms.
    pub(crate) fn run(
        &self,
        arms: &[(Endpoint, Option<StorageEngine>)],
        client_cpus: &[usize],
        progress: &mut Progress,
        hook: &mut dyn FnMut(Moment),
        stop: &AtomicBool,
    ) -> Result<Vec<Ran>, ConductError> {
        match &self.what {
            What::Test(test) => self.run_test(test, arms, client_cpus, hook, stop),
            What::Step(shape, step) => {
                let hook = RefCell::new(hook);
                let mut ran = Vec::new();
                for (index, (endpoint, storage)) in arms.iter().enumerate() {
                    ran.push(self.run_step(
                        shape,
                        step,
                        (index, endpoint, *storage),
                        client_cpus,
                        progress,
                        &hook,
                        stop,
                    )?);
                }
                Ok(ran)
            }
        }
    }

    fn run_test(
        &self,
        test: &Test,
        arms: &[(Endpoint, Option<StorageEngine>)],
        client_cpus: &[usize],
        hook: &mut dyn FnMut(Moment),
        stop: &AtomicBool,
    ) -> Result<Vec<Ran>, ConductError> {
        let endpoints: Vec<Endpoint> = arms.iter().map(|(endpoint, _)| endpoint.clone()).collect();
        let Exercise { plan, clients, .. } = *self;
        let driving = || format!("driving {}", test.name);
        let statements =
            Statements::compile(test, plan.suite.data(), &endpoints).map_err(ConductError::load(driving()))?;
        let exercise = drive::Exercise {
            arms: &endpoints,
            clients,
            threads: (client_cpus.len() as u32).min(clients),
            client_cpus,
            schedule: schedule(plan, self.test),
            arrival: plan.arrival,
            seed: derive_seed(self.round.seed, &format!("{}.c{clients}", test.name)),
        };
        let in_turns = self.test.interleave == Some(Interleave::Turns);
        let turns = visits(&exercise.schedule) * arms.len() as f64;
        let mut turns_done = 0.0;
        let hook = RefCell::new(hook);
        (hook.borrow_mut())(Moment::Start);
        let mut on_switch = |switch: Switch| -> Result<(), LoadError> {
            let mut hook = hook.borrow_mut();
            match switch {
                Switch::Enter { arm, .. } => hook(Moment::Enter(arm)),
                Switch::Leave { arm, phase } => {
                    hook(Moment::Leave(arm));
                    // A cycle of turns may take many minutes, and is told of at its end only.
                    if in_turns && phase == Phase::Counted {
                        turns_done += 1.0;
                        hook(Moment::Advance(f64::min(turns_done / turns, 1.0)));
                    }
                }
            }
            Ok(())
        };
        let advances = |fraction: f64| {
            let mut hook = hook.borrow_mut();
            if fraction >= 1.0 {
                hook(Moment::Stop);
            }
            hook(Moment::Advance(fraction));
        };
        let runs =
            run(&exercise, &statements, &mut on_switch, stop, &advances).map_err(ConductError::load(driving()))?;
        Ok(runs.into_iter().map(|run| Ran::Test(Box::new(run))).collect())
    }

    #[expect(clippy::too_many_arguments, reason = "one call of load, with what it takes")]
    fn run_step(
        &self,
        shape: &Shape,
        step: &Step,
        (index, endpoint, storage): (usize, &Endpoint, Option<StorageEngine>),
        client_cpus: &[usize],
        progress: &mut Progress,
        hook: &RefCell<&mut dyn FnMut(Moment)>,
        stop: &AtomicBool,
    ) -> Result<Ran, ConductError> {
        use rqps_load::insert::Moment as At;
        progress.clients = shape.clients;
        let bench = Bench {
            endpoint,
            storage,
            shape,
            // The same for all treatments of a round, so that they get the same rows and keys.
            seed: derive_seed(self.round.seed, &format!("insert.c{}", shape.clients)),
            threads: client_cpus.len().min(shape.clients as usize),
            client_cpus,
        };
        let tell = |moment| {
            let mut hook = hook.borrow_mut();
            match moment {
                At::Begins => {
                    hook(Moment::Start);
                    hook(Moment::Enter(index));
                }
                At::Advances(come) => hook(Moment::Advance(come.done)),
                At::Ended => {
                    hook(Moment::Leave(index));
                    hook(Moment::Stop);
                }
            }
        };
        match run_step(&bench, step, &mut progress.state, stop, &tell) {
            Ok(ran) => {
                progress.rows = rows_after(&progress.rows, &ran.record);
                progress.stalled_seconds = ran.record.stalls(&ran.seconds).iter().map(|stall| stall.seconds).sum();
                Ok(Ran::Step(Box::new(ran), step.kind))
            }
            Err(LoadError::Interrupted) => Err(ConductError::Interrupted),
            Err(error) => Ok(Ran::Failed(ConductError::load(step.name.clone())(error).to_string())),
        }
    }
}

impl Ran {
    /// Its numbers in a sample, its parts, and why it failed if it did.
    pub(crate) fn fill(self, sample: Sample) -> Result<(Sample, Vec<Part>, Option<String>), StoreError> {
        match self {
            Ran::Test(run) => {
                let sample = Sample {
                    score: Score { count: run.operations, ..sample.score },
                    kinds: kinds_of_test(&run),
                    rows: run.rows,
                    busy_ns: run.busy_ns,
                    seconds: run.seconds,
                    sessions: run.sessions,
                    batch_scheduling: run.batch_scheduling,
                    accounting: run.accounting,
                    errors: run.errors,
                    resources: Resources { operations: run.operations_total, ..Resources::default() },
                    ..sample
                };
                let parts = vec![
                    Part::json(part::SLICES, &run.slices),
                    Part::lines(part::INTERVALS, &run.intervals),
                    latency_part(&run.latency.into_iter().collect(), sample.seconds)?,
                ];
                Ok((sample, parts, run.failure))
            }
            Ran::Step(run, kind) => {
                let StepRun { record, seconds, latency } = *run;
                let (operations, rows) = done(kind, &record);
                let sample = Sample {
                    score: Score { count: operations, ..sample.score },
                    kinds: kinds_of_step(&record),
                    rows,
                    busy_ns: (record.seconds * 1e9).round() as u64 * u64::from(record.clients),
                    seconds: record.seconds,
                    sessions: 1,
                    accounting: accounting(&record),
                    errors: record.errors.clone(),
                    resources: Resources { operations, ..Resources::default() },
                    ..sample
                };
                let parts = vec![
                    latency_part(&latency.into_iter().collect(), sample.seconds)?,
                    Part::lines(part::SECONDS, &seconds),
                ];
                let failure = record.failure.clone();
                Ok((Sample { record: Some(SuiteRecord::Insert(record)), ..sample }, parts, failure))
            }
            Ran::Failed(failure) => Ok((sample, Vec::new(), Some(failure))),
        }
    }
}

/// What is done by a name of work on a server with the plan's data; what it did not reach, if anything.
pub(crate) fn work(
    plan: &Plan,
    name: &str,
) -> Result<impl Fn(&Target) -> Result<Option<String>, LoadError>, ConductError> {
    let work: Work = name.parse().map_err(|_| ConductError::UnknownTest(name.to_owned()))?;
    let data = plan.suite.data();
    Ok(move |target: &Target| rqps_load::work::work(work, target, data).map(|worked| worked.left))
}

/// What is due on a server before and after every test, whatever the plan says.
pub(crate) fn between_tests(plan: &Plan, target: &Target) -> Result<(), LoadError> {
    match &plan.suite {
        SuitePlan::Sysbench(_) => rqps_load::work::between_tests(target),
        // Its steps follow each other as they are.
        SuitePlan::Insert(_) => Ok(()),
    }
}

/// The least seconds of a rest before a test, where the suite wants one.
pub(crate) fn rest_before(plan: &Plan, test: &TestPlan) -> Option<f64> {
    let SuitePlan::Insert(shape) = &plan.suite else { return None };
    let steps = steps(shape);
    let at = steps.iter().position(|step| step.name == test.name)?;
    (at > 0 && steps[at - 1].is_followed_by_rest()).then_some(shape.rest_seconds)
}

/// Such a rest; what it did not reach, if anything.
pub(crate) fn rest(plan: &Plan, clients: u32, target: &Target, stop: &AtomicBool) -> Result<Option<String>, LoadError> {
    let SuitePlan::Insert(shape) = &plan.suite else { return Ok(None) };
    rqps_load::insert::rest(target, &shape.at(clients), stop).map(|worked| worked.left)
}

/// What must stand beside the last test if the tables hold other rows than were acknowledged.
pub(crate) fn check_rows(plan: &Plan, progress: &Progress, endpoint: &Endpoint) -> Option<String> {
    let SuitePlan::Insert(shape) = &plan.suite else { return None };
    match count_rows(endpoint, &shape.at(progress.clients)) {
        Ok(rows) if progress.rows.contains(&rows) => None,
        Ok(rows) => Some(miscount(&progress.rows, rows)),
        Err(error) => Some(format!("could not verify the row count: {error}")),
    }
}

/// Slices as planned, or turns: long slices with new sessions each.
fn schedule(plan: &Plan, test: &TestPlan) -> Schedule {
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

/// What counts as done in a step, and is its throughput: operations and rows.
fn done(kind: Kind, record: &StepRecord) -> (u64, u64) {
    let (inserted, indexed) = (record.inserts.rows, record.rows_indexed.unwrap_or(0));
    match kind {
        Kind::Load | Kind::Churn => (inserted, inserted),
        Kind::Index => (indexed, indexed),
        Kind::RangeQueries | Kind::PointQueries => (record.queries.accounting.succeeded, record.queries.rows),
    }
}

/// What became of each kind of statement, and of whole events.
fn kinds_of_test(run: &ArmRun) -> Vec<KindCounts> {
    let Accounting { succeeded, failed, retried, .. } = run.accounting;
    let event = KindCounts { name: EVENT.to_owned(), done: succeeded, failed, retried: Some(retried) };
    let statements = run.latency.iter().filter(|(name, _)| !name.starts_with(EVENT)).map(|(name, latency)| {
        let errors = run.errors.iter().filter(|error| error.statement == *name);
        let failed = errors.map(|error| error.count).sum();
        KindCounts { name: name.clone(), done: latency.len(), failed, retried: None }
    });
    statements.chain([event]).collect()
}

/// What became of the statements of a step, by role.
fn kinds_of_step(record: &StepRecord) -> Vec<KindCounts> {
    let roles = [("insert", &record.inserts), ("delete", &record.deletes), ("query", &record.queries)];
    let of = |(name, operations): (&str, &Operations)| {
        let Accounting { succeeded, failed, retried, .. } = operations.accounting;
        KindCounts { name: name.to_owned(), done: succeeded, failed, retried: Some(retried) }
    };
    roles.into_iter().filter(|(_, operations)| operations.accounting.scheduled > 0).map(of).collect()
}

/// What became of all statements of a step.
fn accounting(record: &StepRecord) -> Accounting {
    let mut sum = record.inserts;
    sum.add(&record.deletes);
    sum.add(&record.queries);
    sum.accounting
}

/// The rows that there may be after a step: an answer that never came leaves it open whether a statement took effect.
fn rows_after(before: &RangeInclusive<u64>, record: &StepRecord) -> RangeInclusive<u64> {
    let (inserts, deletes) = (record.inserts, record.deletes);
    let after = |rows: u64| (rows + inserts.rows).saturating_sub(deletes.rows);
    after(*before.start()).saturating_sub(deletes.rows_unknown)..=after(*before.end()) + inserts.rows_unknown
}

fn miscount(expected: &RangeInclusive<u64>, found: u64) -> String {
    let (least, most) = (expected.start(), expected.end());
    let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
    format!(
        "after this pass the tables hold {found} rows, but {expected} by what the server acknowledged: it lost or invented \
         rows, or the client counts wrong"
    )
}

#[cfg(test)]
mod tests;
