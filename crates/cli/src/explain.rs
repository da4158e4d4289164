//! `explain`: what stands behind each change, with rounds that sample functions and waits where a time is
//! given for them, also as the end of `run`.
//!
//! In: a results folder. Out: words, Markdown or JSON; where rounds were added, the folder's report is written again.

use crate::args::ExplainArgs;
use crate::measure::{how_long, measure};
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Result, bail};
use rqps_campaign::profiled::ToExplain;
use rqps_lab::results::Literals;
use rqps_lab::{Lab, Run, results};
use rqps_model::plural;
use rqps_store::Campaign;
use std::path::Path;

/// `rqps explain`.
pub(crate) fn explain(args: &ExplainArgs, screen: Screen) -> Result<Ending> {
    let campaign = Campaign::open(&args.judged.dir)?;
    let base = args.judged.base.as_deref();
    let mut findings = results::compare(&campaign, base, args.judged.literals())?;
    let tests = results::chosen(&findings, &args.tests)?;
    if let Some(seconds) = args.time {
        let wanted = match tests.is_empty() {
            true => results::to_explain(&findings),
            false => ToExplain { tests: tests.clone(), more: Vec::new() },
        };
        if is_nothing(&wanted) {
            bail!("{}; name those to explain with --tests", nothing_in(&campaign));
        }
        if !add_rounds(&campaign, &wanted, seconds, args.data.as_deref(), screen)? {
            return Ok(Ending::Interrupted);
        }
        findings = results::compare(&campaign, base, args.judged.literals())?;
    }
    if let Some(folder) = &args.pprof {
        let written = results::write_pprof(&campaign, &findings, &tests, folder)?;
        if written.is_empty() {
            bail!("nothing was sampled in {}; rqps explain --time does", args.judged.dir.display());
        }
        let files = written.len();
        screen.say(&format!("{} for pprof in {}", plural(files as u32, "file"), folder.display()));
    }
    screen.print(&match (args.json, args.markdown) {
        (true, _) => rqps_report::explain_json(&findings, &tests),
        (false, true) => rqps_report::explain_markdown(&findings, &tests),
        (false, false) => rqps_report::explain(&findings, &tests, screen.width()),
    });
    Ok(Ending::Clean)
}

/// The end of a campaign that was just measured: rounds that explain what moved in it, and words where `is_told`.
pub(crate) fn explain_measured(
    campaign: &Campaign,
    seconds: f64,
    data: Option<&Path>,
    is_told: bool,
    screen: Screen,
) -> Result<Ending> {
    let findings = results::compare(campaign, None, Literals::Hidden)?;
    let wanted = results::to_explain(&findings);
    if is_nothing(&wanted) {
        screen.say(&format!("{}: there is nothing to explain", nothing_in(campaign)));
        return Ok(Ending::Clean);
    }
    if !add_rounds(campaign, &wanted, seconds, data, screen)? {
        return Ok(Ending::Interrupted);
    }
    if is_told {
        let findings = results::compare(campaign, None, Literals::Hidden)?;
        screen.print(&rqps_report::explain(&findings, &[], screen.width()));
    } else {
        screen.say(&format!("rqps explain {} --json has what was found", campaign.folder().display()));
    }
    Ok(Ending::Clean)
}

fn is_nothing(wanted: &ToExplain) -> bool {
    wanted.tests.is_empty() && wanted.more.is_empty()
}

fn nothing_in(campaign: &Campaign) -> String {
    format!("no test of {} changed, and no plan or exact count differs", campaign.folder().display())
}

/// Adds rounds that explain a campaign and writes its report again; whether they were measured to the end.
fn add_rounds(
    campaign: &Campaign,
    wanted: &ToExplain,
    seconds: f64,
    data: Option<&Path>,
    screen: Screen,
) -> Result<bool> {
    let notify = &mut |notice| screen.notice(&notice);
    let lab = Lab::open(notify)?;
    let run = Run::explain(&lab, campaign, wanted, seconds, data, notify)?;
    let plan = run.plan();
    let is_left_out = |name: &&String| plan.tests().iter().all(|test| test.name != **name);
    let left_out: Vec<&str> = wanted.more.iter().filter(is_left_out).map(String::as_str).collect();
    if !left_out.is_empty() {
        screen.say(&format!(
            "not enough time for tests of which only plans or counts differ: {}; name them with --tests",
            left_out.join(", ")
        ));
    }
    screen.say(&format!(
        "sampling functions and waits in {} on {} treatments, {}; results in {}",
        plural(plan.tests().len(), plan.suite.noun()),
        plan.treatments.len(),
        how_long(plan),
        run.campaign().folder().display()
    ));
    if measure(run, data, screen)?.is_none() {
        return Ok(false);
    }
    // As it was run: another base is for the screen only.
    let findings = results::compare(campaign, None, Literals::Hidden)?;
    let html = results::write(campaign, &findings)?;
    screen.say(&format!("report: {}", html.display()));
    Ok(true)
}
