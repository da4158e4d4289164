//! A campaign as expanded: every choice made, every name resolved, nothing left to a default.
//!
//! Made by `campaign`, walked by `conduct`, stored as `plan.json`, read by `analysis`. The same plan and seed give the
//! same order and the same keys.

use crate::insert::Shape;
pub use crate::order::{Allotment, Round};
use crate::own::{Own, OwnData};
use crate::settings::MachineClass;
use crate::tproc_c::{TABLES, TprocC, Warehouses};
use crate::{BuildSpec, Engine, Format, Group, Placement, StorageEngine, Unit};
use crate::{plural, words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// How builds alternate inside a test that all of them run side by side; its word is that of `--interleave`.
    Interleave {
        /// Slices of milliseconds in random order per cycle; all servers are up.
        Slices = "slices",
        /// Longer runs, idle servers frozen.
        Turns = "turns",
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
    /// The share of a statement's time that the client wastes between two of them: a change that is planted, to see
    /// whether the campaign finds it. Such a treatment is the base again, and is judged apart from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<f64>,
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
    /// How builds alternate in it; `None` where its stage takes one build after the other.
    pub interleave: Option<Interleave>,
    /// Seconds counted per treatment and round.
    pub seconds: f64,
    /// Whether it ends by the clock. One that ends with its work has only a rule of thumb for `seconds`.
    pub timed: bool,
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

/// What is run. The three axes of a plan are apart: this one says what clients send, a [`Stage`] says on which data,
/// and how builds take turns. Only the files that hold a suite match on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuitePlan {
    /// The tests of sysbench on tables that were loaded before.
    Sysbench(DataShape),
    /// The Insert Benchmark; its number of clients is the largest of all stages.
    Insert(Shape),
    /// TPROC-C; its clients are virtual users, its tests numbers of warehouses.
    #[serde(rename = "tproc-c")]
    TprocC(TprocC),
    /// Tables and queries of the user.
    Own(Box<Own>),
}

impl SuitePlan {
    /// The word used by `--suite` and in folder names.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sysbench(_) => "sysbench",
            Self::Insert(_) => "insert",
            Self::TprocC(_) => "tproc-c",
            Self::Own(_) => "own",
        }
    }

    /// What one of its tests is called.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Sysbench(_) => "test",
            Self::Insert(_) => "step",
            Self::TprocC(_) | Self::Own(_) => "test",
        }
    }
}

/// The data that a server begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataSet {
    /// None: the tests make their tables themselves.
    Empty,
    /// A copy of tables that were loaded once, all alike.
    Loaded(DataShape),
    /// A copy of the tables of TPROC-C, which were loaded once.
    Warehouses(Warehouses),
    /// A copy of the user's own data, which were loaded once.
    Own(Box<OwnData>),
}

impl DataSet {
    /// The name by which a treatment gets more than others, if it does.
    pub fn only_for(&self, treatment: &str) -> Option<&str> {
        match self {
            DataSet::Own(data) => data.files_only_for(treatment).map(|(name, _)| name),
            DataSet::Empty | DataSet::Loaded(_) | DataSet::Warehouses(_) => None,
        }
    }

    /// Its tables and the rows of all of them.
    pub fn size(&self) -> (u32, u64) {
        match self {
            DataSet::Empty => (0, 0),
            DataSet::Loaded(data) => (data.tables, u64::from(data.tables) * data.rows),
            DataSet::Warehouses(data) => (TABLES, data.rows()),
            DataSet::Own(data) => (0, data.rows_drawn()),
        }
    }
}

impl std::fmt::Display for DataSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DataSet::Empty => write!(f, "nothing"),
            DataSet::Loaded(DataShape { tables, rows }) => write!(f, "{tables} x {rows} rows"),
            DataSet::Warehouses(data) => write!(f, "{}", plural(data.warehouses, "warehouse")),
            DataSet::Own(data) => data.fmt(f),
        }
    }
}

/// What loaded data are aged by: once, before the first round, by one client, with the same statements on every build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aged {
    /// The tests, in their order.
    pub by: Vec<AgedBy>,
    /// Rows that each of them changes, about.
    pub changes: u64,
    /// Work done after them, by name.
    pub then: Vec<String>,
}

/// A test that data are aged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgedBy {
    /// Its published name.
    pub test: String,
    /// How many of its events.
    pub events: u32,
}

impl std::fmt::Display for Aged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tests = plural(self.by.len(), "test");
        write!(f, "{tests} that write, about {} each", plural(self.changes, "row change"))?;
        if !self.then.is_empty() {
            write!(f, ", then {}", self.then.join(", "))?;
        }
        Ok(())
    }
}

