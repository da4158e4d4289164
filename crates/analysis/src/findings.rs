//! Everything that a report can say about a campaign; the contract between `analysis` and `report`.
//!
//! Full precision: digits are a matter of display. Lists are in display order. Also written as `findings.json`.

mod amount;
mod answers;
mod blocked;
mod cause;
mod comparison;
mod cost;
mod counter;
mod not_sampled;
mod plan;
mod planted;
mod profile;
mod rule;
mod sections;
mod setting;
mod statement_time;
mod statement_work;
mod syscalls;
mod waits;
mod work;

pub use amount::{Amount, PerOperation};
pub use answers::{AnswerFindings, AnswerKind, RowDifference};
pub use blocked::BlockedFindings;
pub use cause::{Cause, Moved};
pub(crate) use comparison::is_beyond_chance;
pub use comparison::{Comparison, MeasureComparison, RoundFindings};
pub use cost::{Cost, CostField};
pub use counter::{CounterFindings, CounterUnit};
pub use not_sampled::NotSampled;
pub use plan::{EstimateDifference, PlanDifference, PlanFindings};
pub use planted::{PlantedCell, PlantedFindings, SideCost};
pub use profile::{Absence, FrameFindings, FunctionFindings, ProfileFindings};
pub use rule::Rule;
pub use sections::{
    ContinuedFindings, CrossingFindings, InsertColumns, InsideFindings, Mark, ResponseFindings, SlaFindings,
    TimelineFindings, TimelinePoint, TransactionFindings,
};
pub use setting::{SettingFindings, Touch};
pub use statement_time::StatementTime;
pub use statement_work::{StatementCount, StatementWorkFindings};
pub use syscalls::{CallFindings, SyscallFindings};
pub use waits::{EventFindings, WaitFindings};
pub use work::WorkFindings;

use rqps_model::checkup::HostCheckup;
use rqps_model::facts::{BuildFacts, HostFacts, SettingsFacts};
use rqps_model::plan::{Aged, Arrival, ForcedForm, SuitePlan};
use rqps_model::sample::ProgramText;
use rqps_model::{Group, Interleave, Placement, RoundSeconds, StorageEngine, Unit, WarningKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole campaign, judged against one base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Results format.
    pub format: rqps_model::Format,
    /// What was run.
    pub campaign: CampaignFacts,
    /// Where it ran.
    pub host: HostFacts,
    /// What `rqps doctor` had found there before, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkup: Option<HostCheckup>,
    /// Index of the base in `treatments`.
    pub base: usize,
    /// What was compared, in plan order.
    pub treatments: Vec<TreatmentFindings>,
    /// One entry per test and number of clients, in published order.
    pub tests: Vec<TestFindings>,
    /// One entry per group, number of clients and treatment other than the base.
    pub groups: Vec<GroupFindings>,
    /// What became of the changes that were planted, where they are known against this base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<PlantedFindings>,
    /// Where the ratio of a test crosses 1 as clients grow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<CrossingFindings>,
    /// What engines force to be different, where several are compared; stated and as found in the statements.
    #[serde(default)]
    pub forced: Vec<ForcedForm>,
    /// What matters of the settings, engine beside engine, where several engines or storage engines are compared: their
    /// names could not be compared one by one.
    #[serde(default)]
    pub side_by_side: Vec<SideBySide>,
    /// What a reader must know about the campaign as a whole.
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// The treatment whose settings, plans and counters are comparable name by name with those of this one: the base
    /// where it is of the same engine, else the first of its engine.
    pub fn peer(&self, treatment: usize) -> usize {
        peer(&self.treatments, self.base, treatment)
    }

    /// Whether events came at a requested rate: then throughput is that rate, and latency is what differs.
    pub fn is_open_loop(&self) -> bool {
        self.campaign.arrival != Arrival::Closed
    }

    /// Whether treatments of more than one engine are compared.
    pub fn has_several_engines(&self) -> bool {
        self.treatments.iter().any(|treatment| treatment.build.engine != self.treatments[0].build.engine)
    }
}

/// The base where it is of the same engine as a treatment, else the first treatment of that engine.
pub(crate) fn peer(treatments: &[TreatmentFindings], base: usize, treatment: usize) -> usize {
    let engine = treatments[treatment].build.engine;
    let is_of_engine = |at: &usize| treatments[*at].build.engine == engine;
    Some(base).filter(is_of_engine).or_else(|| (0..treatments.len()).find(is_of_engine)).unwrap_or(treatment)
}

/// One thing that settings decide, as it is on each treatment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideBySide {
    /// What, such as `commit`.
    pub what: String,
    /// One per treatment, in the order of `Findings::treatments`; empty where it is not known.
    pub values: Vec<String>,
}

