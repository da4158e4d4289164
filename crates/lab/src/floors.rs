//! The noise of this host, as an A/A campaign showed it, kept for later plans.
//!
//! In: a campaign that measured its base twice, with its findings. Out: a file in the user's state folder, the list of
//! such files, what they foretell of a plan, and what a campaign takes along for its verdicts.

pub mod text;

use anyhow::{Context, Result, ensure};
use rqps_analysis::findings::Findings;
use rqps_campaign::{Foretold, Noise, foretell};
use rqps_machine::user_files::{state_folder, write_whole};
use rqps_model::facts::HostFacts;
use rqps_model::plan::{Arrival, DataSet, DataShape, KeptFloor, TreatmentPlan};
use rqps_model::{Engine, Placement, Plan, StorageEngine};
use rqps_observe::facts::host_facts;
use rqps_store::Campaign;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the files.
const FORMAT: u32 = 2;

/// What an A/A campaign showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of this form.
    pub format: u32,
    /// When it ended, RFC 3339, UTC.
    pub at: String,
    /// Where.
    pub host: Host,
    /// The build's name.
    pub build: String,
    /// Its engine.
    pub engine: Engine,
    /// What stored its tables, where the engine leaves a choice.
    pub storage: Option<StorageEngine>,
    /// The profile that it ran with.
    pub profile: String,
    /// Settings on top of the profile.
    pub set: BTreeMap<String, String>,
    /// Tables, and rows of each.
    pub data: DataShape,
    /// CPUs of server and client.
    pub placement: Placement,
    /// Where its results were written.
    pub results: PathBuf,
    /// By test and number of clients.
    pub floors: Vec<TestFloor>,
}

/// A host as far as its noise depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// CPU model.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u32,
    /// Kernel release.
    pub kernel: String,
}

impl Host {
    /// The same in short.
    pub fn of(facts: &HostFacts) -> Host {
        Host { cpu_model: facts.cpu_model.clone(), cpus: facts.cpus, kernel: facts.kernel.clone() }
    }
}

/// The noise of one test at a number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestFloor {
    /// The test.
    pub test: String,
    /// Clients.
    pub clients: u32,
    /// Rounds compared.
    pub rounds: u32,
    /// Seconds that each counted; of rounds that counted different ones the harmonic mean.
    pub seconds: f64,
    /// Sd of the rounds' log ratios.
    pub sd: f64,
    /// Standard error that the slices of a round explain; 0 where it has none.
    pub slice_se: f64,
}

/// What an A/A campaign shows, by its findings.
pub fn calibration(campaign: &Campaign, findings: &Findings) -> Result<Calibration> {
    let plan = campaign.plan();
    let data = loaded(plan).context("noise is kept of tests on loaded tables, those of suite sysbench")?;
    ensure!(plan.arrival == Arrival::Closed, "at a planned rate throughput has no noise to be kept; leave out --rate");
    let base = &plan.treatments[plan.base];
    let is_twin = |at: &usize| *at != plan.base && plan.are_same(*at, plan.base);
    let twin = (0..plan.treatments.len()).find(is_twin).context("the base was not measured twice")?;
    let counted = seconds_by_round(campaign)?;
    let floor = |test: &rqps_analysis::findings::TestFindings| {
        let comparison = test.cells[twin].comparison.as_ref()?;
        let seconds = comparison.by_round.iter().map(|round| counted[&round.round].get(&test.name).copied());
        Some(TestFloor {
            test: test.name.clone(),
            clients: test.clients,
            rounds: comparison.n,
            seconds: harmonic_mean(&seconds.collect::<Option<Vec<f64>>>()?),
            sd: comparison.sd?,
            slice_se: comparison.cycle_se.unwrap_or(0.0),
        })
    };
    let floors: Vec<TestFloor> = findings.tests.iter().filter_map(floor).collect();
    ensure!(!floors.is_empty(), "no test has two rounds, so that nothing is known of the noise; give it more --time");
    Ok(Calibration {
        format: FORMAT,
        at: campaign.status().finished_at.clone().context("the campaign has not ended")?,
        host: Host::of(campaign.host()),
        build: findings.treatments[plan.base].build.name.clone(),
        engine: base.build.engine,
        storage: base.storage,
        profile: base.profile.clone(),
        set: base.set.clone(),
        data,
        placement: plan.placement,
        results: std::path::absolute(campaign.folder())?,
        floors,
    })
}

/// Seconds that each round counted of each test.
fn seconds_by_round(campaign: &Campaign) -> Result<BTreeMap<u32, BTreeMap<String, f64>>> {
    let of_round = |number: u32| {
        let round = campaign.round(number)?.unwrap_or_else(|| campaign.plan().round(number));
        let allotted = campaign.plan().allotted(&round);
        Ok((number, allotted.tests().into_iter().map(|test| (test.name.clone(), test.seconds)).collect()))
    };
    (1..=campaign.rounds()).map(of_round).collect()
}

/// What of the variance is due to slices goes with the inverse of the seconds, so that is what has a mean.
fn harmonic_mean(seconds: &[f64]) -> f64 {
    seconds.len() as f64 / seconds.iter().map(|seconds| 1.0 / seconds).sum::<f64>()
}

/// The tables that were loaded for all of a plan's tests alike.
fn loaded(plan: &Plan) -> Option<DataShape> {
    plan.stages.iter().find_map(|stage| match stage.data {
        DataSet::Loaded(data) => Some(data),
        _ => None,
    })
}

/// Keeps it in the user's state folder; the file.
pub fn keep(calibration: &Calibration) -> Result<PathBuf> {
    keep_in(&folder(), calibration)
}

