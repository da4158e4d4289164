//! A campaign as expanded: every choice made, every name resolved, nothing left to a default.
//!
//! Made by `campaign`, walked by `conduct`, stored as `plan.json`, read by `analysis`. The same plan and seed give the
//! same order and the same keys.

use crate::insert::Shape;
use crate::settings::MachineClass;
use crate::{BuildSpec, Engine, Group, Placement, StorageEngine, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How builds alternate inside a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    /// Slices of milliseconds in random order per cycle; all servers are up.
    Slices,
    /// Longer runs, idle servers frozen.
    Turns,
    /// Every treatment runs the whole suite, one after the other, each from an empty data folder and with no other server up.
    /// It follows from the suite and cannot be chosen.
    Passes,
}

impl Interleave {
    /// The ways that one may choose between.
    pub const ALL: [Interleave; 2] = [Interleave::Slices, Interleave::Turns];

    /// The word used by `--interleave`.
    pub const fn name(self) -> &'static str {
        match self {
            Interleave::Slices => "slices",
            Interleave::Turns => "turns",
            Interleave::Passes => "passes",
        }
    }
}

impl fmt::Display for Interleave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no way of interleaving.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown interleaving `{0}`; expected slices or turns")]
pub struct UnknownInterleave(pub String);

impl FromStr for Interleave {
    type Err = UnknownInterleave;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Interleave::ALL.into_iter().find(|i| i.name() == text).ok_or_else(|| UnknownInterleave(text.to_owned()))
    }
}

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// The next request follows the reply: measures throughput.
    Closed,
    /// Requests at a planned rate over all clients, exponential gaps.
    Poisson {
        /// Events per second, all clients together.
        rate_per_s: f64,
    },
    /// Requests at a planned rate over all clients, equal gaps.
    Even {
        /// Events per second, all clients together.
        rate_per_s: f64,
    },
}

/// One treatment: a build with its settings. Its name is the column title and folder name everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreatmentPlan {
    /// Unique in the campaign, such as `pg1711_zonky.x10a_c2r24`.
    pub name: String,
    /// The build asked for.
    pub build: BuildSpec,
    /// What stores the tables, where the engine leaves a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageEngine>,
    /// Configuration profile, such as `x10a`.
    pub profile: String,
    /// Settings on top of the profile (`--set`), the later wins.
    pub set: BTreeMap<String, String>,
}

/// A test as planned, in order of execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestPlan {
    /// Name as published, such as `hot-points` or `random-points_range=100`.
    pub name: String,
    /// Label as in raw files, such as `hot-points_range=100`.
    pub label: String,
    /// Where it is reported.
    pub group: Group,
    /// Unit of its throughput.
    pub unit: Unit,
    /// Whether it changes data.
    pub writes: bool,
    /// Place in the published tables, counted within the group.
    pub rank: u32,
    /// How builds alternate in it.
    pub interleave: Interleave,
    /// Seconds counted per treatment and round.
    pub seconds: f64,
    /// Work done on every server before this test (`vacuum`, `analyze`, `checkpoint`, `postwrite`, `warm`), by name.
    pub before: Vec<String>,
}

/// Tables and rows of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataShape {
    /// Number of tables.
    pub tables: u32,
    /// Rows of each table.
    pub rows: u64,
}

/// One round: the order of treatments and which copy of the data each gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundPlan {
    /// Counted from 1.
    pub number: u32,
    /// Indices of treatments, in the order in which copies are made and servers started.
    pub order: Vec<usize>,
    /// Seed of everything random inside this round.
    pub seed: u64,
}

/// What an engine forces to be different on work that is otherwise the same; told where several engines are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedForm {
    /// What differs, such as `load` or `statement insert`.
    pub what: String,
    /// The tests in which it does; all where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// The form on each engine.
    pub forms: BTreeMap<Engine, String>,
    /// Why.
    pub because: String,
}

/// A whole campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Results format.
    pub format: u32,
    /// Name of the campaign; also its folder.
    pub name: String,
    /// Suite: `sysbench` or `insert`.
    pub suite: String,
    /// Seed that all randomness is derived from.
    pub seed: u64,
    /// What is compared.
    pub treatments: Vec<TreatmentPlan>,
    /// Index of the base in `treatments`.
    pub base: usize,
    /// Tests in order of execution.
    pub tests: Vec<TestPlan>,
    /// Concurrency levels, each run for every test.
    pub clients: Vec<u32>,
    /// Tables and rows.
    pub data: DataShape,
    /// Size and form of the Insert Benchmark, where that is the suite; its number of clients is the largest of `clients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insert: Option<Shape>,
    /// Seconds each treatment runs before counting starts.
    pub warmup_seconds: f64,
    /// Length of a slice.
    pub slice_ms: f64,
    /// When requests are sent.
    pub arrival: Arrival,
    /// CPU placement.
    pub placement: Placement,
    /// What profiles are sized for; `None` = this host divided by the servers that are up together.
    pub machine: Option<MachineClass>,
    /// Margin of equivalence, as a fraction (0.02).
    pub margin: f64,
    /// Rounds, in order.
    pub rounds: Vec<RoundPlan>,
    /// What its engines force to be different; empty where there is one engine only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<ForcedForm>,
}

impl Plan {
    /// The Insert Benchmark at a number of clients, where that is the suite.
    pub fn insert_at(&self, clients: u32) -> Option<Shape> {
        self.insert.as_ref().map(|shape| Shape { clients, ..shape.clone() })
    }
}
