//! A campaign as expanded: every choice made, every name resolved, nothing left to a default.
//!
//! Made by `campaign`, walked by `conduct`, stored as `plan.json`, read by `analysis`. The same plan and seed give the
//! same order and the same keys.

mod stage;

pub use stage::{Aged, AgedBy, Alternate, DataSet, Renew, Stage};

use crate::insert::Shape;
pub use crate::order::{Allotment, Round};
use crate::own::Own;
use crate::settings::MachineClass;
use crate::tproc_c::TprocC;
use crate::{BuildSpec, Engine, Format, Group, Placement, ProgramPages, StorageEngine, Unit, words};
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

/// The noise of a test, as an A/A campaign on the same host has shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptFloor {
    /// The test.
    pub test: String,
    /// Clients.
    pub clients: u32,
    /// Rounds compared.
    pub rounds: u32,
    /// Sd of the rounds' log ratios.
    pub sd: f64,
    /// Standard error that the slices of a round explain; 0 where it has none.
    pub slice_se: f64,
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

impl TimeLimit {
    /// A round begins if it is expected to end at most this part of the time late.
    pub const LATE_PART: f64 = 0.025;

    /// Seconds from its start at which its last round may be expected to end.
    pub fn latest_end(&self) -> f64 {
        self.seconds * (1.0 + TimeLimit::LATE_PART)
    }
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
    /// In what pages the programs of servers lie.
    #[serde(default = "small", skip_serializing_if = "ProgramPages::is_small")]
    pub program_pages: ProgramPages,
    /// What A/As on this host had shown of the noise of its tests when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_floors: Vec<KeptFloor>,
    /// Whether the events of the CPU are counted in servers: instructions, cycles, misses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpu_events: bool,
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

const fn small() -> ProgramPages {
    ProgramPages::Small
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

    /// Whether two treatments run with the same settings on the same data, and no change is planted in either: if their
    /// builds are one, they are the same.
    pub fn differ_in_build_only(&self, a: usize, b: usize) -> bool {
        let [own, other] = [a, b].map(|at| &self.treatments[at]);
        let only = |name: &str| self.stages.iter().find_map(|stage| stage.data.only_for(name));
        own.planted.is_none()
            && other.planted.is_none()
            && only(&own.name) == only(&other.name)
            && (&own.profile, own.storage, &own.set) == (&other.profile, other.storage, &other.set)
    }

    /// Whether two treatments are the same as planned.
    pub fn are_same(&self, a: usize, b: usize) -> bool {
        let [own, other] = [a, b].map(|at| &self.treatments[at].build);
        self.differ_in_build_only(a, b) && (own.engine, &own.source) == (other.engine, &other.source)
    }

    /// Whether a treatment is there only to show the noise: the base again, as it is or with a planted change.
    pub fn is_control(&self, at: usize, base: usize) -> bool {
        at != base && (self.treatments[at].planted.is_some() || self.are_same(at, base))
    }

    /// Whether all treatments are the base, again or with a planted change.
    pub fn shows_noise_only(&self, base: usize) -> bool {
        (0..self.treatments.len()).all(|at| at == base || self.is_control(at, base))
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

    /// The builds that share each second, since servers stand still with their own clocks while others work; 1 where
    /// one works for seconds on end, and where those that wait do not stand still.
    pub fn alternating_builds(&self) -> usize {
        let share = |stage: &Stage| stage.alternate == Alternate::SideBySide && stage.has_own_clocks();
        if self.stages.iter().any(share) { self.treatments.len() } else { 1 }
    }

    /// The data folders of servers that are there at the same time.
    pub fn folders_together(&self) -> usize {
        let continued = self.stages.iter().filter(|stage| stage.is_continued()).count();
        self.servers_together().max(continued * self.treatments.len())
    }
}
