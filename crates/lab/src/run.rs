//! A campaign under way: a folder for its results, a lease for what it makes, and the measuring itself.
//!
//! In: a prepared campaign, or the folder of one that was begun. Out: [`Run`], which measures what the folder does not
//! have yet.

use crate::disk;
use crate::doctor::kept;
use crate::floors;
use crate::guard;
use crate::notice::{Notice, Notify};
use crate::open::Lab;
use crate::prepare::Prepared;
use anyhow::{Result, bail, ensure};
use rqps_analysis::NextRound;
use rqps_builds::installation::Trust;
use rqps_campaign::profiled::{ToExplain, profiled};
use rqps_campaign::{ROUNDS_MAX, division, flag_time};
use rqps_conduct::{ConductError, Job, Watch, check_program_pages};
use rqps_machine::Lease;
use rqps_machine::lease::Holdings;
use rqps_model::build::without_credentials;
use rqps_model::facts::{BuildFacts, HostFacts};
use rqps_model::plan::{Allotment, KeptFloor, TimeLimit};
use rqps_model::{Plan, human_duration};
use rqps_observe::clock::rfc3339;
use rqps_observe::facts::host_facts;
use rqps_store::{Campaign, Start, State, Writer};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// A campaign that can be measured.
#[derive(Debug)]
pub struct Run<'a> {
    lab: &'a Lab,
    plan: Plan,
    builds: Vec<BuildFacts>,
    store: Writer,
    lease: Lease,
    is_new: bool,
}

/// How measuring ended, where nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every sample of the plan is there.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// Refuses a place for results that cannot be one, before anything is fetched.
pub fn check_results_place(results: &Path) -> Result<()> {
    if results.exists() && !results.is_dir() {
        bail!("{} is not a directory; choose another with --results", results.display());
    }
    Ok(())
}