/// This host.
pub fn this_host() -> Host {
    Host::of(&host_facts(Path::new("/")))
}

/// All that are kept, the newest first.
pub fn list() -> Result<Vec<Calibration>> {
    list_in(&folder())
}

fn folder() -> PathBuf {
    state_folder().join("floors")
}

fn keep_in(folder: &Path, calibration: &Calibration) -> Result<PathBuf> {
    let moment: String = calibration.at.chars().filter(char::is_ascii_alphanumeric).collect();
    let path = folder.join(format!("{moment}.{}.json", calibration.build));
    write_whole(&path, &serde_json::to_vec_pretty(calibration)?)
        .with_context(|| format!("writing {} (RQPS_STATE names another folder)", path.display()))?;
    Ok(path)
}

fn list_in(folder: &Path) -> Result<Vec<Calibration>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut kept = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let damaged = || format!("{} cannot be read; delete it, and calibrate again", path.display());
        let one: Calibration = serde_json::from_slice(&fs::read(&path).with_context(damaged)?).with_context(damaged)?;
        // What a newer rqps keeps is for that one.
        kept.extend(Some(one).filter(|one| one.format == FORMAT));
    }
    kept.sort_by(|a, b| b.at.cmp(&a.at));
    Ok(kept)
}

/// What a calibration showed, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// The build's name.
    pub build: String,
    /// The day on which it ended.
    pub day: String,
    /// Tests, each number of clients by itself.
    pub tests: u32,
    /// Sd of the rounds' log ratios, of the test in the middle.
    pub sd_middle: f64,
    /// That of the noisiest one.
    pub sd_most: f64,
}

impl Shown {
    /// Of one calibration.
    pub fn by(one: &Calibration) -> Shown {
        let mut sds: Vec<f64> = one.floors.iter().map(|floor| floor.sd).collect();
        sds.sort_by(f64::total_cmp);
        Shown {
            build: one.build.clone(),
            day: one.at.split('T').next().unwrap_or(&one.at).to_owned(),
            tests: sds.len() as u32,
            sd_middle: sds.get(sds.len() / 2).copied().unwrap_or(0.0),
            sd_most: sds.last().copied().unwrap_or(0.0),
        }
    }
}

/// What the newest of these calibrations showed that was made on this host.
pub fn newest(kept: &[Calibration], host: &Host) -> Option<Shown> {
    kept.iter().filter(|one| one.host == *host).max_by(|a, b| a.at.cmp(&b.at)).map(Shown::by)
}

/// Those on this CPU and kernel, of the same engines, profile, settings and placement.
fn fitting<'k>(kept: &'k [Calibration], plan: &Plan, host: &Host) -> Vec<&'k Calibration> {
    let base = &plan.treatments[plan.base];
    let has_noise = loaded(plan).is_some() && plan.arrival == Arrival::Closed;
    let fits = |one: &&Calibration| {
        has_noise
            && one.host == *host
            && (one.engine, one.storage, one.placement) == (base.build.engine, base.storage, plan.placement)
            && (&one.profile, &one.set) == (&base.profile, &base.set)
    };
    kept.iter().filter(fits).collect()
}

/// The newest that tells of a test.
fn find<'k>(fitting: &[&'k Calibration], test: &str, clients: u32) -> Option<(&'k Calibration, &'k TestFloor)> {
    let of = |one: &'k Calibration| {
        let floor = one.floors.iter().find(|floor| floor.test == test && floor.clients == clients)?;
        Some((one, floor))
    };
    fitting.iter().find_map(|&one| of(one))
}

/// What a campaign takes along of the noise of its tests: where all its treatments have the engine and the profile that
/// were measured, on as many rows. Whether it counts, the campaign's own rounds decide.
pub fn taken_along(kept: &[Calibration], plan: &Plan, host: &Host) -> Vec<KeptFloor> {
    let base = &plan.treatments[plan.base];
    let is_like = |one: &TreatmentPlan| {
        (one.build.engine, one.storage, &one.profile, &one.set)
            == (base.build.engine, base.storage, &base.profile, &base.set)
    };
    if !plan.treatments.iter().all(is_like) {
        return Vec::new();
    }
    let mut fitting = fitting(kept, plan, host);
    fitting.retain(|one| Some(one.data) == loaded(plan));
    let clients = plan.clients();
    let cells = plan.tests().into_iter().flat_map(|test| clients.iter().map(move |clients| (&test.name, *clients)));
    let of = |(test, clients): (&String, u32)| {
        let (_, &TestFloor { rounds, sd, slice_se, .. }) = find(&fitting, test, clients)?;
        Some(KeptFloor { test: test.clone(), clients, rounds, sd, slice_se })
    };
    cells.filter_map(of).collect()
}

/// What the tests of a plan would see on this host, and the campaigns that tell.
pub fn of_plan<'k>(kept: &'k [Calibration], plan: &Plan, host: &Host) -> (Vec<Foretold>, Vec<&'k Calibration>) {
    let fitting = fitting(kept, plan, host);
    let find = |test: &str, clients: u32| find(&fitting, test, clients);
    let noise = |test: &str, clients: u32| {
        let (_, floor) = find(test, clients)?;
        Some(Noise { sd: floor.sd, slice_se: floor.slice_se, seconds: floor.seconds })
    };
    let foretold = foretell(plan, &noise);
    let told = |one: &&Calibration| {
        let is_of =
            |cell: &Foretold| find(&cell.test, cell.clients).is_some_and(|(source, _)| std::ptr::eq(source, *one));
        foretold.iter().any(is_of)
    };
    let sources = fitting.iter().copied().filter(told).collect();
    (foretold, sources)
}

#[cfg(test)]
mod tests;
