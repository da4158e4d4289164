//! The user's own workload as data: its tests, its stages, and its size in words.
//!
//! In: what is run, as the user's files have it. Out: two stages at most: tests that read share servers in a round,
//! each test that writes begins with a fresh copy of the data, or, if the user wants, finds what those before it in the
//! round wrote. It opens no file.

use crate::forced::Forced;
use crate::statements::SuiteError;
use crate::suite::Suite;
use rqps_model::own::{Own, OwnTest, PerEngine, Work};
use rqps_model::plan::{Alternate, DataSet, Renew, Stage, TestPlan};
use rqps_model::{Group, Interleave, Unit, plural};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The only version of the file's format.
const FORMAT: u32 = 1;

/// Bytes of a dump that make a row, by which servers are sized before anything is loaded.
const BYTES_PER_ROW: u64 = 100;

/// Reads and checks the file.
pub(crate) fn parse(text: &str) -> Result<Suite, SuiteError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        format: u32,
        name: String,
        forced: Vec<Forced>,
    }
    let file: File = toml::from_str(text).map_err(|error| SuiteError::Syntax(error.to_string()))?;
    if file.format != FORMAT {
        return Err(SuiteError::Format { found: file.format });
    }
    Ok(Suite { name: file.name, tests: Vec::new(), scales: BTreeMap::new(), forced: file.forced })
}

/// The tests of a plan, in this order; those that write have other seconds than those that read. Where clients pause
/// within an event builds take turns, since a client that sleeps in a slice would hold up the other builds.
pub fn own_tests<'t>(
    tests: impl Iterator<Item = &'t OwnTest>,
    interleave: Option<Interleave>,
    seconds: impl Fn(bool) -> f64,
) -> Vec<TestPlan> {
    let test = |(rank, test): (u32, &OwnTest)| TestPlan {
        name: test.name.clone(),
        label: test.name.clone(),
        group: Group::Own,
        unit: Unit::QueriesPerSecond,
        writes: test.writes,
        rank,
        interleave: Some(match interleave {
            _ if test.pauses() => Interleave::Turns,
            interleave => interleave.unwrap_or(Interleave::Slices),
        }),
        seconds: seconds(test.writes),
        timed: test.events.is_none(),
        before: Vec::new(),
    };
    (0..).zip(tests).map(test).collect()
}

/// Rows that servers are sized by: those that are drawn, and about as many as the largest files have.
pub(crate) fn rows(own: &Own) -> u64 {
    let loaded = own.data.files.keys().map(|engine| own.data.file_bytes(*engine) / BYTES_PER_ROW).max();
    own.data.rows_drawn() + loaded.unwrap_or(0)
}

/// A stage of the tests that read, and one of those that write.
pub(crate) fn stages(own: &Own, clients: &[u32], tests: &[TestPlan], alternate: Alternate) -> Vec<Stage> {
    let (read, write): (Vec<TestPlan>, Vec<TestPlan>) = tests.iter().cloned().partition(|test| !test.writes);
    let stage = |(tests, renew): (Vec<TestPlan>, Renew)| Stage {
        data: DataSet::Own(Box::new(own.data.clone())),
        aged: None,
        renew,
        alternate,
        clients: clients.to_vec(),
        connections: 1,
        rows: rows(own),
        own_clocks: false,
        head_start_seconds: 0.0,
        tests,
    };
    let renew = if own.data.renew_per_round { Renew::PerStage } else { Renew::PerTest };
    let both = [(read, Renew::PerStage), (write, renew)];
    both.into_iter().filter(|(tests, _)| !tests.is_empty()).map(stage).collect()
}

/// What is run, a row a fact.
pub(crate) fn size(own: &Own, clients: String) -> Vec<(&'static str, String)> {
    let mut size = vec![("workload", own.name.clone()), ("data", own.data.to_string())];
    let files = own.data.files.values().chain(own.data.only.values().flat_map(PerEngine::values)).flatten();
    let archives: BTreeSet<String> = files.filter_map(|file| file.archive.as_ref()).map(ToString::to_string).collect();
    size.extend(archives.into_iter().map(|archive| ("archive", archive)));
    size.push(("clients", clients));
    size
}

/// What a test does, in words, and how its statements reach the server.
pub(crate) fn work_of(own: &Own, test: &str) -> String {
    let Some(test) = own.test(test) else { return String::new() };
    let work = match &test.work {
        Work::Steps(steps) if steps.transaction => {
            format!("a transaction of {}", plural(steps.steps.len(), "statement"))
        }
        Work::Steps(steps) => plural(steps.steps.len(), "statement"),
        Work::Mix(tests) => format!("a mix of {}", plural(tests.len(), "test")),
        Work::Pgbench(scripts) => plural(scripts.scripts.len(), "pgbench script"),
    };
    format!("{work}, {}", own.protocol_of(test))
}
