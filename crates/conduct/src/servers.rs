//! Servers that are up together: a fresh copy of the data and a fresh server for every treatment of a setup, then its
//! tests.
//!
//! In: a setup of the walk. Out: published samples. A server that dies is started again on the same data; where tests
//! build on each other, one that fails ends the tests of its build, and the samples of those after it say so.
//! Servers are stopped when this is dropped, however it ends; copies are removed after it, or with the workspace if the
//! campaign ends here.

use crate::ConductError;
use crate::arm::Arm;
use crate::bench::Bench;
use crate::eta::{REST, Task};
use crate::job::Output;
use crate::master::FolderKind;
use crate::measure::{MeasuredTest, measure};
use crate::piece::Piece;
use crate::programs::Programs;
use crate::stopwatch::Stopwatch;
use crate::supervise::{all_at_once, check, pause_until, supervised, supervised_on, unless_stopped};
use crate::walk::{Setup, Visit};
use rqps_load::LoadError;
use rqps_load::data_set;
use rqps_load::suite::{self, Chain, PlannedTest};
use rqps_machine::copy;
use rqps_model::event::{TestPlace, TestResult};
use rqps_model::plan::{Alternate, DataSet, Round, TestPlan};
use rqps_model::settings::CpuSet;
use rqps_model::{Event, EventKind, Sample};
use rqps_observe::clock::rfc3339;
use rqps_server::placement;
use rqps_suites::Work;
use rqps_wire::Target;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

mod checks;

/// A setup under way.
pub(crate) struct Servers<'a> {
    bench: &'a Bench<'a>,
    round: &'a Round,
    setup: &'a Setup<'a>,
    arms: Vec<Arm<'a>>,
    /// What their servers run; goes after them.
    programs: Programs,
    /// CPUs that may be used.
    cpus: CpuSet,
    clock: Stopwatch,
}

