//! Made-up results folders with known truth, for tests and benches: what was injected must be found, and nothing else.
//!
//! In: a [`Recipe`] with its seed. Out: a results folder written through `store`, as a real run would leave it. Noise
//! has the levels of a real machine: what all builds of a cycle share, what a slice has alone, and the offset of a
//! server start. The same recipe writes the same bytes.

pub mod insert;
mod made;
mod noise;
mod pass;
mod profile;
mod scratch;
mod step;
mod trial;

use made::Made;
pub use noise::Noise;
pub use profile::{StackTruth, WaitTruth};
use rqps_model::facts::HostFacts;
use rqps_model::plan::{
    Alternate, Arrival, DataSet, DataShape, ForcedForm, Stage, SuitePlan, TestPlan, TimeLimit, TreatmentPlan,
};
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk, TprocC};
use rqps_model::{BuildSpec, Engine, FORMAT, Group, Interleave, Placement, Plan, ProgramPages, Unit};
use rqps_store::{Campaign, Start, StoreError};
pub use scratch::scratch_folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trial::Trial;

/// A true change: one treatment in one test runs `ratio` times as fast as the base would.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Index of the treatment.
    pub treatment: usize,
    /// Index of the test, in the order of [`Recipe::test_names`].
    pub test: usize,
    /// True relative throughput. From 1.5 on the treatment also has another plan.
    pub ratio: f64,
}

/// A cell of one round, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Round, from 1.
    pub round: u32,
    /// Index of the treatment.
    pub treatment: usize,
    /// Index of the test.
    pub test: usize,
}

/// What to make up.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Name of the campaign and its folder.
    pub name: String,
    /// How many of the 42 tests.
    pub tests: usize,
    /// Versions, one per treatment: `17.11`, `mysql:8.0.33`, `mariadb:11.4.5+rocksdb`. One given again is the same
    /// build again: an A/A pair.
    pub versions: Vec<String>,
    /// Rounds.
    pub rounds: u32,
    /// The time that the campaign ends with.
    pub time: Option<TimeLimit>,
    /// Concurrency levels.
    pub clients: Vec<u32>,
    /// True changes; all else is unchanged.
    pub effects: Vec<Effect>,
    /// Slices of each sample; 0 leaves the counts of whole samples only.
    pub cycles: usize,
    /// Rows of each sample's series.
    pub seconds: usize,
    /// Sd of a server start's offset, log scale.
    pub start_noise: f64,
    /// Sd of one slice's own noise, log scale.
    pub slice_noise: f64,
    /// Samples that are not there.
    pub absent: Vec<Place>,
    /// Samples of which the trial failed.
    pub failed: Vec<Place>,
    /// When events are due; clients send no faster.
    pub arrival: Arrival,
    /// What the plan states that engines force.
    pub forced: Vec<ForcedForm>,
    /// What is run of TPROC-C instead of sysbench: its warehouses are the tests.
    pub transactions: Option<TprocC>,
    /// The change that is planted in the last treatment, as a share of a statement's time; it counts in its slices.
    pub planted: Option<f64>,
    /// What burning costs besides its time, as a share of what is burned.
    pub side_cost: f64,
    /// Stacks with their true times, of rounds that explain a campaign; others have none.
    pub stacks: Vec<StackTruth>,
    /// What sessions do with its true times, in the same rounds.
    pub waits: Vec<WaitTruth>,
    /// What was refused in these rounds, by its word, and why.
    pub not_sampled: BTreeMap<String, String>,
    /// Whether the CPU counts events, the instructions of a statement in proportion to the time that it takes.
    pub cpu_events: bool,
    /// Seed of everything random.
    pub seed: u64,
}

/// Releases in order; the names of treatments follow from them.
const DATA: DataShape = DataShape { tables: 1, rows: 100_000 };

const VERSIONS: [&str; 14] = [
    "12.22", "13.23", "14.20", "14.24", "15.15", "15.19", "16.11", "16.15", "17.7", "17.11", "18.1", "18.6", "19beta1",
    "19beta2",
];

