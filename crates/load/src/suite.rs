//! What suites differ in when they are run: which program a test of the plan is, its plans, its units, and what is due
//! around it.
//!
//! In: a plan's test at a number of clients, endpoints, and a hook for the moments of the run. Out: for each arm what
//! came of it. The only file of `load` and `conduct` that asks which suite a plan has.

use crate::drive::{Exercise, run_events};
use crate::error::LoadError;
use crate::plan_capture::plan_capture;
use crate::program::Workload;
pub use crate::program::insert::Chain;
use crate::program::insert::{self, Bench};
pub use crate::program::own::Inputs;
use crate::program::own::{Arm, OwnWorkload, ScriptWorkload};
use crate::program::sysbench::{self, Statements};
use crate::program::tproc_c::{self, Transactions, provide_routines};
use crate::random::derive_seed;
pub use crate::test_run::{Clients, Moment, Ran};
use crate::{side_by_side, transactions};
use rqps_model::answers::TestAnswers;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Kind, Shape, Step, steps};
use rqps_model::own::{Own, OwnTest, Work};
use rqps_model::plan::{AgedBy, DataSet, Stage, SuitePlan, TestPlan};
use rqps_model::sample::Score;
use rqps_model::statement_work::StatementWork;
pub use rqps_model::tproc_c::Held;
use rqps_model::tproc_c::TprocC;
use rqps_model::{Interleave, Plan, Sample};
use rqps_suites::{Suite, Test, data};
use rqps_wire::{Endpoint, Protocol, Target};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A test of a plan at a number of clients, ready to be run.
pub struct PlannedTest<'a> {
    plan: &'a Plan,
    test: &'a TestPlan,
    clients: u32,
    /// Of the round.
    seed: u64,
    what: What<'a>,
}

/// A server on which a test runs.
pub struct TestServer<'a> {
    /// The server.
    pub target: Target,
    /// What tests before this one left with the client, where they build on each other.
    pub chain: &'a mut Chain,
    /// What they left in its tables, where data go on from test to test.
    pub held: Option<Held>,
    /// The test, as it was compiled for it.
    pub compiled: Compiled,
    /// The change that is planted in what the client sends to it, as a share of a statement's time.
    pub planted: Option<f64>,
}

/// What only a server can tell of a test before it runs there, such as the columns of answers.
#[derive(Debug, Default)]
pub struct Compiled(Option<Arm>);