impl<'a> Run<'a> {
    /// A new campaign, with a folder in `results`.
    pub fn begin(
        lab: &'a Lab,
        prepared: Prepared,
        results: &Path,
        data: Option<&Path>,
        notify: &mut Notify<'_>,
    ) -> Result<Run<'a>> {
        let Prepared { mut plan, builds, campaign_toml, is_named, .. } = prepared;
        if !is_named {
            plan.name = free_name(results, &plan.name);
        }
        let data_place = lab.data_place(data);
        // Before hours of loading, not after.
        if let Some(warning) = disk::check(&plan, &data_place)? {
            notify(Notice::Warning(warning));
        }
        check_program_pages(&plan)?;
        let host = host_facts(&data_place);
        plan.kept_floors = kept_floors(&plan, &host, notify);
        let lease = Lease::open(&lab.cache)?;
        let store = Campaign::create(results, &plan.name, &plan, &host, &campaign_toml, this_start(&host))?;
        Ok(Run { lab, plan, builds, store, lease, is_new: true })
    }

    /// A campaign that was begun before, if something is missing.
    ///
    /// `data` is where data folders are to be made. A host that has changed is reported; `is_strict` refuses it,
    /// and another day as well.
    pub fn resume(
        lab: &'a Lab,
        folder: &Path,
        data: Option<&Path>,
        is_strict: bool,
        notify: &mut Notify<'_>,
    ) -> Result<Option<Run<'a>>> {
        let campaign = Campaign::open(folder)?;
        campaign.samples()?;
        if campaign.status().state == State::Complete && rqps_conduct::is_measured(&campaign, campaign.rounds()) {
            return Ok(None);
        }
        let start = start_on(lab, &campaign, data, is_strict, notify)?;
        let builds = builds_of(lab, &campaign, notify)?;
        Run::go_on(lab, builds, Campaign::open_to_resume(folder, start)?).map(Some)
    }

    /// A campaign that is complete, with so many seconds more.
    pub fn more(
        lab: &'a Lab,
        folder: &Path,
        seconds: f64,
        (data, is_strict): (Option<&Path>, bool),
        notify: &mut Notify<'_>,
    ) -> Result<Run<'a>> {
        let campaign = Campaign::open(folder)?;
        campaign.samples()?;
        if campaign.status().state != State::Complete {
            bail!("{0} is not complete; first finish it: rqps resume {0}", folder.display());
        }
        let start = start_on(lab, &campaign, data, is_strict, notify)?;
        // Nothing is written before it is known that a round can be added: the campaign stays as complete as it is.
        let builds = builds_of(lab, &campaign, notify)?;
        let limit = extended(&campaign, seconds)?;
        let mut store = Campaign::open_to_resume(folder, start)?;
        store.extend(limit)?;
        Run::go_on(lab, builds, store)
    }

    /// What a folder lacks, on the builds that it began with.
    fn go_on(lab: &'a Lab, builds: Vec<BuildFacts>, store: Writer) -> Result<Run<'a>> {
        Ok(Run { lab, plan: store.plan().clone(), builds, store, lease: Lease::open(&lab.cache)?, is_new: false })
    }

    /// Rounds that explain a campaign: its builds on these tests again, for so many seconds, with their functions
    /// sampled. They have a results folder of their own inside of the campaign's.
    pub fn explain(
        lab: &'a Lab,
        campaign: &Campaign,
        tests: &ToExplain,
        seconds: f64,
        data: Option<&Path>,
        notify: &mut Notify<'_>,
    ) -> Result<Run<'a>> {
        if let Some(writer) = campaign.writer() {
            bail!("{} is being measured by process {}; wait for its end", campaign.folder().display(), writer.process);
        }
        if let Err(refused) = rqps_profile::check() {
            notify(Notice::Warning(format!(
                "only waits are sampled, neither functions nor blocked sessions: {refused}"
            )));
        } else {
            if let Err(refused) = rqps_profile::check_syscalls() {
                notify(Notice::Warning(format!("system calls are not sampled: {refused}")));
            }
            if let Err(hidden) = rqps_profile::check_kernel_names() {
                notify(Notice::Warning(format!("all functions of the kernel are one: {hidden}")));
            }
        }
        let planned = profiled(campaign.plan(), tests, seconds).map_err(anyhow::Error::msg)?;
        let data_place = lab.data_place(data);
        if let Some(warning) = disk::check(&planned, &data_place)? {
            notify(Notice::Warning(warning));
        }
        let builds = builds_of(lab, campaign, notify)?;
        let host = host_facts(&data_place);
        let root = campaign.profiles_folder();
        let name = (1..).map(|number: u32| number.to_string()).find(|name| !root.join(name).exists());
        let plan = Plan { name: name.expect("one of infinitely many names is free"), ..planned };
        let lease = Lease::open(&lab.cache)?;
        let store = Campaign::create(&root, &plan.name, &plan, &host, &campaign.campaign_toml()?, this_start(&host))?;
        Ok(Run { lab, plan, builds, store, lease, is_new: true })
    }

    /// What is measured.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Its results, as far as there are any.
    pub fn campaign(&self) -> &Campaign {
        &self.store
    }

    /// What it has made on this machine, also for another thread.
    pub fn holdings(&self) -> Holdings {
        self.lease.holdings()
    }

    /// Measures what is missing; gives the results back.
    pub fn measure(
        mut self,
        data: Option<&Path>,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        notify: &mut Notify<'_>,
    ) -> Result<(Ended, Writer)> {
        match self.measure_missing(data, watch, stop, notify) {
            Ok(ended) => Ok((ended, self.store)),
            Err(error) => {
                if self.is_new {
                    // With nothing measured there is nothing to resume, and the name is free for the next attempt. The
                    // first error is the one to report.
                    let _ = self.store.discard();
                }
                Err(error)
            }
        }
    }

    fn measure_missing(
        &mut self,
        data: Option<&Path>,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
        notify: &mut Notify<'_>,
    ) -> Result<Ended> {
        let Run { lab, plan, builds, store, lease, .. } = self;
        guard::start(&lab.cache)?;
        let job = Job {
            plan,
            suites: &lab.suites,
            builds,
            profiles: &lab.profiles,
            cache: &lab.cache,
            lease,
            data_parent: data,
            resumed: store.status().starts.len() - 1,
        };
        let measured = measure_rounds(job, store, watch, stop, notify);
        for left in lease.not_removed() {
            notify(Notice::Warning(format!("{left}; the next start of rqps tries again")));
        }
        match measured {
            Ok(()) => Ok(Ended::Complete),
            // An event said so before the data were removed.
            Err(ConductError::Interrupted) => Ok(Ended::Interrupted),
            Err(error) if store.samples()?.is_empty() => Err(error.into()),
            Err(error) => {
                let remedy = format!("what was measured is kept; go on with: rqps resume {}", store.folder().display());
                Err(anyhow::Error::new(error).context(remedy))
            }
        }
    }
}

