//! What a command ends with: tables, files, JSON and the exit code.
//!
//! In: a results folder. Out: findings.json, report.html and tables/ in it, the table or JSON on standard output.

use crate::args::{CompareArgs, FailOn, Judged};
use crate::screen::Screen;
use anyhow::{Context, Result};
use rqps_analysis::findings::Findings;
use rqps_analysis::{Options, analyse};
use rqps_model::Verdict;
use rqps_store::{Campaign, StoreError};
use std::path::PathBuf;

/// How a command ended; the exit codes of docs and README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// 0: done.
    Clean,
    /// 1: a verdict that `--fail-on` names.
    VerdictFound,
    /// 3: done, but some trial failed.
    TrialFailed,
    /// 130: the user asked to stop.
    Interrupted,
}

impl Ending {
    /// The exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Ending::Clean => 0,
            Ending::VerdictFound => 1,
            Ending::TrialFailed => 3,
            Ending::Interrupted => crate::interrupt::INTERRUPTED,
        }
    }
}

/// Judges a campaign, writes everything derived, prints the table or JSON.
pub(crate) fn report(campaign: &Campaign, json: bool, screen: Screen) -> Result<Ending> {
    let findings = judge(campaign, None)?;
    let html = write_all(campaign, &findings)?;
    if json {
        screen.print(&rqps_report::compare_json(&findings));
    } else {
        screen.print(&rqps_report::terminal(&findings, screen.width(), screen.colour_on_stdout()));
        screen.print(&format!("\nreport: {}", html.display()));
    }
    Ok(ending(campaign)?)
}

/// Judges; where something is damaged, all that is damaged is told at once.
fn judge(campaign: &Campaign, base: Option<&str>) -> Result<Findings> {
    let options = Options { base: base.map(str::to_owned), margin: None };
    analyse(campaign, options).map_err(|first| match campaign.check() {
        Err(all @ StoreError::Damaged(_)) => all.into(),
        _ => first.into(),
    })
}

fn ending(campaign: &Campaign) -> Result<Ending, StoreError> {
    let failed = campaign.samples()?.iter().any(|sample| sample.sample.failure.is_some());
    Ok(if failed { Ending::TrialFailed } else { Ending::Clean })
}

fn write_all(campaign: &Campaign, findings: &Findings) -> Result<PathBuf> {
    campaign.write_derived("findings.json", &serde_json::to_vec(findings)?)?;
    for (name, bytes) in rqps_report::files(findings) {
        campaign.write_derived(&name, &bytes)?;
    }
    let html = rqps_report::html(findings).context("rendering the report")?;
    Ok(campaign.write_derived("report.html", html.as_bytes())?)
}

/// `rqps compare`.
pub(crate) fn compare(args: &CompareArgs, screen: Screen) -> Result<Ending> {
    let campaign = Campaign::open(&args.judged.dir)?;
    let findings = judge(&campaign, args.judged.base.as_deref())?;
    if args.json {
        screen.print(&rqps_report::compare_json(&findings));
    } else if args.markdown {
        screen.print(&rqps_report::markdown(&findings));
    } else {
        screen.print(&rqps_report::terminal(&findings, screen.width(), screen.colour_on_stdout()));
    }
    let named: Vec<Verdict> = args.fail_on.iter().map(|verdict| verdict_of(*verdict)).collect();
    let comparisons = findings.tests.iter().flat_map(|test| &test.cells).filter_map(|cell| cell.comparison.as_ref());
    let mut verdicts = comparisons.map(|comparison| comparison.verdict);
    if verdicts.any(|verdict| named.contains(&verdict)) { Ok(Ending::VerdictFound) } else { Ok(ending(&campaign)?) }
}

const fn verdict_of(word: FailOn) -> Verdict {
    match word {
        FailOn::Regressed => Verdict::Regressed,
        FailOn::Improved => Verdict::Improved,
        FailOn::Undecided => Verdict::Undecided,
    }
}

/// `rqps report`.
pub(crate) fn rewrite(args: &Judged, screen: Screen) -> Result<Ending> {
    let campaign = Campaign::open(&args.dir)?;
    let findings = judge(&campaign, args.base.as_deref())?;
    let html = write_all(&campaign, &findings)?;
    screen.print(&format!("report: {}", html.display()));
    Ok(ending(&campaign)?)
}
