//! One round: a fresh copy of the data and a fresh server for every treatment, then every test on all of them.
//!
//! In: the round's order. Out: published samples. Servers are stopped and copies removed when the round is dropped,
//! however it ends.

use crate::arm::{Arm, Contestant};
use crate::cells::{Cells, Failed, planned_seconds};
use crate::event::{Event, Watch};
use crate::job::Job;
use crate::master::{FolderKind, Masters};
use crate::measure::{Bench, measure};
use crate::pace::Pace;
use crate::supervise::{check, supervised, unless_stopped};
use crate::{ConductError, measure};
use rqps_load::LoadError;
use rqps_load::Work;
use rqps_load::work::{between_tests, work};
use rqps_model::plan::{DataShape, RoundPlan, TestPlan};
use rqps_observe::client::ClientMeter;
use rqps_observe::host::HostMeter;
use rqps_observe::process::ProcessMeter;
use rqps_server::{Workspace, copy, page_cache, placement};
use rqps_store::Writer;
use rqps_wire::Endpoint;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A round under way.
pub(crate) struct Round<'a> {
    job: &'a Job<'a>,
    plan: &'a RoundPlan,
    arms: Vec<Arm<'a>>,
    bench: Bench,
    cpus: Vec<usize>,
}

impl<'a> Round<'a> {
    /// Copies the data and starts the servers, in the round's order.
    #[expect(clippy::too_many_arguments, reason = "each is used, and no two belong together anywhere else")]
    pub(crate) fn begin(
        job: &'a Job<'a>,
        plan: &'a RoundPlan,
        workspace: &Workspace,
        masters: &Masters,
        contestants: &'a [Contestant<'a>],
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        pace: &mut Pace,
    ) -> Result<Round<'a>, ConductError> {
        let begun = Instant::now();
        watch(Event::RoundBegins { round: plan.number, rounds: job.plan.rounds.len() as u32 });
        let idle = |contestant| idle_arm(contestant, workspace, masters);
        let mut arms: Vec<Arm<'_>> = contestants.iter().map(idle).collect();
        let order =
            || plan.order.iter().copied().filter(|index| masters.refusal(&contestants[*index].plan.name).is_none());
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
        let bench = Bench { host: HostMeter::open(workspace.path())?, client: ClientMeter::open()? };
        let cpus = placement::available().map_err(ConductError::server("asking for the CPUs"))?;
        let mut round = Round { job, plan, arms, bench, cpus };
        round.warm(watch, stop)?;
        pace.round_began(begun.elapsed());
        Ok(round)
    }

    /// Servers start with empty caches; cached tests must not measure how they fill.
    fn warm(&mut self, watch: &mut Watch<'_>, stop: &AtomicBool) -> Result<(), ConductError> {
        for arm in &self.arms {
            // Why a treatment takes no part was told when that was found.
            if let (Some(failure), true) = (&arm.failure, arm.takes_part) {
                watch(Event::Warning { message: failure.clone() });
            }
        }
        self.everywhere(Work::Warm, stop)
    }

    /// Does work on every server, one after the other.
    fn everywhere(&mut self, name: Work, stop: &AtomicBool) -> Result<(), ConductError> {
        let data = self.job.plan.data;
        self.arms.iter_mut().try_for_each(|arm| work_on(arm, name, data, stop))
    }

    /// Runs every test that has no samples yet, and publishes each as it ends.
    pub(crate) fn run(
        &mut self,
        store: &mut Writer,
        again: &Failed,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        pace: &mut Pace,
    ) -> Result<(), ConductError> {
        let ran = self.run_tests(store, again, watch, stop, pace);
        // What the servers said matters most where something went wrong.
        for arm in &self.arms {
            if let Ok(mut log) = File::open(&arm.log) {
                store.append_server_log(arm.name(), &format!("round {}", self.plan.number), &mut log)?;
            }
        }
        ran
    }

    fn run_tests(
        &mut self,
        store: &mut Writer,
        again: &Failed,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        pace: &mut Pace,
    ) -> Result<(), ConductError> {
        for test in &self.job.plan.tests {
            let missing: Vec<u32> = {
                let cells = Cells { plan: self.job.plan, store, again };
                let done = |clients: &u32| !cells.test_done(self.plan.number, &test.name, *clients);
                self.job.plan.clients.iter().copied().filter(done).collect()
            };
            for (at, clients) in missing.into_iter().enumerate() {
                check(stop)?;
                self.revive(watch, stop)?;
                if at == 0 {
                    self.before(test, stop)?;
                }
                for arm in &mut self.arms {
                    on_server(arm, "preparing the next test", stop, between_tests)?;
                }
                self.run_test(test, clients, store, watch, stop, pace)?;
            }
        }
        Ok(())
    }

    /// Gives every arm whose server died or failed a new one on the same data, with caches as warm as the others'.
    fn revive(&mut self, watch: &mut Watch<'_>, stop: &AtomicBool) -> Result<(), ConductError> {
        for arm in &mut self.arms {
            arm.notice_death();
            if arm.failure.is_some() && arm.may_start() {
                arm.start(self.job.lease, stop)?;
                work_on(arm, Work::Warm, self.job.plan.data, stop)?;
                let message = match &arm.failure {
                    Some(failure) => failure.clone(),
                    None => format!("{} was started again on the same data", arm.name()),
                };
                watch(Event::Warning { message });
            }
        }
        if self.arms.iter().all(|arm| arm.server.is_none()) {
            let last = self.arms.iter().filter_map(|arm| arm.failure.clone()).next_back().unwrap_or_default();
            return Err(ConductError::NobodyLeft { round: self.plan.number, last });
        }
        Ok(())
    }

    /// Does the work that the plan wants before a test.
    fn before(&mut self, test: &TestPlan, stop: &AtomicBool) -> Result<(), ConductError> {
        for name in &test.before {
            let name: Work = name.parse().map_err(|_| ConductError::UnknownTest(format!("{}: {name}", test.name)))?;
            self.everywhere(name, stop)?;
        }
        Ok(())
    }

    fn run_test(
        &mut self,
        test: &TestPlan,
        clients: u32,
        store: &mut Writer,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        pace: &mut Pace,
    ) -> Result<(), ConductError> {
        let plan = self.job.plan;
        let rounds = plan.rounds.len() as u32;
        let (round, interleave) = (self.plan.number, test.interleave);
        watch(Event::TestBegins { round, rounds, test: &test.name, clients, interleave });
        let begun = Instant::now();
        let planned_s = planned_seconds(plan, test);
        let piece = measure::Piece { job: self.job, round: self.plan, test, clients, cpus: &self.cpus };
        let results = measure(&piece, &mut self.arms, &mut self.bench, store, stop, &mut |fraction| {
            let under_way_s = fraction * planned_s;
            let (campaign, left) = (pace.share(under_way_s), pace.left(under_way_s));
            watch(Event::TestAdvances { fraction, campaign, left });
        })?;
        pace.piece_ended(planned_s, begun.elapsed());
        // The base is told first.
        let mut told: Vec<(&str, Option<f64>)> =
            plan.treatments.iter().zip(results).map(|(treatment, result)| (treatment.name.as_str(), result)).collect();
        let base = told.remove(plan.base);
        told.insert(0, base);
        watch(Event::TestEnded {
            round,
            test: &test.name,
            clients,
            unit: test.unit,
            results: told,
            left: pace.left(0.0),
        });
        Ok(())
    }
}