/// The time of a campaign with so many seconds more, if they are enough for a round.
fn extended(campaign: &Campaign, seconds: f64) -> Result<TimeLimit> {
    let shortest = rqps_conduct::shortest_extension(campaign)?;
    ensure!(
        seconds >= shortest,
        "{} more are too short for loading the data anew and a round, which took about {}; take --time {} or more",
        human_duration(Duration::from_secs_f64(seconds)),
        human_duration(Duration::from_secs_f64(shortest)),
        flag_time(shortest)
    );
    let plan = campaign.plan();
    // Of a build that is measured against itself every round is to show the noise of every test.
    let division = plan.division().or_else(|| division(plan).filter(|_| !plan.shows_noise_only(plan.base)));
    Ok(TimeLimit { seconds: rqps_conduct::extended_limit(campaign, seconds)?, rounds_max: ROUNDS_MAX, division })
}

/// The builds that a campaign began with, on this machine.
fn builds_of(lab: &Lab, campaign: &Campaign, notify: &mut Notify<'_>) -> Result<Vec<BuildFacts>> {
    let mut builds = Vec::new();
    for treatment in &campaign.plan().treatments {
        let before = campaign.build(&treatment.name)?;
        let begun_with = before.as_ref().map(|before| lab.begun_with(&treatment.build, before)).transpose()?;
        let facts = match begun_with.flatten() {
            Some(facts) => facts,
            None => lab.install(&treatment.build, Trust::Program, notify)?,
        };
        let name = treatment.build.name.clone().unwrap_or_else(|| facts.name.clone());
        if let Some(before) = before
            && before.sha256 != facts.sha256
        {
            bail!(
                "the build of {} is not the one that the campaign began with (server binary {} then, {} now); start a \
                 new campaign",
                treatment.name,
                before.sha256,
                facts.sha256
            );
        }
        builds.push(BuildFacts { name, ..facts });
    }
    Ok(builds)
}

/// Measures everything that the results folder does not have yet, round by round.
fn measure_rounds(
    job: Job<'_>,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
    notify: &mut Notify<'_>,
) -> Result<(), ConductError> {
    if is_due(store, notify) {
        let mut run = rqps_conduct::Run::begin(job, store, watch, stop)?;
        measure_due_rounds(&mut run, store, watch, notify)?;
    }
    store.finish(&rfc3339(SystemTime::now()))?;
    Ok(())
}

/// Whether anything is to be measured: what rounds that began lack, or another round. Looked at before data are loaded.
fn is_due(store: &Campaign, notify: &mut Notify<'_>) -> bool {
    let (begun, due) = (store.rounds_begun(), rqps_conduct::rounds_due(store, Some(SystemTime::now())));
    let mut may_begin = || due > begun && matches!(next_round(store, notify), NextRound::Measures(_));
    match store.plan().division() {
        Some(_) => !rqps_conduct::is_measured(store, begun) || may_begin(),
        None => !rqps_conduct::is_measured(store, due),
    }
}

