//! A campaign under way: a folder for its results, a lease for what it makes, and the measuring itself.
//!
//! In: a prepared campaign, or the folder of one that was begun. Out: [`Run`], which measures what the folder does not
//! have yet.

use crate::disk;
use crate::notice::{Notice, Notify};
use crate::open::Lab;
use crate::prepare::Prepared;
use anyhow::{Result, bail};
use rqps_builds::installation::Trust;
use rqps_conduct::{ConductError, Job, Outcome, Watch};
use rqps_machine::Lease;
use rqps_machine::lease::Holdings;
use rqps_model::Plan;
use rqps_model::build::without_credentials;
use rqps_model::facts::BuildFacts;
use rqps_observe::clock::rfc3339;
use rqps_observe::facts::host_facts;
use rqps_store::{Campaign, Start, State, Writer};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

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
        let host = host_facts(&data_place);
        let lease = Lease::open(&lab.cache)?;
        let store = Campaign::create(results, &plan.name, &plan, &host, &campaign_toml, this_start())?;
        Ok(Run { lab, plan, builds, store, lease, is_new: true })
    }

    /// A campaign that was begun before, if something is missing.
    pub fn resume(lab: &'a Lab, folder: &Path, notify: &mut Notify<'_>) -> Result<Option<Run<'a>>> {
        let campaign = Campaign::open(folder)?;
        campaign.samples()?;
        if campaign.status().state == State::Complete && rqps_conduct::is_measured(&campaign, campaign.rounds()) {
            return Ok(None);
        }
        let store = Campaign::open_to_resume(folder, this_start())?;
        let plan = store.plan().clone();
        let mut builds = Vec::new();
        for treatment in &plan.treatments {
            let before = store.build(&treatment.name)?;
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
                    "the build of {} is not the one that the campaign began with (server binary {} then, {} now); \
                     start a new campaign",
                    treatment.name,
                    before.sha256,
                    facts.sha256
                );
            }
            builds.push(BuildFacts { name, ..facts });
        }
        Ok(Some(Run { lab, plan, builds, store, lease: Lease::open(&lab.cache)?, is_new: false }))
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
        let measured = measure_rounds(job, store, watch, stop);
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

/// Measures everything that the results folder does not have yet, round by round.
fn measure_rounds(
    job: Job<'_>,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let rounds = rqps_conduct::rounds(store, Some(SystemTime::now()));
    if !rqps_conduct::is_measured(store, rounds) {
        let mut run = rqps_conduct::Run::begin(job, store, watch, stop)?;
        while run.next_round(store, watch)? != Outcome::Complete {}
    }
    store.finish(&rfc3339(SystemTime::now()))?;
    Ok(())
}

fn this_start() -> Start {
    Start {
        at: rfc3339(SystemTime::now()),
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        // Passwords in the addresses of builds are not kept.
        command_line: std::env::args().map(|word| without_credentials(&word)).collect(),
    }
}

/// A name that no campaign in the folder has yet.
fn free_name(results: &Path, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !results.join(name).exists()).expect("one of infinitely many names is free")
}