/// Name, group, place in the group, statements per second of the base with one client.
const TESTS: [(&str, Group, u32, f64); 42] = [
    ("hot-points", Group::Point, 1, 4_500.0),
    ("point-query", Group::Point, 2, 24_000.0),
    ("points-covered-pk", Group::Point, 3, 2_700.0),
    ("points-covered-si", Group::Point, 4, 2_800.0),
    ("points-notcovered-pk", Group::Point, 5, 2_600.0),
    ("points-notcovered-si", Group::Point, 6, 2_000.0),
    ("random-points_range=1000", Group::Point, 7, 280.0),
    ("random-points_range=100", Group::Point, 8, 2_500.0),
    ("random-points_range=10", Group::Point, 9, 12_000.0),
    ("range-covered-pk", Group::Range, 1, 11_000.0),
    ("range-covered-si", Group::Range, 2, 10_500.0),
    ("range-notcovered-pk", Group::Range, 3, 9_000.0),
    ("range-notcovered-si", Group::Range, 4, 6_000.0),
    ("scan", Group::Range, 5, 2.0),
    ("read-only_range=10000", Group::RangeAgg, 1, 600.0),
    ("read-only_range=100", Group::RangeAgg, 2, 9_500.0),
    ("read-only_range=10", Group::RangeAgg, 3, 14_000.0),
    ("delete", Group::Write, 1, 12_000.0),
    ("insert", Group::Write, 2, 11_000.0),
    ("read-write_range=100", Group::Write, 3, 9_000.0),
    ("read-write_range=10", Group::Write, 4, 11_500.0),
    ("update-index", Group::Write, 5, 5_000.0),
    ("update-inlist", Group::Write, 6, 3_500.0),
    ("update-nonindex", Group::Write, 7, 8_000.0),
    ("update-one", Group::Write, 8, 8_500.0),
    ("update-zipf", Group::Write, 9, 8_200.0),
    ("write-only", Group::Write, 10, 12_500.0),
    ("point-query.pre", Group::Point, 10, 24_500.0),
    ("points-covered-pk.pre", Group::Point, 11, 2_750.0),
    ("points-covered-si.pre", Group::Point, 12, 2_850.0),
    ("points-notcovered-pk.pre", Group::Point, 13, 2_650.0),
    ("points-notcovered-si.pre", Group::Point, 14, 2_300.0),
    ("random-points.pre_range=1000", Group::Point, 15, 285.0),
    ("random-points.pre_range=100", Group::Point, 16, 2_550.0),
    ("random-points.pre_range=10", Group::Point, 17, 12_200.0),
    ("range-covered-pk.pre", Group::Range, 6, 11_200.0),
    ("range-covered-si.pre", Group::Range, 7, 11_000.0),
    ("range-notcovered-pk.pre", Group::Range, 8, 9_200.0),
    ("range-notcovered-si.pre", Group::Range, 9, 7_000.0),
    ("read-only.pre_range=10000", Group::RangeAgg, 4, 610.0),
    ("read-only.pre_range=100", Group::RangeAgg, 5, 9_600.0),
    ("read-only.pre_range=10", Group::RangeAgg, 6, 14_100.0),
];

/// Writes a campaign into `dir` and opens it. Two treatments are 16.15 and 17.11, more are releases from 12.22 on.
pub fn campaign(
    dir: &Path,
    tests: usize,
    treatments: usize,
    rounds: u32,
    effects: &[Effect],
    seed: u64,
) -> Result<Campaign, StoreError> {
    let folder = Recipe { effects: effects.to_vec(), ..Recipe::new(tests, treatments, rounds, seed) }.write(dir)?;
    Campaign::open(&folder)
}

impl Recipe {
    /// Nothing changed, nothing absent, nothing failed, one client.
    pub fn new(tests: usize, treatments: usize, rounds: u32, seed: u64) -> Recipe {
        let versions: &[&str] = if treatments == 2 { &["16.15", "17.11"] } else { &VERSIONS[..treatments] };
        Recipe {
            name: "made-up".to_owned(),
            tests,
            versions: versions.iter().map(|&version| version.to_owned()).collect(),
            rounds,
            time: None,
            clients: vec![1],
            effects: Vec::new(),
            cycles: 100,
            seconds: 20,
            start_noise: 0.003,
            slice_noise: 0.05,
            absent: Vec::new(),
            failed: Vec::new(),
            arrival: Arrival::Closed,
            forced: Vec::new(),
            transactions: None,
            planted: None,
            side_cost: 0.0,
            stacks: Vec::new(),
            waits: Vec::new(),
            not_sampled: BTreeMap::new(),
            cpu_events: false,
            seed,
        }
    }

