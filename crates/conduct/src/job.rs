//! A whole campaign, from its masters to its last round.

use crate::event::{Event, Watch};
use crate::master::Masters;
use crate::pace::Pace;
use crate::round::Round;
use crate::supervise::check;
use crate::{ConductError, arm::Contestant};
use rqps_load::Suite;
use rqps_model::Plan;
use rqps_model::facts::BuildFacts;
use rqps_observe::clock::rfc3339;
use rqps_server::{Account, Cache, Lease, Profiles, Sizing, Workspace};
use rqps_store::{Campaign, Writer};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// Bytes of a row with its share of the indexes, as PostgreSQL stores it; for sizing only.
const ROW_BYTES: u64 = 240;

/// Everything that a campaign needs.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The suite that the plan's tests are taken from.
    pub suite: &'a Suite,
    /// The build of each treatment, in plan order.
    pub builds: &'a [BuildFacts],
    /// Configuration profiles.
    pub profiles: &'a Profiles,
    /// The cache, which also holds leases.
    pub cache: &'a Cache,
    /// Notes what is made.
    pub lease: &'a Lease,
    /// Where data folders are made; `None` = the usual place.
    pub data_parent: Option<&'a Path>,
    /// How often the campaign was resumed.
    pub resumed: usize,
}

/// Whether the results folder has every sample of its plan.
pub fn is_measured(campaign: &Campaign) -> bool {
    Cells { plan: campaign.plan(), store: campaign }.all_done()
}

/// Measures everything that the results folder does not have yet.
///
/// Call it from a thread that lives as long as the servers may: they are told to quit when it ends.
pub fn run(job: &Job<'_>, store: &mut Writer, watch: &mut Watch<'_>, stop: &AtomicBool) -> Result<(), ConductError> {
    if !is_measured(store) {
        measure_missing(job, store, watch, stop)?;
    }
    store.finish(&rfc3339(SystemTime::now()))?;
    Ok(())
}

fn measure_missing(
    job: &Job<'_>,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
        .map_err(ConductError::server("making the folder for data"))?;
    let contestants = contestants(job, &workspace)?;
    for contestant in &contestants {
        store.write_build(&contestant.plan.name, contestant.build)?;
        for note in &contestant.configuration.notes {
            watch(Event::Warning { message: format!("{}: {note}", contestant.plan.name) });
        }
    }
    let masters = Masters::load(job, &workspace, &contestants, store, watch, stop)?;

    let cells = Cells { plan: job.plan, store };
    let rounds_left = job.plan.rounds.iter().filter(|round| !cells.round_done(round.number)).count();
    let mut pace = Pace::new(cells.seconds_left(), rounds_left as u32);
    for plan in &job.plan.rounds {
        if (Cells { plan: job.plan, store }).round_done(plan.number) {
            continue;
        }
        check(stop)?;
        let mut round = Round::begin(job, plan, &workspace, &masters, &contestants, watch, stop, &mut pace)?;
        round.run(store, watch, stop, &mut pace)?;
    }
    Ok(())
}

/// Each treatment with its build and its configuration for this machine.
fn contestants<'a>(job: &Job<'a>, workspace: &Workspace) -> Result<Vec<Contestant<'a>>, ConductError> {
    let plan = job.plan;
    let free = rustix::fs::statvfs(workspace.path()).ok().map(|fs| fs.f_bavail * fs.f_frsize);
    let sizing = Sizing {
        machine: plan.machine.expect("campaign settles the machine class of every plan"),
        disk_free_bytes: free.map(|bytes| bytes / plan.treatments.len() as u64),
        data_bytes: Some(u64::from(plan.data.tables) * plan.data.rows * ROW_BYTES),
        clients: plan.clients.iter().copied().max().unwrap_or(1),
    };
    let contestant = |(treatment, build): (&'a rqps_model::plan::TreatmentPlan, &'a BuildFacts)| {
        let configuration = job
            .profiles
            .render(build.engine, &treatment.profile, &build.version, &sizing, &[], &treatment.set)
            .map_err(ConductError::server(format!("configuring {}", treatment.name)))?;
        Ok(Contestant { plan: treatment, build, configuration, account: Account::choose() })
    };
    plan.treatments.iter().zip(job.builds).map(contestant).collect()
}

/// Which cells of a plan are published.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) store: &'a Campaign,
}

impl Cells<'_> {
    /// Whether all treatments have a sample: builds are only ever measured side by side.
    pub(crate) fn test_done(&self, round: u32, test: &str, clients: u32) -> bool {
        self.plan.treatments.iter().all(|treatment| self.store.is_complete(round, &treatment.name, test, clients))
    }

    fn pieces(&self) -> impl Iterator<Item = (u32, &rqps_model::plan::TestPlan, u32)> {
        let tests = |round: u32| self.plan.tests.iter().map(move |test| (round, test));
        let rounds = self.plan.rounds.iter().flat_map(move |round| tests(round.number));
        rounds.flat_map(|(round, test)| self.plan.clients.iter().map(move |clients| (round, test, *clients)))
    }

    fn round_done(&self, number: u32) -> bool {
        self.pieces()
            .filter(|piece| piece.0 == number)
            .all(|(round, test, clients)| self.test_done(round, &test.name, clients))
    }

    fn all_done(&self) -> bool {
        self.plan.rounds.iter().all(|round| self.round_done(round.number))
    }

    /// Planned seconds of measurement that are still to come, over all treatments.
    fn seconds_left(&self) -> f64 {
        let missing = self.pieces().filter(|(round, test, clients)| !self.test_done(*round, &test.name, *clients));
        missing.map(|(_, test, _)| planned_seconds(self.plan, test)).sum()
    }
}

/// Planned seconds of a test in one round, over all treatments.
pub(crate) fn planned_seconds(plan: &Plan, test: &rqps_model::plan::TestPlan) -> f64 {
    (test.seconds + plan.warmup_seconds) * plan.treatments.len() as f64
}