/// Measures round by round, until no further one is due, or nothing is left to be measured.
fn measure_due_rounds(
    run: &mut rqps_conduct::Run<'_>,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    notify: &mut Notify<'_>,
) -> Result<(), ConductError> {
    let is_divided = store.plan().division().is_some();
    let mut given_up = Vec::new();
    while let Some(number) = run.next_round(store) {
        let mut allotment = None;
        if is_divided && store.round(number)?.is_none() {
            let allotted = match next_round(store, notify) {
                NextRound::Measures(allotted) => allotted,
                NextRound::NothingLeft => return Ok(()),
                NextRound::NoTimeLeft => break,
            };
            if allotted.given_up != given_up {
                given_up.clone_from(&allotted.given_up);
                notify(Notice::GivenUp(given_up.clone()));
            }
            allotment = Some(allotted);
        }
        run.measure(number, allotment, store, watch)?;
    }
    let has_new_rounds = store.status().extended.is_none() || store.status().has_grown(store.rounds_begun());
    if is_divided && has_new_rounds {
        // No further round fits: nothing is kept for a later look. A campaign that was given more time and no round
        // has had its last look.
        store.set_spent(1.0)?;
    }
    Ok(())
}

/// What a new round measures, if there is one. If the results so far cannot be read, the report will tell; until then
/// every test is measured, as long as rounds like the last one fit.
fn next_round(store: &Campaign, notify: &mut Notify<'_>) -> NextRound {
    let (plan, now) = (store.plan(), Some(SystemTime::now()));
    let spent = rqps_conduct::share_spent(store, now).unwrap_or(0.0);
    rqps_analysis::allot(store, spent).unwrap_or_else(|error| {
        if rqps_conduct::rounds(store, now) <= store.rounds_begun() {
            return NextRound::NoTimeLeft;
        }
        notify(Notice::Warning(format!("every test is measured, since the results so far cannot be judged: {error}")));
        let seconds = plan.tests().iter().map(|test| (test.name.clone(), test.seconds)).collect();
        NextRound::Measures(Allotment { spent, seconds, given_up: Vec::new() })
    })
}

/// Another start of a campaign, with what has changed on the host since it began.
fn start_on(
    lab: &Lab,
    campaign: &Campaign,
    data: Option<&Path>,
    is_strict: bool,
    notify: &mut Notify<'_>,
) -> Result<Start> {
    let host = host_facts(&lab.data_place(data));
    let start = Start { host_changes: host.changes_since(campaign.host()), ..this_start(&host) };
    check_host(&start, campaign.status().started_at(), is_strict, notify)?;
    Ok(start)
}

/// The noise that A/As on this host have shown of a plan's tests. What cannot be read is told, and left out.
fn kept_floors(plan: &Plan, host: &HostFacts, notify: &mut Notify<'_>) -> Vec<KeptFloor> {
    floors::list().map_or_else(
        |error| {
            notify(Notice::Warning(format!("{error:#}")));
            Vec::new()
        },
        |kept| floors::taken_along(&kept, plan, &floors::Host::of(host)),
    )
}

fn this_start(host: &HostFacts) -> Start {
    Start {
        at: rfc3339(SystemTime::now()),
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        // Passwords in the addresses of builds are not kept.
        command_line: std::env::args().map(|word| without_credentials(&word)).collect(),
        host_changes: Vec::new(),
        checkup: kept::in_boot(&host.boot_id),
    }
}

/// Reports a host that has changed since the campaign began, or refuses it, and another day, if that is wanted: rounds
/// of one campaign are compared as if nothing but chance made them differ.
fn check_host(start: &Start, begun_at: &str, is_strict: bool, notify: &mut Notify<'_>) -> Result<()> {
    let day = |at: &str| at.split('T').next().unwrap_or_default().to_owned();
    let changes: Vec<String> = start.host_changes.iter().map(ToString::to_string).collect();
    let remedy = "start a new campaign, or leave out --strict";
    if changes.is_empty() {
        ensure!(
            !is_strict || day(begun_at) == day(&start.at),
            "the campaign was begun on {}, and --strict refuses another day; {remedy}",
            day(begun_at)
        );
        return Ok(());
    }
    let told = format!("this host has changed since the campaign began: {}", changes.join("; "));
    ensure!(!is_strict, "{told}; {remedy}");
    notify(Notice::Warning(told));
    Ok(())
}

/// A name that no campaign in the folder has yet.
fn free_name(results: &Path, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !results.join(name).exists()).expect("one of infinitely many names is free")
}