/// The campaign itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignFacts {
    /// Name.
    pub name: String,
    /// The suite with the size and form of its data.
    pub suite: SuitePlan,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; `None` while incomplete.
    pub finished_at: Option<String>,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// The campaign file that repeats it.
    pub campaign_toml: String,
    /// Version of rqps that measured.
    pub rqps_version: String,
    /// Seed.
    pub seed: u64,
    /// Rounds planned.
    pub rounds_planned: u32,
    /// The time that the campaign was given, if it ended with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<f64>,
    /// Whether tests that were decided were left out of later rounds.
    #[serde(default)]
    pub is_divided: bool,
    /// Rounds of which every cell is there.
    pub rounds_complete: u32,
    /// Whether each test begins with what the one before left: then they stay in the order in which they ran.
    #[serde(default)]
    pub is_in_order: bool,
    /// Concurrency levels.
    pub clients: Vec<u32>,
    /// Slice length.
    pub slice_ms: f64,
    /// Why builds went one by one, where they could have alternated in every test.
    pub why_one_by_one: Option<String>,
    /// Why builds went on with their data, where they could have had a fresh copy for each test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_continued: Option<String>,
    /// What the data of some tests were aged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// What the seconds of a round went to, in the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_seconds: Option<RoundSeconds>,
    /// What this host had shown of the noise of tests before, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_noise: Option<KeptNoise>,
    /// Margin of equivalence as a fraction.
    pub margin: f64,
    /// CPU placement.
    pub placement: Placement,
    /// When events came.
    pub arrival: Arrival,
}

/// One treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreatmentFindings {
    /// Name, such as `pg1711_zonky.x10a_c2r24`.
    pub name: String,
    /// The build.
    pub build: BuildFacts,
    /// The storage engine requested for its tables, where the engine leaves a choice.
    #[serde(default)]
    pub storage: Option<StorageEngine>,
    /// The change that was planted in it, as a share of a statement's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<f64>,
    /// The settings as they ran.
    pub settings: SettingsFacts,
    /// Settings whose effective value differs from its peer's (`Findings::peer`: the base within one engine): name →
    /// (peer, this); `None` = not there.
    pub settings_diff: BTreeMap<String, (Option<String>, Option<String>)>,
    /// One sentence against the base, empty for the base.
    pub sentence: String,
    /// Number of cells by verdict, in the order of `Verdict::ALL`.
    pub counts: [u32; 4],
    /// Seconds that loading the data took.
    pub load_seconds: f64,
    /// What loading cost a row, where this treatment loaded the data itself and not another one for it too.
    #[serde(default)]
    pub load: Option<Cost>,
    /// In what pages its program lay, in the round in which the smallest part was in huge ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_text: Option<ProgramText>,
    /// Differences from the base that were not requested, such as another compiler.
    pub warnings: Vec<Warning>,
}

/// One test at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestFindings {
    /// Published name.
    pub name: String,
    /// Label as in raw files.
    pub label: String,
    /// Group.
    pub group: Group,
    /// Unit of throughput.
    pub unit: Unit,
    /// Clients.
    pub clients: u32,
    /// How builds alternated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleave: Option<Interleave>,
    /// Statements: kind and SQL.
    pub statements: Vec<(String, String)>,
    /// One per treatment, in the order of `Findings::treatments`.
    pub cells: Vec<CellFindings>,
}

impl TestFindings {
    /// Whether any treatment was recorded by the second.
    pub fn has_timelines(&self) -> bool {
        self.cells.iter().any(|cell| !cell.timelines.is_empty())
    }
}

/// The clients where the published unit is that of one client (`scan`), else 1. Throughput is in that unit; costs are
/// of what all clients did.
pub fn clients_per_unit(unit: Unit, clients: u32) -> f64 {
    match unit {
        Unit::KiloRowsPerSecond => f64::from(clients.max(1)),
        Unit::QueriesPerSecond | Unit::RowsPerSecond | Unit::NewOrdersPerMinute => 1.0,
    }
}

/// Noise that an A/A on the same host had shown before a campaign began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNoise {
    /// Tests of which it was known, each number of clients by itself.
    pub known: u32,
    /// Those whose intervals count it, since the campaign's other tests agree with it.
    pub counted: u32,
}