impl<'a> Servers<'a> {
    /// Copies the data and starts the servers, in the round's order. What an earlier run published of the tests is
    /// withdrawn.
    pub(crate) fn begin(
        bench: &'a Bench<'a>,
        round: &'a Round,
        setup: &'a Setup<'a>,
        output: &mut Output<'_, '_>,
    ) -> Result<Servers<'a>, ConductError> {
        let (begun, clock) = (Instant::now(), Stopwatch::start());
        for block in setup.dues.iter().filter(|due| due.is_recorded).map(|due| due.block) {
            for (treatment, test) in block.samples() {
                output.store.withdraw(round.number, &treatment.name, &test.name, block.clients)?;
            }
        }
        let treatments = (0..).zip(&bench.treatments).filter(|(index, _)| setup.order.contains(index));
        let idle = |(_, treatment)| Arm::idle(treatment, &bench.workspace, bench.masters.why_excluded(treatment));
        let arms = treatments.map(idle).collect();
        let cpus = placement::available().map_err(ConductError::server("listing the CPUs"))?;
        let mut servers = Servers { bench, round, setup, arms, programs: Programs::default(), cpus, clock };
        output.emit(EventKind::ServersStart {
            round: round.number,
            rounds: output.eta.rounds(),
            tests: round.allotment.as_ref().map(|allotment| allotment.seconds.len() as u32),
            clients: setup.clients(),
            treatments: servers.names(),
        });
        servers.copy_data()?;
        servers.draw_programs()?;
        servers.clock.lap(|seconds| &mut seconds.copies);
        servers.start()?;
        servers.clock.lap(|seconds| &mut seconds.starts);
        for arm in servers.arms.iter().filter(|arm| !arm.is_excluded) {
            // Why a treatment is excluded was reported when that was found.
            if let Some(message) = &arm.failure {
                output.warn(message);
            }
        }
        // Servers start with empty caches; cached tests must not measure how they fill.
        if setup.stage.data != DataSet::Empty {
            servers.everywhere(Work::Warm)?;
            servers.clock.lap(|seconds| &mut seconds.caches);
        }
        output.eta.began(begun.elapsed());
        Ok(servers)
    }

    /// Whether no server started, and if so the last failure; a treatment that is excluded fails nothing.
    pub(crate) fn start_failure(&self) -> Option<Option<String>> {
        let is_up = self.arms.iter().any(|arm| arm.server.is_some());
        let mut failures = self.arms.iter().filter(|arm| !arm.is_excluded).filter_map(|arm| arm.failure.clone());
        (!is_up).then(|| failures.next_back())
    }

    fn names(&self) -> Vec<String> {
        self.arms.iter().map(|arm| arm.name().to_owned()).collect()
    }

    /// The arms that are measured, in the order of this round.
    fn in_order(&mut self) -> Vec<&mut Arm<'a>> {
        let (treatments, order) = (&self.bench.treatments, &self.setup.order);
        let place = |arm: &Arm<'_>| order.iter().position(|index| treatments[*index].plan.name == arm.name());
        let mut arms: Vec<&mut Arm<'a>> = self.arms.iter_mut().filter(|arm| !arm.is_excluded).collect();
        arms.sort_by_key(|arm| place(arm));
        arms
    }

    fn copy_data(&mut self) -> Result<(), ConductError> {
        let Bench { treatments, masters, workspace, stop, .. } = self.bench;
        let stage = self.setup.stage;
        let suffix = if stage.aged.is_some() { "-aged" } else { "" };
        // Copies of one master are told apart by their places in the round, which change from round to round.
        let mut copies: BTreeMap<FolderKind, u32> = BTreeMap::new();
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let measured = self.round.order.iter().map(|index| &treatments[*index]);
        for treatment in measured.filter(|treatment| masters.why_excluded(treatment).is_none()) {
            let kind = FolderKind::of(treatment);
            let number = copies.entry(kind.clone()).and_modify(|number| *number += 1).or_insert(1);
            names.insert(&treatment.plan.name, format!("{}{suffix}#{number}", kind.name()));
        }
        for (number, arm) in self.in_order().into_iter().enumerate() {
            check(stop)?;
            let kind = FolderKind::of(arm.treatment);
            if stage.is_continued() {
                arm.copy = format!("{}-own", kind.name());
                arm.data = masters.own(&kind, stage, arm.name(), treatments, stop)?;
                continue;
            }
            arm.copy = names.remove(arm.name()).expect("every arm that is measured has a place");
            arm.data = workspace.join(&format!("copy-{}-{number}", kind.name()));
            masters.copy(&kind, stage, &arm.data, stop)?;
        }
        // What was written before must not reach the disk during a test.
        let folder = workspace.path().to_owned();
        unless_stopped(stop, move || copy::flush(&folder))?
            .map_err(ConductError::server("writing the copies to disk"))?;
        Ok(())
    }

    /// Draws anew in what pages the programs lie.
    fn draw_programs(&mut self) -> Result<(), ConductError> {
        let measured = self.arms.iter().filter(|arm| !arm.is_excluded);
        let Bench { job, .. } = self.bench;
        self.programs = Programs::draw(job.plan, measured.map(|arm| arm.treatment.build), job.lease)?;
        let programs = &self.programs;
        self.arms.iter_mut().for_each(|arm| arm.program = programs.of(arm.treatment.build));
        Ok(())
    }

    /// All at once, since a start is work of one CPU, but for their head starts: whoever has the longest is first.
    fn start(&mut self) -> Result<(), ConductError> {
        let (lease, stop, earlier) = (self.bench.job.lease, self.bench.stop, self.setup.earlier);
        check(stop)?;
        let (treatments, round, stage) = (&self.bench.treatments, self.round, self.setup.stage);
        let head_start = |arm: &Arm<'_>| {
            let index = treatments.iter().position(|treatment| treatment.plan.name == arm.name());
            let share = round.head_start(index.expect("an arm is of a treatment"), earlier);
            Duration::from_secs_f64(stage.head_start_seconds * share)
        };
        let arms = self.in_order();
        let longest = arms.iter().map(|arm| head_start(arm)).max().unwrap_or_default();
        let begun = Instant::now();
        let started = all_at_once(arms, |arm| {
            pause_until(begun + (longest - head_start(arm)), stop)?;
            arm.starts = earlier;
            arm.start(lease, stop)
        });
        started.into_iter().collect::<Result<(), _>>()?;
        pause_until(begun + longest, stop)
    }

    /// Runs every test that is due and publishes its samples as it ends; keeps the logs; removes the copies.
    pub(crate) fn run(&mut self, output: &mut Output<'_, '_>) -> Result<(), ConductError> {
        let ran = self.run_tests(output);
        let stage = self.setup.stage;
        let stops = stage.is_chain() || stage.is_continued();
        let ran = if stops { ran.and_then(|()| self.stop_in_order(output)) } else { ran };
        let heading = match stage.clients.as_slice() {
            [clients] if stage.is_chain() => format!("round {}, clients {clients}", self.round.number),
            _ => format!("round {}", self.round.number),
        };
        for arm in &self.arms {
            arm.keep_log(output.store, &heading)?;
        }
        ran?;
        // What comes next has copies of its own, or goes on. Where this ended the campaign, they go with the workspace.
        let cleared = all_at_once(self.arms.iter_mut(), |arm| arm.clear(stage.is_continued()));
        cleared.into_iter().flatten().for_each(|message| output.warn(message));
        self.programs = Programs::default();
        self.clock.lap(|seconds| &mut seconds.ends);
        output.emit(EventKind::ServersEnd { round: self.round.number, seconds: self.clock.seconds() });
        Ok(())
    }

    fn run_tests(&mut self, output: &mut Output<'_, '_>) -> Result<(), ConductError> {
        let visits = &self.setup.visits;
        for (at, Visit { test, levels }) in visits.iter().enumerate() {
            check(self.bench.stop)?;
            self.revive(output)?;
            self.before(test, levels, output)?;
            for (nth, (clients, is_recorded)) in levels.iter().enumerate() {
                check(self.bench.stop)?;
                // What failed in the work before the test fails the test.
                if nth > 0 {
                    self.revive(output)?;
                }
                let (plan, stage, stop) = (self.bench.job.plan, self.setup.stage, self.bench.stop);
                for arm in &mut self.arms {
                    let between = |target: &Target| suite::between_tests(plan, stage, target);
                    arm.held = on_server(arm, "preparing the next test", stop, between)?.flatten();
                }
                self.clock.lap(|seconds| &mut seconds.work);
                self.run_test(test, *clients, *is_recorded, at + 1 == visits.len(), output)?;
            }
        }
        Ok(())
    }

    /// Gives every arm whose server died or failed a new one on the same data, with caches as warm as the others'.
    /// Where tests build on each other that would not be what they need.
    fn revive(&mut self, output: &mut Output<'_, '_>) -> Result<(), ConductError> {
        if self.setup.stage.is_chain() {
            return Ok(());
        }
        let Bench { job, stop, .. } = self.bench;
        for arm in &mut self.arms {
            arm.notice_death();
            if arm.failure.is_some() && arm.may_start() {
                arm.was_restarted = true;
                arm.start(job.lease, stop)?;
                work_on(arm, Work::Warm, self.bench, &self.setup.stage.data)?;
                output.warn(match &arm.failure {
                    Some(failure) => failure.clone(),
                    None => format!("{} was started again on the same data", arm.name()),
                });
            }
        }
        // Where builds go one by one, there are others to come.
        let is_one_of_several = self.setup.stage.alternate == Alternate::OneByOne;
        if self.arms.iter().all(|arm| arm.server.is_none()) && !is_one_of_several {
            let last = self.arms.iter().filter_map(|arm| arm.failure.clone()).next_back().unwrap_or_default();
            return Err(ConductError::NoServerLeft { round: self.round.number, last });
        }
        Ok(())
    }

    /// Does work on every server, one after the other, in the order of this round: who comes first does it right after
    /// the test before.
    fn everywhere(&mut self, work: Work) -> Result<(), ConductError> {
        let (bench, stage) = (self.bench, self.setup.stage);
        self.in_order().into_iter().try_for_each(|arm| work_on(arm, work, bench, &stage.data))
    }

    /// Does the work that the plan wants before a test, and the rest that its suite wants.
    fn before(
        &mut self,
        test: &TestPlan,
        levels: &[(u32, bool)],
        output: &mut Output<'_, '_>,
    ) -> Result<(), ConductError> {
        for name in &test.before {
            let work = Work::find(name).ok_or_else(|| ConductError::UnknownTest(name.to_owned()))?;
            self.everywhere(work)?;
        }
        match (levels.first(), suite::rest_before(self.bench.job.plan, test)) {
            (Some((clients, _)), Some(_)) => self.rest(test, *clients, output),
            _ => Ok(()),
        }
    }

    /// A rest before a test, of one server after the other, while the others stand still. What fails there fails the
    /// test.
    fn rest(&mut self, test: &TestPlan, clients: u32, output: &mut Output<'_, '_>) -> Result<(), ConductError> {
        let Bench { job, stop, .. } = self.bench;
        let task = Task::of(job.plan, self.setup, REST, clients);
        if self.arms.iter().all(|arm| arm.why_skipped().is_some()) {
            output.eta.skipped(&task);
            return Ok(());
        }
        let place = self.place(REST, clients, output);
        output.emit(EventKind::TestBegins { place, is_recorded: false });
        let begun = Instant::now();
        for alone in 0..self.arms.len() {
            if self.arms[alone].why_skipped().is_some() {
                continue;
            }
            self.let_run(|arm| arm == alone);
            let arm = &mut self.arms[alone];
            let Some(server) = &arm.server else { continue };
            let doing = format!("the rest of {} before {}", arm.name(), test.name);
            let rested = supervised(server, stop, || {
                suite::rest(job.plan, clients, server.target(), stop).map_err(ConductError::load(&doing))
            });
            match rested {
                Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
                Err(error) => {
                    arm.notice_death();
                    arm.broken = Some(format!("the rest before {}", test.name));
                    output.warn(arm.fail(error.to_string()));
                }
                Ok(left) => arm.pending_warnings.extend(left.map(|left| format!("{doing}: {left}"))),
            }
        }
        self.let_run(|_| true);
        output.eta.ended(&task, begun.elapsed());
        Ok(())
    }

    /// Lets the servers of these arms run, and freezes the others. One that died is found out elsewhere.
    fn let_run(&mut self, runs: impl Fn(usize) -> bool) {
        for (at, arm) in self.arms.iter_mut().enumerate() {
            if let Some(server) = &mut arm.server {
                let _ = if runs(at) { server.thaw() } else { server.freeze() };
            }
        }
    }

    fn run_test(
        &mut self,
        test: &TestPlan,
        clients: u32,
        is_recorded: bool,
        is_last: bool,
        output: &mut Output<'_, '_>,
    ) -> Result<(), ConductError> {
        let Bench { job, stop, .. } = self.bench;
        let task = Task::of(job.plan, self.setup, &test.name, clients);
        let place = TestPlace { interleave: test.interleave, ..self.place(&test.name, clients, output) };
        let planned =
            PlannedTest::new(job.plan, job.suites, test, clients, self.round.seed, self.bench.masters.inputs())
                .ok_or_else(|| ConductError::UnknownTest(test.name.clone()))?;
        let piece = Piece {
            bench: self.bench,
            round: self.round,
            stage: self.setup.stage,
            test,
            planned,
            clients,
            cpus: &self.cpus,
            host: output.store.host_id().to_owned(),
            started_at: rfc3339(SystemTime::now()),
        };
        let mut measured = MeasuredTest::default();
        self.arms.iter_mut().for_each(|arm| arm.chain.stalled_seconds = 0);
        let skipped: Vec<Option<String>> = match self.setup.stage.is_chain() {
            true => self.arms.iter().map(Arm::why_skipped).collect(),
            false => vec![None; self.arms.len()],
        };
        if skipped.iter().all(Option::is_some) {
            output.eta.skipped(&task);
            let failed = |(arm, why): (&Arm<'_>, Option<String>)| piece.failed(arm, why.unwrap_or_default());
            measured.samples.extend(self.arms.iter().zip(skipped).map(failed));
        } else {
            output.emit(EventKind::TestBegins { place: place.clone(), is_recorded });
            let begun = Instant::now();
            let mut advance = |fraction| {
                let under_way = Some((&task, fraction));
                let (campaign, left) = (output.eta.share(under_way), output.eta.left(under_way));
                let left_seconds = left.map(|left| left.as_secs_f64());
                let kind = EventKind::TestAdvances { fraction, campaign, left_seconds };
                (output.watch)(&Event { at: rfc3339(SystemTime::now()), kind });
            };
            measured = measure(&piece, &mut self.arms, &skipped, output.store, &mut advance)?;
            output.eta.ended(&task, begun.elapsed());
            checks::check_data(&piece, &mut self.arms, &mut measured.samples, output)?;
            if self.setup.stage.is_chain() {
                checks::check_chains(&piece, is_last, &mut self.arms, &mut measured.samples, output)?;
            }
        }
        if !is_recorded {
            self.forget(test);
            self.clock.lap(|seconds| &mut seconds.repeats);
            return Ok(());
        }
        let MeasuredTest { samples: all, driven, seconds } = measured;
        for parts in &all {
            output.store.publish(parts)?;
        }
        let mut results: Vec<TestResult> =
            all.iter().zip(&self.arms).map(|(parts, arm)| result(&parts.sample, &arm.chain)).collect();
        let base = &job.plan.treatments[job.plan.base].name;
        results.sort_by_key(|result| result.treatment != *base);
        let left_seconds = output.eta.left(None).map(|left| left.as_secs_f64());
        output.emit(EventKind::TestEnded { place, unit: test.unit, results, left_seconds });
        self.clock.lap_of_test(driven, seconds);
        check(stop)
    }

    fn place(&self, test: &str, clients: u32, output: &Output<'_, '_>) -> TestPlace {
        TestPlace {
            round: self.round.number,
            rounds: output.eta.rounds(),
            test: test.to_owned(),
            clients,
            treatments: self.names(),
            interleave: None,
        }
    }

    /// After a test that ran for its data only: nothing is recorded; where it failed, the next sample says so.
    fn forget(&mut self, test: &TestPlan) {
        for arm in self.arms.iter_mut().filter(|arm| !arm.is_excluded) {
            arm.pending_warnings.clear();
            if let Some(failure) = &arm.failure {
                let failure = format!("{}, run again before it for its data, failed: {failure}", test.name);
                arm.pending_warnings.push(failure);
            }
        }
    }

    /// Stops servers in order, which shows faults of their own. Their folders are not used again.
    fn stop_in_order(&mut self, output: &mut Output<'_, '_>) -> Result<(), ConductError> {
        let begun = Instant::now();
        for arm in &mut self.arms {
            arm.notice_death();
            let name = arm.name().to_owned();
            let Some(mut server) = arm.server.take() else { continue };
            let stopped = supervised_on(arm.treatment.build.engine, &arm.data, self.bench.stop, || {
                server.stop().map_err(ConductError::server(format!("stopping {name}")))
            });
            let fault = match stopped {
                Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
                Err(error) => Some(error.to_string()),
                Ok(stopped) => {
                    (!stopped.clean).then(|| format!("the server of {name} did not stop in order after its tests"))
                }
            };
            if let Some(message) = fault {
                output.warn(message);
            }
        }
        output.eta.add_overhead(begun.elapsed());
        Ok(())
    }
}

