//! The user's own workload as planned: what its servers begin with, where its values come from, and its tests.
//!
//! In: a workload file or pgbench scripts, as `campaign` read them. Out: the [`Own`] of a plan and the [`OwnData`] of
//! its stages, with nothing left to look up but the content of data files, which are known by their digests. It knows
//! no server.

use crate::{Engine, plural, words};
use rqps_draw::{SourceSpec, Take};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Something that each engine has in a form of its own; those that are not compared may be left out.
pub type PerEngine<T> = BTreeMap<Engine, T>;

/// A file that the user named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Where it is, from the root on.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its content, by which a campaign that goes on sees that it is still the same.
    pub sha256: String,
    /// Where it is an archive and not SQL: what makes SQL of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Archive>,
}

/// An archive that pg_dump wrote, and the program that reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// The version of its format, such as `1.14`.
    pub version: String,
    /// The version of pg_dump; empty where the archive does not tell.
    pub pg_dump: String,
    /// The program.
    pub pg_restore: PathBuf,
    /// Its version.
    pub pg_restore_version: String,
}

impl std::fmt::Display for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let wrote = if self.pg_dump.is_empty() { String::new() } else { format!(" of pg_dump {}", self.pg_dump) };
        let (program, version) = (self.pg_restore.display(), &self.pg_restore_version);
        write!(f, "archive {}{wrote}, read by pg_restore {version} ({program})", self.version)
    }
}

/// What is run: tests, and the values that they draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// The name of the workload, such as `shop`.
    pub name: String,
    /// What servers begin with.
    pub data: OwnData,
    /// Sources of values by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Values>,
    /// Its tests in order.
    pub tests: Vec<OwnTest>,
    /// How answers are compared before anything is measured.
    pub answers: AnswersCheck,
}

impl Own {
    /// The test of that name.
    pub fn test(&self, name: &str) -> Option<&OwnTest> {
        self.tests.iter().find(|test| test.name == name)
    }

    /// How the statements of a test reach the server, in words; those of a mix as its parts say.
    pub fn protocol_of(&self, test: &OwnTest) -> String {
        let Work::Mix(parts) = &test.work else { return test.protocol.name().to_owned() };
        let parts = parts.iter().filter(|(_, weight)| **weight > 0).filter_map(|(name, _)| self.test(name));
        let words: BTreeSet<&str> = parts.map(|part| part.protocol.name()).collect();
        words.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// How statements reach the server, in words: once, where that is the same for all tests.
    pub fn protocols(&self) -> String {
        let mut tests: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for test in &self.tests {
            tests.entry(self.protocol_of(test)).or_default().push(&test.name);
        }
        if tests.len() == 1 {
            return tests.into_keys().collect();
        }
        let told = tests.into_iter().map(|(protocol, tests)| format!("{protocol} in {}", tests.join(", ")));
        told.collect::<Vec<_>>().join("; ")
    }
}

/// What servers begin with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnData {
    /// SQL files and dumps, in the order in which they are sent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: PerEngine<Vec<InputFile>>,
    /// More files for one build or treatment, by its name; by engine, as far as builds of that name may have them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, PerEngine<Vec<InputFile>>>,
    /// Tables whose rows are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<OwnTable>,
    /// The scale of pgbench's tables, where they are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgbench_scale: Option<u32>,
    /// Character set of the database on MySQL and MariaDB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// Collation of the database on MySQL and MariaDB.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub collation: PerEngine<String>,
    /// The sql_mode of every session on MySQL and MariaDB.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sql_mode: PerEngine<String>,
    /// Whether tests that write get fresh data once a round only, and not each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub renew_per_round: bool,
    /// Locale of the database on PostgreSQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// What every session is told once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session: PerEngine<Vec<String>>,
    /// What is sent once the rows are there, instead of fresh statistics on all tables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub finish: PerEngine<Vec<String>>,
    /// Errors after which loading goes on, as servers number them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Words that are replaced in what is loaded, outside of strings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replace: PerEngine<BTreeMap<String, String>>,
}

impl OwnData {
    /// The files that are loaded for a treatment besides those for all: named after it, or after its build.
    pub fn files_only_for(&self, treatment: &str) -> Option<(&str, &PerEngine<Vec<InputFile>>)> {
        let is_meant =
            |name: &str| treatment == name || treatment.split_once('.').is_some_and(|(build, _)| build == name);
        let found = self.only.iter().find(|(name, _)| is_meant(name));
        found.map(|(name, files)| (name.as_str(), files))
    }

    /// Rows that are drawn; those of files are not known before they are loaded.
    pub fn rows_drawn(&self) -> u64 {
        /// Rows of pgbench's tables for each step of scale: branches, tellers, accounts.
        const ROWS_PER_SCALE: u64 = 1 + 10 + 100_000;
        let drawn: u64 = self.tables.iter().map(|table| table.rows).sum();
        drawn + self.pgbench_scale.map_or(0, |scale| u64::from(scale) * ROWS_PER_SCALE)
    }

    /// Bytes of the files for an engine, as far as they must be loaded.
    pub fn file_bytes(&self, engine: Engine) -> u64 {
        self.files.get(&engine).into_iter().flatten().map(|file| file.bytes).sum()
    }
}

