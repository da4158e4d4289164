//! `plan`, `run`, `demo` and `resume`: measure, then compare and report.

use crate::args::{CampaignArgs, MoreArgs, PlanArgs, ResumeArgs, RunArgs};
use crate::explain::explain_measured;
use crate::measure::{how_long, measure};
use crate::outcome::{self, Ending};
use crate::screen::Screen;
use anyhow::{Result, anyhow};
use rqps_campaign::profiled::{ToExplain, profiled};
use rqps_campaign::{Command, describe};
use rqps_lab::prepare::{Builds, prepare};
use rqps_lab::run::check_results_place;
use rqps_lab::{Lab, Prepared, Run, disk, floors};
use rqps_model::{Plan, plural};
use rqps_store::{Campaign, Writer};
use std::path::Path;

fn prepared(
    lab: &Lab,
    file: Option<&Path>,
    args: &CampaignArgs,
    command: Command,
    builds: Builds,
    screen: Screen,
) -> Result<Prepared> {
    let notify = &mut |notice| screen.notice(&notice);
    let prepared = prepare(lab, file, &args.flags.0, args.data.as_deref(), command, builds, notify)?;
    screen.diagnostics(&prepared.notes);
    Ok(prepared)
}

/// `rqps plan`.
pub(crate) fn plan(PlanArgs { file, campaign }: &PlanArgs, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(&mut |notice| screen.notice(&notice))?;
    let prepared = prepared(&lab, file.as_deref(), campaign, Command::Run, Builds::OnlyName, screen)?;
    if campaign.json {
        screen.print(&serde_json::to_string_pretty(&prepared.plan)?);
    } else {
        screen.print(&describe(&prepared.plan));
        foretell(&prepared.plan, screen);
        let place = lab.data_place(campaign.data.as_deref());
        screen.print(&disk::describe(&prepared.plan, &place, &campaign.results));
    }
    Ok(Ending::Clean)
}

/// What is known of this host's noise, as far as it tells something of the plan.
fn foretell(plan: &Plan, screen: Screen) {
    match floors::list() {
        Ok(kept) => {
            let (foretold, sources) = floors::of_plan(&kept, plan, &floors::this_host());
            if !foretold.is_empty() {
                screen.print(&floors::text::describe(plan, &foretold, &sources));
            }
        }
        Err(error) => screen.warn(&format!("{error:#}")),
    }
}

/// `rqps run`.
pub(crate) fn run(RunArgs { planned, explain }: &RunArgs, screen: Screen) -> Result<Ending> {
    let args = &planned.campaign;
    let Some(store) = measured(planned.file.as_deref(), args, Command::Run, *explain, screen)? else {
        return Ok(Ending::Interrupted);
    };
    let ending = outcome::report(&store, args.json, screen)?;
    let Some(seconds) = *explain else { return Ok(ending) };
    let folder = store.folder().to_owned();
    // From here on it is nobody's to write.
    drop(store);
    match explain_measured(&Campaign::open(&folder)?, seconds, args.data.as_deref(), !args.json, screen)? {
        Ending::Clean => Ok(ending),
        other => Ok(other),
    }
}

/// `rqps demo`.
pub(crate) fn demo(args: &CampaignArgs, screen: Screen) -> Result<Ending> {
    report(measured(None, args, Command::Demo, None, screen)?, args.json, screen)
}

fn report(measured: Option<Writer>, json: bool, screen: Screen) -> Result<Ending> {
    match measured {
        Some(store) => outcome::report(&store, json, screen),
        None => Ok(Ending::Interrupted),
    }
}

/// Runs a campaign from its first word; its results, or nothing where the user stopped it. Where it is to be explained
/// for so many seconds then, too few are refused before it begins.
pub(crate) fn measured(
    file: Option<&Path>,
    args: &CampaignArgs,
    command: Command,
    explain: Option<f64>,
    screen: Screen,
) -> Result<Option<Writer>> {
    check_results_place(&args.results)?;
    let notify = &mut |notice| screen.notice(&notice);
    let lab = Lab::open(notify)?.with_jobs(args.jobs);
    let prepared = prepared(&lab, file, args, command, Builds::Install, screen)?;
    if let Some(seconds) = explain {
        let tests = prepared.plan.tests();
        let any = ToExplain { tests: Vec::new(), more: tests.iter().map(|test| test.name.clone()).collect() };
        profiled(&prepared.plan, &any, seconds).map_err(|words| anyhow!("--explain: {words}"))?;
    }
    let run = Run::begin(&lab, prepared, &args.results, args.data.as_deref(), notify)?;
    let plan = run.plan();
    screen.say(&format!(
        "{}: {} treatments, {}, {}; results in {}",
        plan.name,
        plan.treatments.len(),
        plural(plan.tests().len(), "test"),
        how_long(plan),
        run.campaign().folder().display()
    ));
    measure(run, args.data.as_deref(), screen)
}

/// `rqps resume`.
pub(crate) fn resume(args: &ResumeArgs, screen: Screen) -> Result<Ending> {
    let notify = &mut |notice| screen.notice(&notice);
    let lab = Lab::open(notify)?.with_jobs(args.jobs);
    match Run::resume(&lab, &args.dir, args.data.as_deref(), args.strict, notify)? {
        Some(run) => report(measure(run, args.data.as_deref(), screen)?, args.json, screen),
        None => {
            screen.say("campaign is complete; showing its results");
            outcome::report(&Campaign::open(&args.dir)?, args.json, screen)
        }
    }
}

/// `rqps more`.
pub(crate) fn more(MoreArgs { resume, time }: &MoreArgs, screen: Screen) -> Result<Ending> {
    let notify = &mut |notice| screen.notice(&notice);
    let lab = Lab::open(notify)?.with_jobs(resume.jobs);
    let on = (resume.data.as_deref(), resume.strict);
    let run = Run::more(&lab, &resume.dir, *time, on, notify)?;
    report(measure(run, resume.data.as_deref(), screen)?, resume.json, screen)
}
