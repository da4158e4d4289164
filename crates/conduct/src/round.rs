//! One round: a fresh copy of the data and a fresh server for every treatment, then every test on all of them.
//!
//! In: the round's order. Out: published samples. Servers are stopped when the round is dropped, however it
//! ends; copies are removed after it, or with the workspace if the campaign ends here.

use crate::arm::Arm;
use crate::cells::Due;
use crate::event::Event;
use crate::master::FolderKind;
use crate::measure::{measure, repeat};
use crate::pace::Chore;
use crate::sitting::{Ledger, Sitting};
use crate::supervise::{check, supervised, unless_stopped};
use crate::{ConductError, measure};
use rqps_load::LoadError;
use rqps_load::work::{between_tests, work};
use rqps_machine::copy;
use rqps_model::plan::{DataShape, Round as RoundPlan, TestPlan};
use rqps_server::{page_cache, placement};
use rqps_suites::Work;
use rqps_wire::Target;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A round under way.
pub(crate) struct Round<'a> {
    sitting: &'a Sitting<'a>,
    plan: &'a RoundPlan,
    arms: Vec<Arm<'a>>,
    cpus: Vec<usize>,
}

impl<'a> Round<'a> {
    /// Copies the data and starts the servers, in the round's order.
    pub(crate) fn begin(
        sitting: &'a Sitting<'a>,
        plan: &'a RoundPlan,
        ledger: &mut Ledger<'_, '_>,
    ) -> Result<Round<'a>, ConductError> {
        let Sitting { job, workspace, contestants, masters, stop, .. } = sitting;
        let begun = Instant::now();
        (ledger.watch)(Event::RoundBegins { round: plan.number, rounds: job.plan.rounds });
        let idle = |contestant| Arm::idle(contestant, workspace, masters.refusal(contestant));
        let mut arms: Vec<Arm<'_>> = contestants.iter().map(idle).collect();
        let order = || plan.order.iter().copied().filter(|index| masters.refusal(&contestants[*index]).is_none());
        // Copies of one master are told apart by the order in which they were made, which changes from round to round.
        let mut copies: BTreeMap<FolderKind, u32> = BTreeMap::new();
        for index in order() {
            check(stop)?;
            let arm = &mut arms[index];
            let kind = FolderKind::of(arm.contestant);
            let number = copies.entry(kind.clone()).and_modify(|number| *number += 1).or_insert(1);
            arm.copy = format!("{}#{number}", kind.name());
            arm.data = workspace.join(&format!("round-{}-{index}", kind.name()));
            masters.copy(&kind, &arm.data, stop)?;
        }
        let folder = workspace.path().to_owned();
        unless_stopped(stop, move || copy::flush(&folder))?
            .map_err(ConductError::server("writing the copies to disk"))?;
        contestants.iter().for_each(|contestant| _ = page_cache::renew(contestant.build));
        for index in order() {
            check(stop)?;
            arms[index].start(job.lease, stop)?;
        }
        let cpus = placement::available().map_err(ConductError::server("asking for the CPUs"))?;
        let mut round = Round { sitting, plan, arms, cpus };
        round.warm(ledger)?;
        ledger.pace.began(begun.elapsed());
        Ok(round)
    }

    /// Servers start with empty caches; cached tests must not measure how they fill.
    fn warm(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        for arm in &self.arms {
            // Why a treatment takes no part was told when that was found.
            if let (Some(failure), true) = (&arm.failure, arm.takes_part) {
                (ledger.watch)(Event::Warning { message: failure.clone() });
            }
        }
        self.everywhere(Work::Warm)
    }

    /// Does work on every server, one after the other.
    fn everywhere(&mut self, name: Work) -> Result<(), ConductError> {
        let Sitting { job, stop, .. } = self.sitting;
        self.arms.iter_mut().try_for_each(|arm| work_on(arm, name, job.plan.suite.data(), stop))
    }

    /// Runs every test that has no samples yet, and publishes each as it ends. What comes before it is done on this round's
    /// data too, work between tests included, though nothing that is complete is recorded again.
    pub(crate) fn run(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let ran = self.run_tests(ledger);
        for arm in &self.arms {
            arm.keep_log(ledger.store, &format!("round {}", self.plan.number))?;
        }
        ran?;
        // The next round has copies of its own. Where this one ended the campaign, they go with the workspace.
        self.arms.iter_mut().for_each(|arm| arm.clear(ledger.watch));
        Ok(())
    }

    fn run_tests(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let Sitting { job, stop, .. } = self.sitting;
        let dues = self.sitting.cells(ledger.store).due(self.plan);
        let mut dues = dues.iter().peekable();
        for test in job.plan.tests() {
            if dues.peek().is_none() {
                break;
            }
            check(stop)?;
            self.revive(ledger)?;
            self.before(test)?;
            let mut is_first = true;
            while let Some(due) = dues.next_if(|due| due.bout.tests[0].name == test.name) {
                check(stop)?;
                // What failed in the work before the test fails the test.
                if !std::mem::take(&mut is_first) {
                    self.revive(ledger)?;
                }
                for arm in &mut self.arms {
                    on_server(arm, "preparing the next test", stop, between_tests)?;
                }
                self.run_test(test, due, ledger)?;
            }
        }
        Ok(())
    }

    /// Gives every arm whose server died or failed a new one on the same data, with caches as warm as the others'.
    fn revive(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let Sitting { job, stop, .. } = self.sitting;
        for arm in &mut self.arms {
            arm.notice_death();
            if arm.failure.is_some() && arm.may_start() {
                arm.start(job.lease, stop)?;
                work_on(arm, Work::Warm, job.plan.suite.data(), stop)?;
                let message = match &arm.failure {
                    Some(failure) => failure.clone(),
                    None => format!("{} was started again on the same data", arm.name()),
                };
                (ledger.watch)(Event::Warning { message });
            }
        }
        if self.arms.iter().all(|arm| arm.server.is_none()) {
            let last = self.arms.iter().filter_map(|arm| arm.failure.clone()).next_back().unwrap_or_default();
            return Err(ConductError::NobodyLeft { round: self.plan.number, last });
        }
        Ok(())
    }

    /// Does the work that the plan wants before a test.
    fn before(&mut self, test: &TestPlan) -> Result<(), ConductError> {
        for name in &test.before {
            let name: Work = name.parse().map_err(|_| ConductError::UnknownTest(format!("{}: {name}", test.name)))?;
            self.everywhere(name)?;
        }
        Ok(())
    }

    fn run_test(&mut self, test: &TestPlan, due: &Due<'_>, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let Sitting { job, stop, .. } = self.sitting;
        let Ledger { store, watch, pace } = ledger;
        let rounds = job.plan.rounds;
        let (round, interleave, clients) = (self.plan.number, test.interleave, due.bout.clients);
        watch(match due.is_recorded {
            true => Event::TestBegins { round, rounds, test: &test.name, clients, interleave },
            false => Event::TestRepeats { round, rounds, test: &test.name, clients },
        });
        let begun = Instant::now();
        let chore = Chore::of(&due.bout, &test.name);
        let piece = measure::Piece { job, round: self.plan, test, clients, cpus: &self.cpus };
        let arms = &mut self.arms;
        let mut progress = |fraction| {
            let under_way = Some((&chore, fraction));
            let (campaign, left) = (pace.share(under_way), pace.left(under_way));
            watch(Event::TestAdvances { fraction, campaign, left });
        };
        let results = match due.is_recorded {
            true => Some(measure(&piece, arms, store, stop, &mut progress)?),
            false => repeat(&piece, arms, store, stop, &mut progress).map(|()| None)?,
        };
        pace.ended(&chore, begun.elapsed());
        let Some(results) = results else { return Ok(()) };
        // The base is told first.
        let treatments = job.plan.treatments.iter();
        let mut told: Vec<(&str, Option<f64>)> =
            treatments.zip(results).map(|(treatment, result)| (treatment.name.as_str(), result)).collect();
        let base = told.remove(job.plan.base);
        told.insert(0, base);
        watch(Event::TestEnded {
            round,
            test: &test.name,
            clients,
            unit: test.unit,
            results: told,
            left: pace.left(None),
        });
        Ok(())
    }
}

/// Does work on an arm's server, if it has one, and notes what that did not reach.
fn work_on(arm: &mut Arm<'_>, name: Work, data: DataShape, stop: &AtomicBool) -> Result<(), ConductError> {
    let worked = on_server(arm, name.name(), stop, |target| work(name, target, data))?;
    arm.undone.extend(worked.and_then(|worked| worked.left).map(|left| format!("{name} before the test: {left}")));
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