/// A sample as watchers see it.
fn result(sample: &Sample, chain: &Chain) -> TestResult {
    TestResult {
        treatment: sample.treatment.clone(),
        throughput: sample.throughput(),
        failure: sample.failure.clone(),
        sla: sample.step().and_then(|record| record.sla),
        stalled_seconds: chain.stalled_seconds,
    }
}

/// Does work on an arm's server, if it has one, and notes what that did not reach.
fn work_on(arm: &mut Arm<'_>, name: Work, bench: &Bench<'_>, data: &DataSet) -> Result<(), ConductError> {
    let worked = |target: &Target| Ok(data_set::work_on(name, target, data)?.left);
    let left = on_server(arm, name.name(), bench.stop, worked)?.flatten();
    arm.pending_warnings.extend(left.map(|left| format!("{name} before the test: {left}")));
    Ok(())
}

/// Acts on an arm's server, if it has one; what fails there is the arm's failure.
fn on_server<T>(
    arm: &mut Arm<'_>,
    doing: &str,
    stop: &AtomicBool,
    act: impl FnOnce(&Target) -> Result<T, LoadError>,
) -> Result<Option<T>, ConductError> {
    let Some(server) = &arm.server else { return Ok(None) };
    let doing = format!("{doing} on {}", arm.name());
    let done = supervised(server, stop, || act(server.target()).map_err(ConductError::load(doing)));
    match done {
        Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
        Err(error) => {
            (arm.server, arm.failure) = (None, Some(error.to_string()));
            Ok(None)
        }
        Ok(value) => Ok(Some(value)),
    }
}

#[cfg(test)]
mod tests;
