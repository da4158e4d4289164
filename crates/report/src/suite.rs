//! What suites differ in when they are reported: what a test is called, its units, its size in words, and the tables
//! that are published of it.
//!
//! In: findings. Out: words and tables. The only file of this crate that asks for the suite.

pub(crate) mod insert;
mod own;
mod sysbench;
mod tproc_c;

use crate::order::Level;
use crate::{number, order};
use insert::sheet::{self, Sheet};
use rqps_analysis::findings::{Findings, TestFindings};
use rqps_model::plan::SuitePlan;
use rqps_model::plural;

/// Unit of a column of throughput; where tests differ in theirs, it stands with each test.
pub(crate) const fn unit(findings: &Findings) -> &'static str {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Own(_) => "q/s",
        SuitePlan::Insert(_) => "/s",
        SuitePlan::TprocC(_) => "NOPM",
    }
}

/// What its costs are per, where tests have no unit of their own.
pub(crate) const fn operation(findings: &Findings) -> &'static str {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Own(_) => "statement",
        SuitePlan::Insert(_) => "operation",
        SuitePlan::TprocC(_) => "new order",
    }
}

/// What clients do, in words; with numbers as `show` has them.
pub(crate) fn work(findings: &Findings, clients: Option<u32>, show: fn(f64) -> String) -> String {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Own(_) => order::arrival(findings),
        SuitePlan::Insert(shape) => {
            let size = insert::size(shape, clients.unwrap_or(shape.clients), show);
            format!("{size}; behind the queries {}", insert::rates(shape))
        }
        SuitePlan::TprocC(shape) => tproc_c::work(shape),
    }
}

/// Facts of the front page about suite, data, clients and rounds. `rounds` in words.
pub(crate) fn facts(findings: &Findings, tests: usize, rounds: &str) -> Vec<(&'static str, String)> {
    let campaign = &findings.campaign;
    let clients = campaign.clients.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let suite = ("Suite", format!("{}, {}", campaign.suite.name(), plural(tests, campaign.suite.noun())));
    match &campaign.suite {
        SuitePlan::Insert(shape) => vec![
            suite,
            ("Data", insert::size(shape, shape.clients, number::grouped)),
            ("Writes behind queries", insert::rates(shape)),
            ("Clients", clients),
            ("Rounds", format!("{rounds}, each a whole pass of every build, starting with an empty data folder")),
        ],
        SuitePlan::Sysbench(data) => vec![
            suite,
            ("Data", format!("{} × {} rows", plural(data.tables, "table"), number::grouped(data.rows as f64))),
            ("Clients", format!("{clients}, {}", order::arrival(findings))),
            ("Rounds", format!("{rounds}, each with fresh server starts")),
            ("Builds alternate in", order::interleaving(findings)),
        ],
        SuitePlan::Own(own) => vec![
            suite,
            ("Workload", own.name.clone()),
            ("Data", own.data.to_string()),
            ("Protocol", own.protocols()),
            ("Clients", format!("{clients}, {}", order::arrival(findings))),
            ("Rounds", format!("{rounds}, each with fresh server starts; {}", own::renewal(own))),
            ("Builds alternate in", order::interleaving(findings)),
        ],
        SuitePlan::TprocC(shape) => {
            let mut facts = vec![suite];
            facts.extend(tproc_c::facts(shape));
            facts.extend([
                ("Virtual users", clients),
                ("Rounds", format!("{rounds}, {}", copies(findings))),
                ("Builds alternate in", order::interleaving(findings)),
            ]);
            facts
        }
    }
}

/// What data a test of a round begins with, where each has servers of its own.
fn copies(findings: &Findings) -> String {
    match &findings.campaign.why_continued {
        Some(why) => format!("each test on what the ones before it left in the data: {why}"),
        None => "each with fresh copies of the data for each test".to_owned(),
    }
}

/// The published tables that page and terminal show beyond verdicts.
pub(crate) fn sheets(findings: &Findings, level: &Level<'_>) -> Vec<Sheet> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::TprocC(_) | SuitePlan::Own(_) => Vec::new(),
        SuitePlan::Insert(_) => sheet::sheets(findings, level),
    }
}

/// The files that are published of a level: path and content.
pub(crate) fn files(findings: &Findings, level: &Level<'_>) -> Vec<(String, String)> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Own(_) => sysbench::files(findings, level),
        SuitePlan::Insert(_) => insert::files(findings, level),
        SuitePlan::TprocC(shape) => tproc_c::files(findings, shape, level),
    }
}

/// The name of a test in a row of a table; clients stand in it where they are published so.
pub(crate) fn row(findings: &Findings, test: &TestFindings) -> String {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::Own(_) => test.name.clone(),
        SuitePlan::TprocC(_) => tproc_c::row(test),
    }
}

/// Whether throughput over clients is worth a picture of each test: there are few of them.
pub(crate) const fn has_users(findings: &Findings) -> bool {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::Own(_) => false,
        SuitePlan::TprocC(_) => true,
    }
}

/// What a reader must know about the suite's numbers as such.
pub(crate) fn legend(findings: &Findings) -> Option<&'static str> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::Own(_) => None,
        SuitePlan::TprocC(_) => Some(tproc_c::LEGEND),
    }
}

/// Sentences below a level's table.
pub(crate) fn notes(findings: &Findings, level: &Level<'_>) -> Vec<String> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::Own(_) => Vec::new(),
        SuitePlan::TprocC(_) => tproc_c::consistency(findings, level),
    }
}

/// What changes cost a day, where the suite knows how often each test is done; the first line says so.
pub(crate) fn day(findings: &Findings, level: &Level<'_>) -> Vec<String> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) | SuitePlan::TprocC(_) => Vec::new(),
        SuitePlan::Own(workload) => own::lines(findings, workload, level),
    }
}

/// Lines below a level's table: in the words of other programs that publish the same numbers, or what changes cost.
pub(crate) fn lines(findings: &Findings, level: &Level<'_>) -> Vec<String> {
    match &findings.campaign.suite {
        SuitePlan::Sysbench(_) | SuitePlan::Insert(_) => Vec::new(),
        SuitePlan::Own(_) => day(findings, level),
        SuitePlan::TprocC(_) => tproc_c::lines(findings, level),
    }
}
