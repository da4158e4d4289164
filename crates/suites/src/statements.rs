//! Suites whose tests are made of statements, as data: tests, their statements and the published order, read from a
//! workload file.
//!
//! In comes TOML (the built-in `workloads/sysbench.toml` or the user's own); out goes a checked
//! [`Suite`](crate::Suite). Everything that could go wrong later is refused here: an unknown generator, a list without
//! `{list}`, a table that no other kind has. It opens no file and draws no number.

mod file;
mod generator;
mod sql;
mod work;

pub use file::SuiteError;
pub use generator::Generator;
pub use sql::table_name;
pub use work::Work;

use crate::forced::Forced;
use rqps_model::plan::DataShape;
use rqps_model::{Group, Interleave, Unit};

/// Which of the two times of a campaign applies to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecondsClass {
    /// `--read-seconds`.
    Read,
    /// `--write-seconds`.
    Write,
}

/// How a statement's table is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableChoice {
    /// Drawn uniformly, once per event.
    Uniform,
    /// Client i always uses table (i mod tables) + 1.
    ByClient,
    /// The table of another kind of the same event, by its index.
    SameAs(usize),
}

/// SQL that takes the place of the common one on an engine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForcedSql {
    /// The SQL, with the same markers as the common one.
    pub sql: String,
    /// Why the engine forces it, as a sentence without its end.
    pub because: String,
}

/// One kind of statement of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementKind {
    /// Its name, by which latencies and errors are told apart.
    pub kind: String,
    /// SQL with `{table}` and `{list}`, parameters as `$1`, `$2`.
    pub sql: String,
    /// What takes its place on MySQL and MariaDB, where they force another form.
    pub mysql: Option<ForcedSql>,
    /// What fills its parameters, in order.
    pub parameters: Vec<Generator>,
    /// Whether it is sent as text instead of being prepared.
    pub text: bool,
    /// How its table is chosen.
    pub table: TableChoice,
}

impl StatementKind {
    /// The other form that engines force of it, if they do.
    fn forced(&self) -> Option<Forced> {
        self.mysql.as_ref().map(|forced| Forced {
            what: format!("statement {}", self.kind),
            tests: Vec::new(),
            postgres: self.sql.clone(),
            mysql: Some(forced.sql.clone()),
            innodb: None,
            rocksdb: None,
            because: forced.because.clone(),
        })
    }
}

/// One test: what a client repeats, and how it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Name as published, such as `hot-points` or `random-points_range=100`.
    pub name: String,
    /// Label as in raw files, such as `hot-points_range=100`.
    pub label: String,
    /// Where it is reported.
    pub group: Group,
    /// Place in the published tables, within the group.
    pub rank: u32,
    /// R of the generators.
    pub range: u32,
    /// Unit of its throughput.
    pub unit: Unit,
    /// Whether it changes data.
    pub writes: bool,
    /// Which time applies.
    pub seconds: SecondsClass,
    /// The published subsets that have it.
    pub sets: Vec<String>,
    /// Work done before it.
    pub before: Vec<Work>,
    /// How builds alternate in it where slices don't fit.
    pub interleave: Option<Interleave>,
    /// Whether its statements stand between BEGIN and COMMIT.
    pub transaction: bool,
    /// The kinds of statements, each once.
    pub kinds: Vec<StatementKind>,
    /// The statements of one event in order, as indices of `kinds`.
    pub sequence: Vec<usize>,
}

impl Test {
    /// Factor from statements per second (per client for `scan`) to the test's unit.
    pub fn unit_per_operation(&self, data: DataShape, clients: u32) -> f64 {
        match self.unit {
            Unit::QueriesPerSecond | Unit::RowsPerSecond | Unit::NewOrdersPerMinute => 1.0,
            // A statement reads a whole table, and the published figure is that of one client.
            Unit::KiloRowsPerSecond => data.rows as f64 / 1000.0 / f64::from(clients.max(1)),
        }
    }

    /// Statements that one event sends, BEGIN and COMMIT included.
    pub fn statements_per_event(&self) -> usize {
        self.sequence.len() + if self.transaction { 2 } else { 0 }
    }
}

#[cfg(test)]
mod tests;
