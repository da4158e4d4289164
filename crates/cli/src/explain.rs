//! `explain`: what stands behind each change, with rounds that sample functions and waits where a time is
//! given for them.
//!
//! In: a results folder. Out: words, Markdown or JSON; where rounds were added, the folder's report is written again.

use crate::args::ExplainArgs;
use crate::outcome::Ending;
use crate::run::{how_long, measure};
use crate::screen::Screen;
use anyhow::{Result, bail};
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
    let is_there = |name: &&String| findings.tests.iter().any(|test| test.name == **name);
    if let Some(unknown) = args.tests.iter().find(|name| !is_there(name)) {
        let names: Vec<&str> = findings.tests.iter().map(|test| test.name.as_str()).collect();
        bail!("no test `{unknown}` in {}; there are {}", args.judged.dir.display(), names.join(", "));
    }
    if let Some(seconds) = args.time {
        let tests = if args.tests.is_empty() { results::changed(&findings) } else { args.tests.clone() };
        if tests.is_empty() {
            bail!("no test changed in {}; name those to explain with --tests", args.judged.dir.display());
        }
        if !add_rounds(&campaign, &tests, seconds, args.data.as_deref(), screen)? {
            return Ok(Ending::Interrupted);
        }
        // As it was run: another base is for the screen only.
        findings = results::compare(&campaign, None, Literals::Hidden)?;
        let html = results::write(&campaign, &findings)?;
        screen.say(&format!("report: {}", html.display()));
        if base.is_some() {
            findings = results::compare(&campaign, base, args.judged.literals())?;
        }
    }
    if let Some(folder) = &args.pprof {
        let written = results::write_pprof(&campaign, &findings, &args.tests, folder)?;
        if written.is_empty() {
            bail!("nothing was sampled in {}; rqps explain --time does", args.judged.dir.display());
        }
        let files = written.len();
        screen.say(&format!("{} for pprof in {}", plural(files as u32, "file"), folder.display()));
    }
    screen.print(&match (args.json, args.markdown) {
        (true, _) => rqps_report::explain_json(&findings, &args.tests),
        (false, true) => rqps_report::explain_markdown(&findings, &args.tests),
        (false, false) => rqps_report::explain(&findings, &args.tests, screen.width()),
    });
    Ok(Ending::Clean)
}

/// Adds rounds that explain a campaign; whether they were measured to the end.
fn add_rounds(
    campaign: &Campaign,
    tests: &[String],
    seconds: f64,
    data: Option<&Path>,
    screen: Screen,
) -> Result<bool> {
    let notify = &mut |notice| screen.notice(&notice);
    let lab = Lab::open(notify)?;
    let run = Run::explain(&lab, campaign, tests, seconds, data, notify)?;
    let plan = run.plan();
    screen.say(&format!(
        "sampling functions and waits in {} on {} treatments, {}; results in {}",
        plural(plan.tests().len(), plan.suite.noun()),
        plan.treatments.len(),
        how_long(plan),
        run.campaign().folder().display()
    ));
    Ok(measure(run, data, screen)?.is_some())
}