/// When a server gets its data anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renew {
    /// When the stage begins: a test finds what those before it wrote.
    PerStage,
    /// Before each test at each number of clients.
    PerTest,
    /// Once, before its first test: each test, number of clients and round goes on with what the one before left.
    Once,
}

/// How builds take turns in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alternate {
    /// Each test runs on all builds, in slices or turns, with all servers up.
    SideBySide,
    /// One build after the other, with no other server up: each runs what it has servers for, all tests of a chain or
    /// one test.
    OneByOne,
}

/// Tests that run one after the other on the same data. In a round, stages follow each other in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What a server begins with.
    pub data: DataSet,
    /// What its data were aged by once they were loaded; `None` where it begins with them as loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// When it gets that anew.
    pub renew: Renew,
    /// How builds take turns.
    pub alternate: Alternate,
    /// Numbers of clients; every test runs at each of them before the next test begins.
    pub clients: Vec<u32>,
    /// Connections that a client holds to a server.
    pub connections: u32,
    /// Rows of all tables once they are loaded, by which servers are sized.
    pub rows: u64,
    /// Whether each server has a clock of its own and stands still with it, statements under way included, while
    /// another one works. Ask [`Stage::has_own_clocks`], which knows older plans too.
    #[serde(default)]
    pub own_clocks: bool,
    /// Tests in order of execution.
    pub tests: Vec<TestPlan>,
}

/// What an engine forces to be different on work that is otherwise the same; shown where several engines are compared.
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

impl Stage {
    /// All builds at once, on tables that were loaded before the first round.
    pub fn side_by_side(data: DataShape, clients: Vec<u32>, tests: Vec<TestPlan>) -> Stage {
        Stage {
            data: DataSet::Loaded(data),
            aged: None,
            renew: Renew::PerStage,
            alternate: Alternate::SideBySide,
            clients,
            connections: 1,
            rows: u64::from(data.tables) * data.rows,
            own_clocks: false,
            tests,
        }
    }

    /// On fresh copies of what was loaded for each test and number of clients, each build on a clock of its own.
    pub fn on_fresh_copies(alternate: Alternate, data: DataSet, clients: Vec<u32>, tests: Vec<TestPlan>) -> Stage {
        Stage {
            rows: data.size().1,
            data,
            aged: None,
            renew: Renew::PerTest,
            alternate,
            clients,
            connections: 1,
            own_clocks: true,
            tests,
        }
    }

    /// From an empty data folder on, in which the tests make so many rows.
    pub fn chain(alternate: Alternate, rows: u64, clients: u32, connections: u32, tests: Vec<TestPlan>) -> Stage {
        Stage {
            data: DataSet::Empty,
            aged: None,
            renew: Renew::PerStage,
            alternate,
            clients: vec![clients],
            connections,
            rows,
            own_clocks: true,
            tests,
        }
    }

    /// Whether each test builds on what those before it left: they make their tables themselves.
    pub fn is_chain(&self) -> bool {
        self.data == DataSet::Empty
    }

    /// Whether each test at each number of clients has servers of its own, started for it.
    pub fn has_servers_per_test(&self) -> bool {
        self.renew != Renew::PerStage
    }

    /// Whether nothing is gained by servers that are up while others have their turn: they are started anew for each
    /// test, or for each pass.
    pub fn needs_no_others_in_turns(&self) -> bool {
        self.is_chain() || self.has_servers_per_test()
    }

    /// What it begins with: its data, and what they were aged by.
    pub fn begins_with(&self) -> (&DataSet, Option<&Aged>) {
        (&self.data, self.aged.as_ref())
    }

    /// Whether builds go on with their data from test to test and from round to round.
    pub fn is_continued(&self) -> bool {
        self.renew == Renew::Once
    }

    /// Whether each server has a clock that stands still while another one works.
    pub fn has_own_clocks(&self) -> bool {
        // Plans that were written before there was `own_clocks` have chains without it.
        self.own_clocks || self.is_chain()
    }

    /// Whether a server stands still while another one works in this test: in turns, and where each has a clock of its
    /// own.
    pub fn freezes(&self, test: &TestPlan) -> bool {
        let stands_still = self.has_own_clocks() || test.interleave == Some(Interleave::Turns);
        self.alternate == Alternate::SideBySide && stands_still
    }
}

/// How long a campaign may take: as many rounds as fit are measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeLimit {
    /// Seconds from its start to its end, loading included.
    pub seconds: f64,
    /// However many would fit, there are no more rounds than these.
    pub rounds_max: u32,
    /// How the time is divided among the tests; `None` where every round measures all of them as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<Division>,
}

