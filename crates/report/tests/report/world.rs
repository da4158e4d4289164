//! Made-up campaigns as findings: a results folder from a recipe, analysed, and kept for the other tests.
//!
//! In: how many tests, builds and rounds, or which engines. Out: [`Findings`], the same for every test that asks for
//! the same. The numbers are invented and must never be quoted as measurements.

use rqps_analysis::analyse;
use rqps_analysis::findings::Findings;
use rqps_madeup::insert::{InsertRecipe, StallAt};
use rqps_madeup::{Effect, Place, Recipe, StackTruth, scratch_folder};
use rqps_model::Engine;
use rqps_model::plan::ForcedForm;
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// The size of a campaign of sysbench.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// How many of the suite's tests.
    pub(crate) tests: usize,
    /// How many treatments, base included.
    pub(crate) treatments: usize,
    pub(crate) rounds: u32,
}

impl Size {
    /// The largest campaign that the report must render in a few seconds.
    pub(crate) const LARGE: Size = Size { tests: 42, treatments: 14, rounds: 10 };
    /// Two builds, the usual case.
    pub(crate) const TWO_BUILDS: Size = Size { tests: 32, treatments: 2, rounds: 5 };
    /// A ladder of five builds.
    pub(crate) const FIVE_BUILDS: Size = Size { tests: 32, treatments: 5, rounds: 6 };
}

/// Tests that changed: in which major version, and by which factor.
const CHANGES: [(&str, u64, f64); 8] = [
    ("hot-points", 17, 1.9),
    ("point-query", 17, 0.95),
    ("range-covered-pk", 16, 0.82),
    ("range-covered-si", 14, 0.9),
    ("scan", 18, 1.12),
    ("update-zipf", 17, 1.06),
    ("update-index", 17, 1.05),
    ("insert", 18, 0.93),
];

/// The findings of a campaign of this size.
pub(crate) fn findings(size: Size) -> Findings {
    let mut recipe = Recipe { cycles: 24, ..Recipe::new(size.tests, size.treatments, size.rounds, 7) };
    if size.treatments == 5 {
        recipe.versions = ["12.22", "14.24", "15.19", "16.15", "18.6"].map(str::to_owned).into();
    }
    recipe.effects = effects(&recipe);
    kept(format!("{recipe:?}"), |root| recipe.write(root))
}

fn effects(recipe: &Recipe) -> Vec<Effect> {
    let major = |version: &str| version.split(['.', 'b']).next().and_then(|major| major.parse().ok()).unwrap_or(0_u64);
    let base = major(&recipe.versions[0]);
    let names = recipe.test_names();
    let of = |(treatment, version): (usize, &String)| {
        let is_met = move |since: u64| since > base && since <= major(version);
        let changes = CHANGES.into_iter().filter(|(_, since, _)| is_met(*since));
        let place = |name: &str| names.iter().position(|known| *known == name);
        changes.filter_map(|(name, _, ratio)| Some(Effect { treatment, test: place(name)?, ratio })).collect::<Vec<_>>()
    };
    recipe.versions.iter().enumerate().flat_map(of).collect()
}

pub(crate) const MYSQL: [&str; 4] = ["mysql:5.6.14", "mysql:5.7.22", "mysql:8.0.15", "mysql:8.0.33"];
pub(crate) const TWO_ENGINES: [&str; 2] = ["17.11", "mysql:8.0.33"];
pub(crate) const STORAGE_ENGINES: [&str; 2] = ["mariadb:11.4.5", "mariadb:11.4.5+rocksdb"];
pub(crate) const FIVE_OF_THREE_ENGINES: [&str; 5] =
    ["17.11", "mysql:5.6.14", "mysql:8.0.33", "mariadb:11.4.5", "mariadb:11.4.5+rocksdb"];

/// The findings of a campaign of these builds; the third is another one in its plan and counters of a test.
pub(crate) fn of_engines(versions: &[&str]) -> Findings {
    let mut recipe = Recipe { cycles: 24, ..Recipe::new(32, versions.len(), 3, 17) };
    recipe.versions = versions.iter().map(|version| (*version).to_owned()).collect();
    recipe.effects = (2..versions.len()).map(|treatment| Effect { treatment, test: 0, ratio: 1.6 }).collect();
    let engine = |at: usize| versions[at].split_once(':').map_or("postgres", |(engine, _)| engine);
    if (0..versions.len()).any(|at| engine(at) != engine(0)) {
        recipe.forced = forced();
    }
    kept(format!("{recipe:?}"), |root| recipe.write(root))
}

fn forced() -> Vec<ForcedForm> {
    let form = |what: &str, tests: &[&str], postgres: &str, mysql: &str| {
        let of = |engine: Engine| if engine == Engine::Postgres { postgres } else { mysql };
        ForcedForm {
            what: what.to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            forms: Engine::ALL.map(|engine| (engine, of(engine).to_owned())).into(),
            because: "each engine has its own".to_owned(),
        }
    };
    vec![
        form("load", &[], "COPY ... (FORMAT binary, FREEZE)", "LOAD DATA LOCAL INFILE, a transaction for each part"),
        form("statement insert", &["insert"], "INSERT INTO t (k) VALUES ($1)", "INSERT INTO t (id, k) VALUES (0, $1)"),
    ]
}