/// Does work on an arm's server, if it has one, and notes what that did not reach.
fn work_on(arm: &mut Arm<'_>, name: Work, data: DataShape, stop: &AtomicBool) -> Result<(), ConductError> {
    let storage = arm.contestant.plan.storage;
    let worked = on_server(arm, name.name(), stop, |endpoint| work(name, endpoint, data, storage))?;
    arm.undone.extend(worked.and_then(|worked| worked.left).map(|left| format!("{name} before the test: {left}")));
    Ok(())
}

/// Acts on an arm's server, if it has one; what fails there is the arm's failure.
fn on_server<T>(
    arm: &mut Arm<'_>,
    doing: &str,
    stop: &AtomicBool,
    act: impl FnOnce(&Endpoint) -> Result<T, LoadError>,
) -> Result<Option<T>, ConductError> {
    let Some(server) = &arm.server else { return Ok(None) };
    let doing = format!("{doing} on {}", arm.name());
    let done = supervised(server, stop, || act(&server.endpoint()).map_err(ConductError::load(doing)));
    match done {
        Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
        Err(error) => {
            (arm.server, arm.failure) = (None, Some(error.to_string()));
            Ok(None)
        }
        Ok(value) => Ok(Some(value)),
    }
}

fn idle_arm<'a>(contestant: &'a Contestant<'a>, workspace: &Workspace, masters: &Masters) -> Arm<'a> {
    let refusal = masters.refusal(&contestant.plan.name);
    Arm {
        contestant,
        copy: String::new(),
        data: workspace.path().to_owned(),
        log: workspace.join(&format!("{}.log", contestant.plan.name)),
        server: None,
        meter: ProcessMeter::new(),
        starts: 0,
        starts_failed: 0,
        undone: Vec::new(),
        takes_part: refusal.is_none(),
        failure: refusal.map(str::to_owned),
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        for arm in &mut self.arms {
            // Nobody reads this copy again: no need for a shutdown that writes it back.
            arm.server = None;
            let _ = std::fs::remove_file(&arm.log);
            if !arm.copy.is_empty() {
                let _ = std::fs::remove_dir_all(&arm.data);
            }
        }
    }
}
