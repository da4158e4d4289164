//! What a command ends with: table or JSON on standard output, and the exit code.
//!
//! In: a results folder. Out: findings.json, report.html and tables/ in it, what is printed of them, and how it ended.

use crate::args::{CompareArgs, Judged, StatusArgs};
use crate::screen::Screen;
use anyhow::Result;
use rqps_lab::results::Literals;
use rqps_lab::{results, status};
use rqps_store::{Campaign, StoreError};
use std::time::SystemTime;

/// How a command ended; the exit codes of docs and README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// 0: done.
    Clean,
    /// 1: a verdict that `--fail-on` names.
    VerdictFound,
    /// 1: a host that is not fit to measure.
    ProblemFound,
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
            Ending::VerdictFound | Ending::ProblemFound => 1,
            Ending::TrialFailed => 3,
            Ending::Interrupted => crate::interrupt::INTERRUPTED,
        }
    }
}

/// Compares, writes everything derived, prints the table or JSON.
pub(crate) fn report(campaign: &Campaign, json: bool, screen: Screen) -> Result<Ending> {
    let findings = results::compare(campaign, None, Literals::Hidden)?;
    let html = results::write(campaign, &findings)?;
    if json {
        screen.print(&rqps_report::compare_json(&findings));
    } else {
        screen.print(&rqps_report::terminal(&findings, screen.width(), screen.colour_on_stdout()));
        screen.print(&format!("\nreport: {}", html.display()));
    }
    Ok(ending(campaign)?)
}

/// How a campaign ended whose verdicts nobody asks about.
pub(crate) fn ending(campaign: &Campaign) -> Result<Ending, StoreError> {
    Ok(if results::has_failed(campaign)? { Ending::TrialFailed } else { Ending::Clean })
}

/// `rqps compare`.
pub(crate) fn compare(args: &CompareArgs, screen: Screen) -> Result<Ending> {
    let campaign = Campaign::open(&args.judged.dir)?;
    let findings = results::compare(&campaign, args.judged.base.as_deref(), args.judged.literals())?;
    if args.json {
        screen.print(&rqps_report::compare_json(&findings));
    } else if args.markdown {
        screen.print(&rqps_report::markdown(&findings));
    } else {
        screen.print(&rqps_report::terminal(&findings, screen.width(), screen.colour_on_stdout()));
    }
    if results::has_verdict(&findings, &args.fail_on) { Ok(Ending::VerdictFound) } else { Ok(ending(&campaign)?) }
}

/// `rqps report`.
pub(crate) fn rewrite(args: &Judged, screen: Screen) -> Result<Ending> {
    let campaign = Campaign::open(&args.dir)?;
    let findings = results::compare(&campaign, args.base.as_deref(), args.literals())?;
    let html = results::write(&campaign, &findings)?;
    screen.print(&format!("report: {}", html.display()));
    Ok(ending(&campaign)?)
}

/// `rqps status`.
pub(crate) fn status(args: &StatusArgs, screen: Screen) -> Result<Ending> {
    let status = status::status(&args.dir, SystemTime::now())?;
    screen.print(&match args.json {
        true => serde_json::to_string_pretty(&status)?,
        false => status::text::text(&status, screen.width(), screen.colour_on_stdout()),
    });
    Ok(Ending::Clean)
}