/// How a time is divided among tests, by what the rounds so far have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    /// Whether the seconds of tests that only read may be changed.
    pub read_seconds: bool,
    /// Whether the seconds of tests that write may be changed.
    pub write_seconds: bool,
    /// Whether the campaign ends as soon as every test is decided, however wide its interval.
    pub until_decided: bool,
}

/// A whole campaign. It holds rules and the seed; what was run in which order by them stands beside the samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Results format.
    pub format: Format,
    /// Name of the campaign; also its folder.
    pub name: String,
    /// What is run.
    pub suite: SuitePlan,
    /// Seed that all randomness is derived from.
    pub seed: u64,
    /// What is compared.
    pub treatments: Vec<TreatmentPlan>,
    /// Index of the base in `treatments`.
    pub base: usize,
    /// What a round consists of, in order of execution.
    pub stages: Vec<Stage>,
    /// Why builds go one by one, where they could alternate in every test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_one_by_one: Option<String>,
    /// Why builds go on with their data, where they could have a fresh copy for each test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_continued: Option<String>,
    /// Seconds each treatment runs before counting starts.
    pub warmup_seconds: f64,
    /// Length of a slice.
    pub slice_ms: f64,
    /// Length of a turn, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_seconds: Option<f64>,
    /// When requests are sent.
    pub arrival: Arrival,
    /// CPU placement.
    pub placement: Placement,
    /// What profiles are sized for; `None` = this host divided by the servers that are up together.
    pub machine: Option<MachineClass>,
    /// Margin of equivalence, as a fraction (0.02).
    pub margin: f64,
    /// How many rounds are measured; [`Plan::round`] says how each of them goes. Where a time is given, how many are
    /// expected to fit.
    pub rounds: u32,
    /// What ends the campaign instead of a number of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeLimit>,
    /// Whether functions are sampled: the rounds explain a campaign, and give no verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub profiled: bool,
    /// What its engines force to be different; empty where there is one engine only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<ForcedForm>,
}

impl Plan {
    /// Order and seed of a round, from 1 on. They follow from the seed, whatever the number of rounds.
    pub fn round(&self, number: u32) -> Round {
        crate::order::round(self.treatments.len(), self.seed, number)
    }

    /// The plan with the seconds that tests have in a round.
    pub fn allotted(&self, round: &Round) -> Plan {
        let mut plan = self.clone();
        if let Some(allotment) = &round.allotment {
            for test in plan.stages.iter_mut().flat_map(|stage| &mut stage.tests) {
                test.seconds = allotment.seconds.get(&test.name).copied().unwrap_or(test.seconds);
            }
        }
        plan
    }

    /// How its time is divided by what its rounds show; `None` where all rounds are alike.
    pub fn division(&self) -> Option<Division> {
        self.time.and_then(|time| time.division)
    }

    /// No round has a higher number.
    pub fn rounds_max(&self) -> u32 {
        self.time.map_or(self.rounds, |time| time.rounds_max)
    }

    /// Each test once, in order of execution.
    pub fn tests(&self) -> Vec<&TestPlan> {
        let mut tests: Vec<&TestPlan> = Vec::new();
        for test in self.stages.iter().flat_map(|stage| &stage.tests) {
            if tests.iter().all(|known| known.name != test.name) {
                tests.push(test);
            }
        }
        tests
    }

    /// Each number of clients once, in order of execution.
    pub fn clients(&self) -> Vec<u32> {
        let mut levels = Vec::new();
        for clients in self.stages.iter().flat_map(|stage| &stage.clients) {
            if !levels.contains(clients) {
                levels.push(*clients);
            }
        }
        levels
    }

    /// Whether tests build on each other.
    pub fn is_chain(&self) -> bool {
        self.stages.iter().any(Stage::is_chain)
    }

    /// The servers that are up at the same time.
    pub fn servers_together(&self) -> usize {
        let side_by_side = self.stages.iter().any(|stage| stage.alternate == Alternate::SideBySide);
        if side_by_side { self.treatments.len() } else { 1 }
    }

    /// The builds that share each second, since they alternate in slices; 1 where one works for seconds on end.
    pub fn builds_in_a_second(&self) -> usize {
        let in_slices = |stage: &Stage| {
            let sliced = |test: &TestPlan| test.interleave == Some(Interleave::Slices);
            stage.alternate == Alternate::SideBySide && (stage.has_own_clocks() || stage.tests.iter().any(sliced))
        };
        if self.stages.iter().any(in_slices) { self.treatments.len() } else { 1 }
    }

    /// The data folders of servers that are there at the same time.
    pub fn folders_together(&self) -> usize {
        let continued = self.stages.iter().filter(|stage| stage.is_continued()).count();
        self.servers_together().max(continued * self.treatments.len())
    }
}
