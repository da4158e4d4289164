//! `plan`, `run`, `demo` and `resume`: measure, then judge and report.

use crate::args::{CampaignFlags, DemoArgs, OutputFlags, PlanArgs, ResumeArgs, RunArgs};
use crate::disk;
use crate::interrupt;
use crate::lab::Lab;
use crate::outcome::{self, Ending};
use crate::prepare::{Builds, Prepared, prepare};
use crate::screen::{Progress, Screen};
use anyhow::{Result, bail};
use rqps_campaign::{Command, describe, estimate, human_duration};
use rqps_conduct::{ConductError, Job, Outcome, Run, Watch};
use rqps_machine::{Lease, Workspace};
use rqps_model::build::without_credentials;
use rqps_model::facts::BuildFacts;
use rqps_model::{Event, EventKind, Plan, counted};
use rqps_observe::clock::rfc3339;
use rqps_observe::facts::host_facts;
use rqps_store::{Campaign, Start, State, Writer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// `rqps plan`.
pub(crate) fn plan(args: &PlanArgs, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(screen)?;
    let prepared = prepare(&lab, args.file.as_deref(), &args.flags, Command::Run, Builds::OnlyName, screen)?;
    if args.json {
        screen.print(&serde_json::to_string_pretty(&prepared.plan)?);
    } else {
        screen.print(&describe(&prepared.plan));
        let place = data_place(&lab, args.places.data.as_deref())?;
        screen.print(&disk::told(&prepared.plan, &place, &args.places.results));
    }
    Ok(Ending::Clean)
}

/// `rqps run`.
pub(crate) fn run(args: &RunArgs, screen: Screen) -> Result<Ending> {
    begin(args.file.as_deref(), &args.flags, &args.output, Command::Run, screen)
}

/// `rqps demo`.
pub(crate) fn demo(args: &DemoArgs, screen: Screen) -> Result<Ending> {
    begin(None, &args.flags, &args.output, Command::Demo, screen)
}

fn begin(
    file: Option<&Path>,
    flags: &CampaignFlags,
    output: &OutputFlags,
    command: Command,
    screen: Screen,
) -> Result<Ending> {
    let places = &output.places;
    if places.results.exists() && !places.results.is_dir() {
        bail!("{} is no folder; choose another for the results with --results", places.results.display());
    }
    let lab = Lab::open(screen)?;
    let Prepared { mut plan, builds, campaign_toml, is_named } =
        prepare(&lab, file, flags, command, Builds::Install, screen)?;
    if !is_named {
        plan.name = free_name(&places.results, &plan.name);
    }
    let data_place = data_place(&lab, places.data.as_deref())?;
    // Before hours of loading, not after.
    if let Some(warning) = disk::check(&plan, &data_place)? {
        screen.warn(&warning);
    }
    let host = host_facts(&data_place);
    let mut store = Campaign::create(&places.results, &plan.name, &plan, &host, &campaign_toml, this_start())?;
    screen.say(&format!(
        "{}: {} treatments, {}, {}; about {}; results in {}",
        plan.name,
        plan.treatments.len(),
        counted(plan.tests().len(), "test"),
        counted(plan.rounds, "round"),
        human_duration(estimate(&plan).duration()),
        store.folder().display()
    ));
    let ended = measure_and_report(&lab, &plan, &builds, places.data.as_deref(), &mut store, output.json, screen);
    if ended.is_err() {
        // With nothing measured there is nothing to resume, and the name is free for the next attempt.
        // The first error is the one to tell.
        let _ = store.discard();
    }
    ended
}

/// `rqps resume`.
pub(crate) fn resume(args: &ResumeArgs, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(screen)?;
    let campaign = Campaign::open(&args.dir)?;
    campaign.samples()?;
    if campaign.status().state == State::Complete && rqps_conduct::is_measured(&campaign) {
        screen.say("nothing is missing; this is what there is");
        return outcome::report(&campaign, args.json, screen);
    }
    let mut store = Campaign::open_to_resume(&args.dir, this_start())?;
    let plan = store.plan().clone();
    let mut builds = Vec::new();
    for treatment in &plan.treatments {
        let facts = lab.install(&treatment.build, screen)?;
        let name = treatment.build.name.clone().unwrap_or_else(|| facts.name.clone());
        if let Some(before) = store.build(&treatment.name)?
            && before.sha256 != facts.sha256
        {
            bail!(
                "the build of {} is not the one that the campaign began with (server binary {} then, {} now); start a new campaign",
                treatment.name,
                before.sha256,
                facts.sha256
            );
        }
        builds.push(BuildFacts { name, ..facts });
    }
    measure_and_report(&lab, &plan, &builds, args.data.as_deref(), &mut store, args.json, screen)
}

fn measure_and_report(
    lab: &Lab,
    plan: &Plan,
    builds: &[BuildFacts],
    data: Option<&Path>,
    store: &mut Writer,
    json: bool,
    screen: Screen,
) -> Result<Ending> {
    let lease = Lease::open(&lab.cache)?;
    let is_told = Arc::new(AtomicBool::new(false));
    let (holdings, folder, told_before) = (lease.holdings(), store.folder().to_owned(), Arc::clone(&is_told));
    let stop = interrupt::flag_on_interrupt(move || {
        let told = told_before.load(Ordering::Relaxed);
        interrupt::last_words(&holdings.folders(), &folder, told).iter().for_each(|words| screen.say(words));
    })?;
    let mut progress = Progress::new(screen);
    let job = Job {
        plan,
        suites: &lab.suites,
        builds,
        profiles: &lab.profiles,
        cache: &lab.cache,
        lease: &lease,
        data_parent: data,
        resumed: store.status().starts.len() - 1,
    };
    let mut watch = |event: &Event| {
        is_told.fetch_or(matches!(event.kind, EventKind::Interrupted { .. }), Ordering::Relaxed);
        progress.show(&event.kind);
    };
    let measured = measure(job, store, &mut watch, &stop);
    progress.end();
    for left in lease.not_removed() {
        screen.warn(&format!("{left}; the next start of rqps tries again"));
    }
    match measured {
        Ok(()) => outcome::report(store, json, screen),
        // It was told before the data were removed.
        Err(ConductError::Interrupted) => Ok(Ending::Interrupted),
        Err(error) if store.samples()?.is_empty() => Err(error.into()),
        Err(error) => {
            let remedy = format!("what was measured is kept; go on with: rqps resume {}", store.folder().display());
            Err(anyhow::Error::new(error).context(remedy))
        }
    }
}

/// Measures everything that the results folder does not have yet, round by round.
fn measure(job: Job<'_>, store: &mut Writer, watch: &mut Watch<'_>, stop: &AtomicBool) -> Result<(), ConductError> {
    if !rqps_conduct::is_measured(store) {
        let mut run = Run::begin(job, store, watch, stop)?;
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

/// An existing folder on the device that the data will be on.
fn data_place(lab: &Lab, data: Option<&Path>) -> Result<std::path::PathBuf> {
    let parent = Workspace::parent(&lab.cache, data);
    Ok(parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned())
}