    /// TPROC-C on 2 and 4 warehouses by these rules, on two treatments with 1 and 4 virtual users.
    pub fn transactions(profile: Profile, rounds: u32, seed: u64) -> Recipe {
        let shape = TprocC {
            profile,
            warehouses: vec![2, 4],
            forms: BTreeMap::from([(Engine::Postgres, Form::usual(profile, Engine::Postgres))]),
            quirks: Quirk::ALL.into_iter().filter(|_| profile == Profile::Hammerdb).collect(),
            partitioned: false,
            isolation: Isolation::ServerDefault,
            all_warehouses: false,
            keying_and_thinking: false,
            check: Check::Full,
        };
        let recipe = Recipe::new(2, 2, rounds, seed);
        Recipe { transactions: Some(shape), clients: vec![1, 4], cycles: 0, ..recipe }
    }

    /// The tests' names, by index.
    pub fn test_names(&self) -> Vec<&'static str> {
        TESTS.iter().take(self.tests).map(|test| test.0).collect()
    }

    /// The treatments' names, by index.
    pub fn treatment_names(&self) -> Vec<String> {
        let build = |at: usize| {
            let again = self.versions[..at].iter().filter(|&version| *version == self.versions[at]).count();
            let made = Made::of(&self.versions[at]);
            let compact = made.version.compact(made.engine);
            let number = if again == 0 { String::new() } else { format!("_{}", again + 1) };
            format!("{compact}_o2{number}.{}_c2r8", made.configuration())
        };
        (0..self.versions.len()).map(build).collect()
    }

    /// The true relative throughput of a treatment in a test.
    pub fn truth(&self, treatment: usize, test: usize) -> f64 {
        let effect = self.effects.iter().find(|effect| (effect.treatment, effect.test) == (treatment, test));
        effect.map_or(1.0, |effect| effect.ratio)
    }

    /// The change that is planted in a treatment.
    fn planted_in(&self, treatment: usize) -> Option<f64> {
        self.planted.filter(|_| treatment + 1 == self.versions.len())
    }

    /// The plan of the campaign.
    pub fn plan(&self) -> Plan {
        let treatment = |(at, name): (usize, String)| {
            let made = Made::of(&self.versions[at]);
            let build = format!("{}:{}", made.engine, made.version).parse::<BuildSpec>();
            TreatmentPlan {
                name,
                build: build.expect("recipes name versions"),
                storage: made.storage,
                profile: made.profile().to_owned(),
                set: BTreeMap::new(),
                planted: self.planted_in(at),
            }
        };
        let tests = TESTS.iter().take(self.tests).enumerate();
        let tests = tests.map(|(at, &(_, group, rank, _))| self.test(&self.name_of(at), group, rank));
        Plan {
            format: FORMAT,
            name: self.name.clone(),
            suite: self.suite(),
            seed: self.seed,
            treatments: self.treatment_names().into_iter().enumerate().map(treatment).collect(),
            base: 0,
            why_one_by_one: None,
            why_continued: None,
            time: self.time,
            profiled: !self.stacks.is_empty() || !self.waits.is_empty() || !self.not_sampled.is_empty(),
            stages: self.stages(tests.collect()),
            warmup_seconds: 1.0,
            slice_ms: 10.0,
            turn_seconds: None,
            arrival: self.arrival,
            placement: Placement::Same,
            program_pages: ProgramPages::Small,
            kept_floors: Vec::new(),
            cpu_events: self.cpu_events,
            machine: None,
            margin: 0.02,
            rounds: self.rounds,
            forced: self.forced.clone(),
        }
    }

    fn unit(&self, test: &str) -> Unit {
        match (&self.transactions, test) {
            (Some(_), _) => Unit::NewOrdersPerMinute,
            (None, "scan") => Unit::KiloRowsPerSecond,
            (None, _) => Unit::QueriesPerSecond,
        }
    }

    fn suite(&self) -> SuitePlan {
        self.transactions.clone().map_or(SuitePlan::Sysbench(DATA), SuitePlan::TprocC)
    }

    fn stages(&self, tests: Vec<TestPlan>) -> Vec<Stage> {
        let Some(shape) = &self.transactions else {
            return vec![Stage::side_by_side(DATA, self.clients.clone(), tests)];
        };
        let stage = |(warehouses, test): (&u32, TestPlan)| {
            let data = DataSet::Warehouses(shape.data(*warehouses));
            Stage::on_fresh_copies(Alternate::SideBySide, data, self.clients.clone(), vec![test])
        };
        shape.warehouses.iter().zip(tests).map(stage).collect()
    }

    /// The name of a test: its own, or that of a number of warehouses.
    fn name_of(&self, test: usize) -> String {
        match &self.transactions {
            Some(shape) => TprocC::test_name(shape.warehouses[test]),
            None => TESTS[test].0.to_owned(),
        }
    }

    /// Events per second that are due, all clients together.
    fn due_per_s(&self) -> Option<f64> {
        match self.arrival {
            Arrival::Closed => None,
            Arrival::Poisson { rate_per_s } | Arrival::Even { rate_per_s } => Some(rate_per_s),
        }
    }

    fn test(&self, name: &str, group: Group, rank: u32) -> TestPlan {
        let is_of_transactions = self.transactions.is_some();
        TestPlan {
            name: name.to_owned(),
            label: if name.contains("_range=") { name.to_owned() } else { format!("{name}_range=100") },
            group: if is_of_transactions { Group::Transaction } else { group },
            unit: self.unit(name),
            writes: group == Group::Write || is_of_transactions,
            rank,
            interleave: Some(if self.cycles > 0 { Interleave::Slices } else { Interleave::Turns }),
            seconds: self.seconds as f64,
            timed: true,
            before: Vec::new(),
        }
    }

    /// Writes the results folder under `root` and returns where it is.
    pub fn write(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let plan = self.plan();
        let start = Start {
            at: "2026-11-21T01:00:00Z".to_owned(),
            rqps_version: "0.1.0".to_owned(),
            command_line: vec!["rqps".to_owned(), "run".to_owned()],
            ..Start::default()
        };
        let toml = format!("name = \"{}\"\nseed = {}\n", self.name, self.seed);
        let mut writer = Campaign::create(root, &self.name, &plan, &host(), &toml, start)?.without_sync();
        for (at, treatment) in plan.treatments.iter().enumerate() {
            let made = Made::of(&self.versions[at]);
            writer.write_build(&treatment.name, &made.build(&treatment.name))?;
            writer.write_settings(&treatment.name, &made.settings())?;
            writer.set_load_seconds(&treatment.name, 12.5 + at as f64)?;
            for (test, planned) in plan.tests().into_iter().enumerate() {
                writer.write_plans(&treatment.name, &planned.name, &[made.statement_plan(self.truth(at, test))])?;
            }
        }
        let mut noise = Noise::seeded(self.seed);
        for round in 1..=self.rounds {
            for test in 0..self.tests {
                for &clients in &self.clients {
                    self.write_round(&writer, &mut noise, round, test, clients)?;
                }
            }
        }
        if self.absent.is_empty() {
            writer.finish("2026-11-21T09:00:00Z")?;
        }
        Ok(writer.folder().to_owned())
    }

    fn write_round(
        &self,
        writer: &rqps_store::Writer,
        noise: &mut Noise,
        round: u32,
        test: usize,
        clients: u32,
    ) -> Result<(), StoreError> {
        // What the machine does in a cycle hits all builds alike: on a shared machine it is most of the noise.
        let weather: Vec<f64> = (0..self.cycles).map(|_| 0.15 * noise.normal()).collect();
        let names = self.treatment_names();
        for (treatment, name) in names.iter().enumerate() {
            let place = Place { round, treatment, test };
            let offset = self.start_noise * noise.normal();
            let left = 1.0 - self.planted_in(treatment).unwrap_or(0.0);
            let able = TESTS[test].3 * self.truth(treatment, test) * left * offset.exp();
            let due = self.due_per_s().map_or(f64::INFINITY, |due| due / f64::from(clients));
            let trial = Trial {
                recipe: self,
                place,
                treatment: name,
                test: &self.name_of(test),
                clients,
                rate_per_s: able.min(due),
                weather: &weather,
            };
            let mut parts = trial.parts(noise);
            parts.sample.not_sampled.clone_from(&self.not_sampled);
            if !self.stacks.is_empty() {
                profile::add(&mut parts, &self.stacks, treatment, &mut |mean| noise.poisson(mean));
            }
            if !self.waits.is_empty() {
                profile::add_waits(&mut parts, &self.waits, treatment, &mut |mean| noise.poisson(mean));
            }
            if !self.absent.contains(&place) {
                writer.publish(&parts)?;
            }
        }
        Ok(())
    }
}

fn host() -> HostFacts {
    HostFacts {
        hostname: "lab".to_owned(),
        kernel: "6.12.0".to_owned(),
        distribution: "Debian GNU/Linux 13".to_owned(),
        cpu_model: "made-up CPU".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        filesystem: "xfs".to_owned(),
        device: "nvme0n1".to_owned(),
        reflink: true,
        boot_id: "5e1b".to_owned(),
        rqps_version: "0.1.0".to_owned(),
        ..HostFacts::default()
    }
}
