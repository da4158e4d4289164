//! What suites differ in when they are reported: what a test is called, its order and blocks, units, size in words, and
//! the tables that are published of it.
//!
//! In: findings. Out: [`Suite`], the only place of this crate that asks for the suite.

pub(crate) mod insert;
mod sysbench;

use crate::order::Level;
use crate::{number, order};
use insert::sheet::{self, Sheet};
use rqps_analysis::findings::Findings;
use rqps_model::counted;
use rqps_model::insert::Shape;

/// The suite of a campaign.
#[derive(Clone, Copy)]
pub(crate) enum Suite<'a> {
    Sysbench,
    Insert(&'a Shape),
}

impl<'a> Suite<'a> {
    /// The suite that was run.
    pub(crate) fn of(findings: &'a Findings) -> Suite<'a> {
        findings.campaign.insert.as_ref().map_or(Suite::Sysbench, Suite::Insert)
    }

    /// What one of its tests is called.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Suite::Sysbench => "test",
            Suite::Insert(_) => "step",
        }
    }

    /// Unit of a column of throughput; where tests differ in theirs, it stands with each test.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Suite::Sysbench => "q/s",
            Suite::Insert(_) => "/s",
        }
    }

    /// What is done, where more than the arrival of events tells it; with numbers as `show` has them.
    pub(crate) fn work(self, clients: Option<u32>, show: fn(f64) -> String) -> Option<String> {
        let Suite::Insert(shape) = self else { return None };
        let size = insert::size(shape, clients.unwrap_or(shape.clients), show);
        Some(format!("{size}; behind the queries {}", insert::rates(shape)))
    }

    /// Facts of the front page about suite, data, clients and rounds. `rounds` in words.
    pub(crate) fn facts(self, findings: &Findings, tests: usize, rounds: &str) -> Vec<(&'static str, String)> {
        let campaign = &findings.campaign;
        let clients = campaign.clients.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let suite = ("Suite", format!("{}, {}", campaign.suite, counted(tests, self.noun())));
        match self {
            Suite::Insert(shape) => vec![
                suite,
                ("Data", insert::size(shape, shape.clients, number::grouped)),
                ("Writes behind queries", insert::rates(shape)),
                ("Clients", clients),
                ("Rounds", format!("{rounds}, each a whole pass of every build from an empty data folder on")),
            ],
            Suite::Sysbench => {
                let rows = number::grouped(campaign.rows as f64);
                vec![
                    suite,
                    ("Data", format!("{} × {rows} rows", counted(campaign.tables, "table"))),
                    ("Clients", format!("{clients}, {}", campaign.arrival)),
                    ("Rounds", format!("{rounds}, a server start each")),
                    ("Builds alternate in", order::interleaving(findings)),
                ]
            }
        }
    }

    /// The published tables that page and terminal show beyond verdicts.
    pub(crate) fn sheets(self, findings: &Findings, level: &Level<'_>) -> Vec<Sheet> {
        match self {
            Suite::Sysbench => Vec::new(),
            Suite::Insert(_) => sheet::sheets(findings, level),
        }
    }

    /// The files that are published of a level: path and content.
    pub(crate) fn files(self, findings: &Findings, level: &Level<'_>) -> Vec<(String, String)> {
        match self {
            Suite::Sysbench => sysbench::files(findings, level),
            Suite::Insert(_) => insert::files(findings, level),
        }
    }
}