impl std::fmt::Display for OwnData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.files.values().map(Vec::len).max().unwrap_or(0);
        let mut parts = Vec::new();
        if files > 0 {
            parts.push(plural(files, "file"));
        }
        if !self.tables.is_empty() {
            parts.push(format!("{} with drawn rows", plural(self.tables.len(), "table")));
        }
        if let Some(scale) = self.pgbench_scale {
            parts.push(format!("pgbench's tables at scale {scale}"));
        }
        if parts.is_empty() {
            parts.push("no tables".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

/// A table whose rows are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnTable {
    /// As statements name it.
    pub name: String,
    /// How many rows it gets.
    pub rows: u64,
    /// Its columns that get values, in order.
    pub columns: Vec<(String, SourceSpec)>,
}

/// Where values come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// They are drawn.
    Drawn(Box<SourceSpec>),
    /// Rows of a CSV with a header.
    Csv {
        /// The name of its file.
        name: String,
        /// All of it.
        text: String,
        /// Which row comes next.
        take: Take,
        /// Columns whose values are sent as numbers, not as text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        numbers: Vec<String>,
    },
    /// Rows of an answer of the base, asked once after loading.
    Query {
        /// The question.
        sql: PerEngine<String>,
        /// The most rows that are kept.
        limit: usize,
        /// Which row comes next.
        take: Take,
    },
}

words! {
    /// How a statement reaches the server.
    Protocol {
        /// As text with its values in it.
        Simple = "simple",
        /// Parsed anew each time, with its values beside it; PostgreSQL alone can.
        Extended = "extended",
        /// Prepared once a session.
        Prepared = "prepared",
    }
}

words! {
    /// How answers are compared.
    Answers {
        /// Not at all.
        Off = "off",
        /// Numbers of rows and errors.
        Rows = "rows",
        /// Values too.
        Values = "values",
    }
}

words! {
    /// What becomes of a verdict on a build whose answers differ from the base's.
    AnswersRule {
        /// There is none: the build does other work.
        MustAgree = "must-agree",
        /// It stands.
        MayDiffer = "may-differ",
    }
}

/// How answers are compared before anything is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswersCheck {
    /// What is compared.
    pub compare: Answers,
    /// Sets of values for each statement.
    pub parameters: u32,
    /// How far two numbers with decimals may be apart, as a fraction.
    pub tolerance: f64,
    /// Whether a difference leaves the verdict standing.
    pub may_differ: bool,
}

impl AnswersCheck {
    /// Nothing is compared.
    pub const OFF: AnswersCheck =
        AnswersCheck { compare: Answers::Off, parameters: 1, tolerance: 0.0, may_differ: false };
}

/// A test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnTest {
    /// Its name.
    pub name: String,
    /// What an event of it is.
    pub work: Work,
    /// Whether it changes data.
    pub writes: bool,
    /// How its statements reach the server.
    pub protocol: Protocol,
    /// After so many seconds a statement is cancelled.
    pub timeout_seconds: f64,
    /// The isolation level of its transactions; `None` = the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// How many events each client does, instead of a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u32>,
    /// How often a day the user's own server does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// How often an event is tried that fails for a passing reason; `None` = as usual for what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tries: Option<u32>,
}

impl OwnTest {
    /// After so many seconds a statement is cancelled where nothing is said, so that one changed plan does not hold up
    /// a campaign.
    pub const TIMEOUT_SECONDS: f64 = 30.0;

    /// A test that changes no data, with what holds where nothing is said.
    pub fn new(name: impl Into<String>, work: Work, protocol: Protocol) -> OwnTest {
        OwnTest {
            name: name.into(),
            work,
            writes: false,
            protocol,
            timeout_seconds: OwnTest::TIMEOUT_SECONDS,
            isolation: None,
            events: None,
            calls: None,
            max_tries: None,
        }
    }

    /// Whether its clients do more within an event than send and wait for answers, so that builds take turns.
    pub fn pauses(&self) -> bool {
        matches!(&self.work, Work::Pgbench(scripts) if scripts.pauses)
    }
}

/// What an event of a test is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Statements one after the other.
    Steps(Steps),
    /// One of other tests, by weight.
    Mix(BTreeMap<String, u32>),
    /// One of some pgbench scripts, by weight.
    Pgbench(Scripts),
}

/// Statements one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The statements.
    pub steps: Vec<OwnStep>,
    /// Whether they are a transaction.
    pub transaction: bool,
}

/// A statement of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnStep {
    /// Its name; latency, plan and cost are kept by it.
    pub name: String,
    /// Its text for each engine, with `:name` where values go.
    pub sql: PerEngine<String>,
    /// Columns of its only row that later steps use as `:name.column`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// How many rows are expected, from and to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<(u64, u64)>,
}

/// pgbench scripts, of which each event is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scripts {
    /// The scripts with their weights.
    pub scripts: Vec<ScriptText>,
    /// `:scale`.
    pub scale: u32,
    /// Variables that are given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub define: BTreeMap<String, String>,
    /// Whether a client sleeps or runs commands within an event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pauses: bool,
    /// Whether they may run commands of the shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_shell: bool,
}

/// A pgbench script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptText {
    /// Its name: that of its file, or of the built-in.
    pub name: String,
    /// Its weight.
    pub weight: u32,
    /// As it was read.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_told_once_or_of_each_test() {
        let test = |name: &str, protocol| {
            OwnTest::new(name, Work::Steps(Steps { steps: Vec::new(), transaction: false }), protocol)
        };
        let mix = [("a", 1), ("b", 1), ("never", 0)].map(|(name, weight)| (name.to_owned(), weight));
        let mix = OwnTest::new("mix", Work::Mix(mix.into()), Protocol::Extended);
        let mut own = Own {
            name: "w".to_owned(),
            data: OwnData::default(),
            values: BTreeMap::new(),
            tests: vec![test("a", Protocol::Prepared), test("b", Protocol::Prepared), mix],
            answers: AnswersCheck::OFF,
        };
        assert_eq!(own.protocols(), "prepared");
        own.tests[1].protocol = Protocol::Simple;
        own.tests.push(test("never", Protocol::Extended));
        assert_eq!(own.protocols(), "extended in never; prepared in a; prepared and simple in mix; simple in b");
    }
}