/// The size of a campaign of the Insert Benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InsertSize {
    pub(crate) treatments: usize,
    pub(crate) rounds: u32,
    /// Seconds of the steps with queries.
    pub(crate) seconds: u32,
}

impl InsertSize {
    pub(crate) const TWO: InsertSize = InsertSize { treatments: 2, rounds: 3, seconds: 60 };
    pub(crate) const ONE_ROUND: InsertSize = InsertSize { treatments: 2, rounds: 1, seconds: 60 };
    /// The largest that the report must render in a few seconds.
    pub(crate) const LARGE: InsertSize = InsertSize { treatments: 6, rounds: 5, seconds: 600 };
}

/// The treatment whose last two steps miss their rate, whose l.i1 stalls, and of which l.i2 fails in the third round.
pub(crate) const TROUBLED: usize = 1;

/// The findings of an Insert Benchmark with one client.
pub(crate) fn insert_findings(size: InsertSize) -> Findings {
    let mut recipe = InsertRecipe::new(size.treatments, size.rounds, 23);
    let place = |round, test| Place { round, treatment: TROUBLED, test };
    recipe.common.clients = vec![1];
    recipe.shape.seconds = f64::from(size.seconds);
    recipe.common.effects = (1..size.treatments)
        .flat_map(|treatment| {
            let effect = move |(test, ratio)| Effect { treatment, test, ratio };
            [(0, 0.62), (1, 1.4), (4, 1.08), (5, 0.91)].map(effect)
        })
        .collect();
    let stall = |round| StallAt { place: place(round, 2), from_second: 9, seconds: 3 };
    recipe.stalls = (1..=size.rounds).map(stall).collect();
    recipe.behind = (1..=size.rounds).flat_map(|round| [place(round, 8), place(round, 9)]).collect();
    recipe.common.failed = (3..=size.rounds).take(1).map(|round| place(round, 3)).collect();
    kept(format!("{recipe:?}"), |root| recipe.write(root))
}

/// Why a kernel lets nobody see them.
pub(crate) const REFUSED: &str = "tracefs is not mounted; as root, `mount …` mounts it";

/// Two builds of which the first test changed, with rounds that explain it: what a function gained and another lost,
/// and why there are no system calls.
pub(crate) fn explained() -> Findings {
    let recipe = Recipe { cycles: 24, ..Recipe::new(2, 2, 5, 29) };
    let recipe = Recipe { effects: vec![Effect { treatment: 1, test: 0, ratio: 1.9 }], ..recipe };
    let even = |number: u32| (format!("main;ServerLoop;executor;step_{number}"), [5.0, 5.0]);
    let moved = [("main;ServerLoop;executor;_bt_readpage", [80.0, 20.0]), ("main;ServerLoop;send_[k]", [10.0, 30.0])];
    let stacks = (1..=12).map(even).chain(moved.map(|(stack, us)| (stack.to_owned(), us)));
    let stacks = stacks.map(|(stack, us)| StackTruth { stack, us: us.to_vec() }).collect();
    let not_sampled = BTreeMap::from([("system calls".to_owned(), REFUSED.to_owned())]);
    let profile = Recipe { name: "1".to_owned(), cycles: 200, stacks, not_sampled, ..recipe.clone() };
    kept(format!("{profile:?}"), |root| {
        let folder = recipe.write(root)?;
        profile.write(&folder.join("profiles"))?;
        Ok(folder)
    })
}

/// Two builds in which the CPU counted half of the time; the first test takes 1.3 times the instructions.
pub(crate) fn counted_by_cpu() -> Findings {
    let effects = vec![Effect { treatment: 1, test: 0, ratio: 1.0 / 1.3 }];
    let recipe = Recipe { cycles: 24, cpu_events: true, effects, ..Recipe::new(2, 2, 5, 31) };
    kept(format!("{recipe:?}"), |root| recipe.write(root))
}

/// Findings made from what `write` leaves in a folder, once for all tests that ask with the same key.
fn kept(key: String, write: impl FnOnce(&Path) -> Result<PathBuf, StoreError>) -> Findings {
    static KEPT: Mutex<BTreeMap<String, Arc<OnceLock<Findings>>>> = Mutex::new(BTreeMap::new());
    let slot = KEPT.lock().expect("nothing panics under the lock").entry(key).or_default().clone();
    let make = || {
        let root = scratch_folder().expect("a folder");
        let campaign = Campaign::open(&write(root.path()).expect("written")).expect("opened");
        analyse(&campaign, None).expect("analysed")
    };
    slot.get_or_init(make).clone()
}