/// One treatment in one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CellFindings {
    /// Samples that have a number.
    pub rounds: u32,
    /// Throughput in the test's unit: geometric mean over rounds.
    pub throughput: Option<f64>,
    /// Throughput of each round; `None` = failed or absent.
    pub throughput_by_round: Vec<Option<f64>>,
    /// Against the base; `None` for the base itself and where nothing can be compared.
    pub comparison: Option<Comparison>,
    /// What is true of it, where a change was planted and is known against this base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<PlantedCell>,
    /// What stands behind a change, as far as it was measured, what explains most first; where nothing changed, only
    /// the exact counts that moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Rules of the field that hold for its loss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Settings that differ from the base's and may touch the test, where it changed; the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingFindings>,
    /// What the server's counters say it did per operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work: Vec<WorkFindings>,
    /// Where its CPU time goes, by function, where rounds that explain the campaign say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileFindings>,
    /// What its sessions wait for, where rounds that explain the campaign say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitFindings>,
    /// In which stacks its sessions are off the CPU, where rounds that explain the campaign say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<BlockedFindings>,
    /// Which system calls its server makes, where rounds that explain the campaign say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscalls: Option<SyscallFindings>,
    /// What each kind of its statements makes the server do, where rounds that explain the campaign say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_work: Option<StatementWorkFindings>,
    /// What such rounds were to say, and could not sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_sampled: Vec<NotSampled>,
    /// Costs per operation, over all rounds.
    pub cost: Option<Cost>,
    /// Latency by statement kind (`event` first), all rounds merged.
    pub latency: Vec<LatencyFindings>,
    /// How long each kind of statement takes beside the base, in tests that send several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statement_times: Vec<StatementTime>,
    /// How quantiles of the events' latency and costs per operation compare with the base's, as far as they are known.
    pub measures: Vec<MeasureComparison>,
    /// Throughput over time, one series per round: (seconds of own time, throughput).
    pub series: Vec<Vec<(f64, f64)>>,
    /// Plans by statement kind.
    pub plans: Vec<PlanFindings>,
    /// Statements that answer otherwise than on the base, where answers are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerFindings>,
    /// Server counters per thousand statements, mean over rounds: of all treatments of one engine the same ones, those
    /// that moved most against the peer's on any of them first.
    pub counters: Vec<CounterFindings>,
    /// Errors by statement and code, all rounds.
    pub errors: Vec<rqps_model::sample::ErrorCount>,
    /// Whether the writes behind the queries kept their rate, where the test has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sla: Option<SlaFindings>,
    /// Response times in buckets, by kind of statement, all rounds together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<ResponseFindings>,
    /// Each round that was recorded by the second, with or without success; one that an earlier failure prevented has
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<TimelineFindings>,
    /// Where only one round could be compared, and compares like with like: what the seconds inside this run and the
    /// base's say of the ratio. It says how steady the two runs were, not how much two runs differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<InsideFindings>,
    /// The columns that are published of a step, over all rounds with a number; zeros where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<InsertColumns>,
    /// What transactions did by type, where the suite tells types apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<TransactionFindings>,
    /// Where builds went on with their data, or wrote to the user's own: what these took on disk before and after each
    /// round's run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continued: Vec<ContinuedFindings>,
    /// What a reader of the number must know.
    pub warnings: Vec<Warning>,
}

impl CellFindings {
    /// How a measure compares with the base's, where it can be compared.
    pub fn measure(&self, name: &str) -> Option<&MeasureComparison> {
        self.measures.iter().find(|one| one.measure == name)
    }

    /// How much there was of a kind of work, where it was counted.
    pub fn work(&self, name: &str) -> Option<&WorkFindings> {
        self.work.iter().find(|one| one.name == name)
    }

    /// Whether a write rate was missed in any round.
    pub fn is_sla_missed(&self) -> bool {
        self.sla.is_some_and(|sla| !sla.is_held())
    }
}

/// Latency of one statement kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyFindings {
    /// Statement kind or `event`.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Microseconds at p50, p90, p95, p99, p99.9 and the largest.
    pub quantiles_us: [f64; 6],
    /// The whole curve: (percentile, microseconds), some dozens of points.
    pub curve: Vec<(f64, f64)>,
}

/// A group of tests against the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFindings {
    /// Group.
    pub group: Group,
    /// Clients.
    pub clients: u32,
    /// Index of the treatment.
    pub treatment: usize,
    /// Tests with a number.
    pub tests: u32,
    /// Smallest relative throughput.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Median.
    pub median: f64,
    /// Arithmetic mean, as published.
    pub mean: f64,
    /// Geometric mean over tests with its interval over rounds, and verdict for the group as a whole.
    pub comparison: Option<Comparison>,
}

/// Something a reader must know: what happened, and what would help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind of thing it is.
    pub kind: WarningKind,
    /// What happened, a sentence.
    pub cause: String,
    /// What would help, where something does.
    pub advice: Option<String>,
    /// The whole list, where the cause has only the first of it and how many more there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_full: Option<String>,
}