enum What<'a> {
    Statements(&'a Test),
    Step(Shape, Step),
    /// Of TPROC-C, on so many warehouses.
    Transactions(&'a TprocC, u32),
    /// Of the user, with what the sources of its values hold.
    Own(&'a Own, &'a OwnTest, &'a Inputs),
}

impl<'a> PlannedTest<'a> {
    /// The test in its suite; `None` if that does not have it.
    pub fn new(
        plan: &'a Plan,
        suites: &'a [Suite],
        test: &'a TestPlan,
        clients: u32,
        seed: u64,
        inputs: &'a Inputs,
    ) -> Option<PlannedTest<'a>> {
        let what = match &plan.suite {
            SuitePlan::Sysbench(_) => {
                let suite = suites.iter().find(|suite| suite.name == plan.suite.name())?;
                What::Statements(suite.test(&test.name)?)
            }
            SuitePlan::Insert(shape) => {
                let shape = shape.at(clients);
                let step = steps(&shape).into_iter().find(|step| step.name == test.name)?;
                What::Step(shape, step)
            }
            SuitePlan::TprocC(shape) => What::Transactions(shape, shape.warehouses_of(&test.name)?),
            SuitePlan::Own(own) => What::Own(own, own.test(&test.name)?, inputs),
        };
        Some(PlannedTest { plan, test, clients, seed, what })
    }

    /// Its score when so much was counted.
    pub fn score(&self, count: u64) -> Score {
        let factor = match &self.what {
            What::Statements(test) => test.unit_per_operation(data(&self.plan.suite), self.clients),
            What::Step(..) | What::Transactions(..) | What::Own(..) => 1.0,
        };
        Score { unit: self.test.unit, count, factor }
    }

    /// Whether it makes tables, which may then be stored otherwise than planned.
    pub fn makes_tables(&self) -> bool {
        matches!(&self.what, What::Step(_, step) if step.kind == Kind::Load)
    }

    /// Compiles it for a server, as far as the server must be asked for that. A refusal is this server's alone.
    pub fn compile(&self, target: &Target) -> Result<Compiled, LoadError> {
        match &self.what {
            What::Own(own, test, inputs) if !matches!(test.work, Work::Pgbench(_)) => {
                Arm::compile(own, test, inputs, target).map(|arm| Compiled(Some(arm)))
            }
            What::Own(..) | What::Statements(_) | What::Step(..) | What::Transactions(..) => Ok(Compiled::default()),
        }
    }

    /// The plans of its statements as a server has them now.
    pub fn plans(&self, target: &Target) -> Result<Vec<StatementPlan>, LoadError> {
        match &self.what {
            What::Statements(test) => plan_capture(target, test, data(&self.plan.suite)),
            What::Step(shape, step) => insert::statement_plans(target, shape, step),
            What::Transactions(..) => Ok(Vec::new()),
            What::Own(own, test, inputs) => crate::own::plans(target, own, test, inputs),
        }
    }

    /// What each kind of its statements makes a server do, where it sends several and they can be executed apart from
    /// its clients.
    pub fn statement_work(&self, target: &Target) -> Result<Vec<StatementWork>, LoadError> {
        match &self.what {
            What::Statements(test) if test.kinds.len() > 1 => {
                sysbench::statement_work(target, test, data(&self.plan.suite))
            }
            What::Own(own, test, inputs) => crate::own::statement_work(target, own, test, inputs),
            What::Transactions(shape, warehouses) => tproc_c::statement_work(target, shape, *warehouses),
            What::Step(shape, step) => insert::statement_work(target, shape, step),
            What::Statements(_) => Ok(Vec::new()),
        }
    }

    /// Its statements, by name, whose planning is timed while it runs, since it changes with the data.
    pub fn planned_meanwhile(&self, engine: Protocol) -> Vec<(&'static str, String)> {
        match &self.what {
            What::Step(_, step) => insert::planned_meanwhile(engine, step),
            What::Statements(_) | What::Transactions(..) | What::Own(..) => Vec::new(),
        }
    }

    /// What its statements answer on a server, where the suite compares that, and what is odd about it.
    pub fn answers(&self, target: &Target) -> Result<Option<(TestAnswers, Vec<String>)>, LoadError> {
        match &self.what {
            What::Own(own, test, inputs) => crate::own::answers(target, own, test, inputs),
            What::Statements(_) | What::Step(..) | What::Transactions(..) => Ok(None),
        }
    }

    /// After it ran on a server: whether its tables are as they must be, where the suite can tell. What is found is
    /// noted in the sample, and fails it if it must.
    pub fn check(&self, target: &Target, sample: &mut Sample) -> Result<(), LoadError> {
        match &self.what {
            What::Statements(_) | What::Step(..) | What::Own(..) => Ok(()),
            What::Transactions(shape, warehouses) => transactions::check(target, shape, *warehouses, self.seed, sample),
        }
    }

    /// After it failed on a server that is up again: whether what the server acknowledged is there, in words. `None`
    /// where the suite cannot tell.
    pub fn look_for_losses(&self, target: &Target, sample: &mut Sample) -> Result<Option<String>, LoadError> {
        match &self.what {
            What::Statements(_) | What::Step(..) | What::Own(..) => Ok(None),
            What::Transactions(shape, warehouses) => {
                transactions::look_for_losses(target, &shape.data(*warehouses), sample)
            }
        }
    }

    /// Whether it counts what is acknowledged, so that losses can be told.
    pub fn counts_acknowledged(&self) -> bool {
        matches!(self.what, What::Transactions(..))
    }

    /// Runs it on all servers for which it was compiled; those of steps that build on each other have their chains.
    pub fn run(
        &self,
        servers: &mut [TestServer<'_>],
        clients: Clients<'_>,
        hook: &mut dyn FnMut(Moment),
    ) -> Result<Vec<Ran>, LoadError> {
        match &self.what {
            What::Statements(test) => {
                let endpoints = endpoints(servers);
                let statements = Statements::compile(test, data(&self.plan.suite), &endpoints)?;
                self.side_by_side(&endpoints, &statements, servers, clients, hook)
            }
            What::Own(own, test, _) => {
                let targets: Vec<Target> = servers.iter().map(|server| server.target.clone()).collect();
                let endpoints = endpoints(servers);
                match &test.work {
                    Work::Pgbench(scripts) => {
                        let programs =
                            ScriptWorkload::compile(own, test, scripts, &targets, (self.seed, self.clients))?;
                        self.side_by_side(&endpoints, &programs, servers, clients, hook)
                    }
                    _ => {
                        let arms = servers.iter_mut().map(|server| server.compiled.0.take());
                        let arms: Option<Vec<Arm>> = arms.collect();
                        let programs = OwnWorkload::of(arms.expect("compiled for each server before it runs"));
                        self.side_by_side(&endpoints, &programs, servers, clients, hook)
                    }
                }
            }
            What::Transactions(shape, warehouses) => {
                let endpoints = endpoints(servers);
                let held: Vec<Option<Held>> = servers.iter().map(|server| server.held).collect();
                let programs = Transactions::compile(shape, *warehouses, self.clients, &endpoints)?;
                let exercise = self.exercise(&endpoints, clients);
                transactions::run(&exercise, &programs, &held, self.is_in_turns(), clients.stop, hook)
            }
            What::Step(shape, step) => {
                let (of_servers, mut chains): (Vec<_>, Vec<&mut Chain>) = servers
                    .iter_mut()
                    .map(|TestServer { target, chain, .. }| ((&target.endpoint, target.storage), &mut **chain))
                    .unzip();
                let bench = |(endpoint, storage)| Bench {
                    endpoint,
                    storage,
                    shape,
                    // The same for all treatments of a round, so that they get the same rows and keys.
                    seed: derive_seed(self.seed, &format!("insert.c{}", shape.clients)),
                    threads: clients.cpus.set.len().min(shape.clients as usize),
                    cpus: clients.cpus,
                    slice: Duration::from_secs_f64(self.plan.slice_ms / 1e3),
                    keeps_spans: self.plan.profiled,
                };
                let benches: Vec<Bench<'_>> = of_servers.into_iter().map(bench).collect();
                Chain::run_all(&mut chains, &benches, step, clients.stop, hook)
            }
        }
    }
}

impl PlannedTest<'_> {
    /// Runs programs on all servers at once, with the changes that are planted.
    fn side_by_side<W: Workload>(
        &self,
        endpoints: &[Endpoint],
        programs: &W,
        servers: &[TestServer<'_>],
        clients: Clients<'_>,
        hook: &mut dyn FnMut(Moment),
    ) -> Result<Vec<Ran>, LoadError> {
        let planted: Vec<f64> = servers.iter().map(|server| server.planted.unwrap_or(0.0)).collect();
        let is_planted = planted.iter().any(|share| *share > 0.0);
        let planted = if is_planted { &planted[..] } else { &[] };
        let exercise = Exercise { planted, ..self.exercise(endpoints, clients) };
        side_by_side::run(&exercise, programs, self.is_in_turns(), self.events(), clients.stop, hook)
    }

    /// All servers at once.
    fn exercise<'e>(&self, arms: &'e [Endpoint], clients: Clients<'e>) -> Exercise<'e> {
        let seed = derive_seed(self.seed, &format!("{}.c{}", self.test.name, self.clients));
        Exercise {
            threads: (clients.cpus.set.len() as u32).min(self.clients),
            cpus: clients.cpus,
            arrival: self.plan.arrival,
            rows: clients.rows,
            keeps_spans: self.plan.profiled,
            ..Exercise::new(arms, self.clients, side_by_side::schedule(self.plan, self.test), seed)
        }
    }

    /// How many events each client does, where the work is given and not the time.
    fn events(&self) -> Option<u32> {
        match &self.what {
            What::Own(_, test, _) => test.events,
            What::Statements(_) | What::Step(..) | What::Transactions(..) => None,
        }
    }

    fn is_in_turns(&self) -> bool {
        self.test.interleave == Some(Interleave::Turns)
    }
}

fn endpoints(servers: &[TestServer<'_>]) -> Vec<Endpoint> {
    servers.iter().map(|server| server.target.endpoint.clone()).collect()
}

/// What is due on a server before and after every test, whatever the plan says. Where data go on from test to test:
/// what there is in its tables by now, if the suite counts that.
pub fn between_tests(plan: &Plan, stage: &Stage, target: &Target) -> Result<Option<Held>, LoadError> {
    match &plan.suite {
        SuitePlan::Sysbench(_) => crate::work::between_tests(target).map(|()| None),
        // Its steps follow each other as they are.
        SuitePlan::Insert(_) => Ok(None),
        SuitePlan::Own(_) => crate::work::between_tests(target).map(|()| None),
        SuitePlan::TprocC(shape) => {
            provide_routines(target, shape)?;
            crate::work::between_tests(target)?;
            match &stage.data {
                DataSet::Warehouses(data) if stage.is_continued() => transactions::held(target, data).map(Some),
                _ => Ok(None),
            }
        }
    }
}

/// Runs so many events of a test on a server, with one client, for what they leave in its data. The statements follow
/// from the plan's seed and are the same on every server.
pub fn age(
    plan: &Plan,
    suites: &[Suite],
    target: &Target,
    by: &AgedBy,
    Clients { cpus, stop, .. }: Clients<'_>,
) -> Result<(), LoadError> {
    let test = suites.iter().find(|suite| suite.name == plan.suite.name()).and_then(|suite| suite.test(&by.test));
    let test = test.ok_or_else(|| LoadError::Shape(format!("no test `{}` to age data by", by.test)))?;
    let arms = [target.endpoint.clone()];
    let statements = Statements::compile(test, data(&plan.suite), &arms)?;
    let seed = derive_seed(plan.seed, &format!("aged.{}", by.test));
    let exercise = Exercise { cpus, ..Exercise::new(&arms, 1, side_by_side::without_time(), seed) };
    for run in run_events(&exercise, &statements, by.events, stop)? {
        if let Some(failure) = run.failure {
            return Err(LoadError::Lost(failure));
        }
    }
    crate::work::between_tests(target)
}

/// What sources of values hold that are not drawn, where a suite has such: asked of a server with loaded data.
pub fn inputs(plan: &Plan, target: &Target) -> Result<Inputs, LoadError> {
    match &plan.suite {
        SuitePlan::Own(own) => crate::own::inputs(own, target),
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::TprocC(_) => Ok(Inputs::default()),
    }
}

/// The least seconds of a rest before a test, where the suite wants one.
pub fn rest_before(plan: &Plan, test: &TestPlan) -> Option<f64> {
    let SuitePlan::Insert(shape) = &plan.suite else { return None };
    let steps = steps(shape);
    let at = steps.iter().position(|step| step.name == test.name)?;
    (at > 0 && steps[at - 1].is_followed_by_rest()).then_some(shape.rest_seconds)
}

/// Such a rest; what it did not reach, if anything.
pub fn rest(plan: &Plan, clients: u32, target: &Target, stop: &AtomicBool) -> Result<Option<String>, LoadError> {
    let SuitePlan::Insert(shape) = &plan.suite else { return Ok(None) };
    insert::rest(target, &shape.at(clients), stop).map(|worked| worked.left)
}

/// The warning for the last test if the tables do not hold the rows that were acknowledged.
pub fn check_rows(plan: &Plan, chain: &Chain, endpoint: &Endpoint) -> Option<String> {
    let SuitePlan::Insert(shape) = &plan.suite else { return None };
    chain.check_rows(endpoint, shape)
}
