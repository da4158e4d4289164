//! `rqps-suites`: what a suite is, as data: its keys, its tests or sizes, its presets, its stages, and what engines
//! force to be different.
//!
//! In: the files in `workloads/`, compiled in, and the user's own. Out: a checked [`Suite`], and the table of [`KEYS`]
//! from which campaign file, flags, help and document are made. It opens no file, sends nothing and judges nothing.
//!
//! A new suite is a name here, a file in `workloads/`, its keys in `keys.toml`, what reads its file, and its stages.
//! This is the only file of the crate that tells suites apart.

mod aging;
mod forced;
mod insert;
pub mod key;
mod own;
pub mod preset;
mod statements;
mod suite;
mod tproc_c;

pub use aging::Aging;
pub use forced::Forced;
pub use insert::stages::{Pace, Pass};
pub use key::{KEYS, Key};
pub use own::own_tests;
pub use preset::Preset;
pub use statements::{
    ForcedSql, Generator, SecondsClass, StatementKind, SuiteError, TableChoice, Test, Work, table_name,
};
pub use suite::{ALL_TESTS, Suite};

use rqps_model::insert::Shape;
use rqps_model::own::Own;
use rqps_model::plan::{Alternate, DataShape, Stage, SuitePlan, TestPlan};
use rqps_model::tproc_c::{TABLES, TprocC};
use rqps_model::{Interleave, plural, words};

const SYSBENCH: &str = include_str!("../../../workloads/sysbench.toml");
const INSERT: &str = include_str!("../../../workloads/insert.toml");
const TPROC_C: &str = include_str!("../../../workloads/tproc-c.toml");
const OWN: &str = include_str!("../../../workloads/own.toml");

words! {
    /// The suites by name, the usual one first; the word is that of `--suite`, of plans and of folder names.
    SuiteName {
        /// Microbenchmarks, of which one chooses some.
        Sysbench = "sysbench",
        /// The Insert Benchmark: no tests to choose, but steps of a size.
        Insert = "insert",
        /// Transactions derived from TPC-C: numbers of warehouses.
        TprocC = "tproc-c",
        /// Tables and queries of the user, from files.
        Own = "own",
    }
}

/// What a campaign chooses of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Tests, and tables of so many rows.
    Tests,
    /// A size, from which the steps follow.
    Scale,
    /// Numbers of warehouses, each of which is a test.
    Warehouses,
    /// Files in which the tests are.
    Files,
}

impl SuiteName {
    /// What a campaign chooses of it.
    pub const fn choice(self) -> Choice {
        match self {
            SuiteName::Sysbench => Choice::Tests,
            SuiteName::Insert => Choice::Scale,
            SuiteName::TprocC => Choice::Warehouses,
            SuiteName::Own => Choice::Files,
        }
    }

    /// The suite of a plan.
    pub const fn of(plan: &SuitePlan) -> SuiteName {
        match plan {
            SuitePlan::Sysbench(_) => SuiteName::Sysbench,
            SuitePlan::Insert(_) => SuiteName::Insert,
            SuitePlan::TprocC(_) => SuiteName::TprocC,
            SuitePlan::Own(_) => SuiteName::Own,
        }
    }

    /// Reads and checks the suite's file.
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn read(self, text: &str) -> Result<Suite, SuiteError> {
        match self {
            SuiteName::Sysbench => Suite::parse(text),
            SuiteName::Insert => insert::parse(text),
            SuiteName::TprocC => tproc_c::parse(text),
            SuiteName::Own => own::parse(text),
        }
    }
}

/// Tables of a plan, and rows of each once they are loaded.
pub fn data(plan: &SuitePlan) -> DataShape {
    match plan {
        SuitePlan::Sysbench(data) => *data,
        SuitePlan::Insert(shape) => {
            let tables = shape.tables();
            DataShape { tables, rows: shape.rows_loaded() / u64::from(tables.max(1)) }
        }
        SuitePlan::TprocC(shape) => {
            let most = shape.warehouses.iter().max().map_or(0, |warehouses| shape.data(*warehouses).rows());
            DataShape { tables: TABLES, rows: most / u64::from(TABLES) }
        }
        SuitePlan::Own(own) => DataShape { tables: 1, rows: own::rows(own) },
    }
}

/// What is run of the suite that queries tables.
pub const fn of_tables(data: DataShape) -> SuitePlan {
    SuitePlan::Sysbench(data)
}

/// What is run of the Insert Benchmark.
pub const fn of_shape(shape: Shape) -> SuitePlan {
    SuitePlan::Insert(shape)
}

/// What is run of TPROC-C, and its tests: a test for each number of warehouses.
pub fn of_transactions(shape: TprocC, interleave: Option<Interleave>, seconds: f64) -> (SuitePlan, Vec<TestPlan>) {
    let tests = tproc_c::tests(&shape, interleave, seconds);
    (SuitePlan::TprocC(shape), tests)
}

/// What is run of the user's own workload.
pub fn of_own(own: Own) -> SuitePlan {
    SuitePlan::Own(Box::new(own))
}

/// Whether its tests build on each other, so that builds which cannot all be up at once go one by one.
pub const fn is_chain(plan: &SuitePlan) -> bool {
    match plan {
        SuitePlan::Sysbench(_) => false,
        SuitePlan::Insert(_) => true,
        SuitePlan::TprocC(_) | SuitePlan::Own(_) => false,
    }
}

/// What tests that read are to find of those that write, where the suite has such an order.
pub fn aging(plan: &SuitePlan, suite: &Suite) -> Option<Aging> {
    match plan {
        SuitePlan::Sysbench(data) => Aging::of(suite, *data),
        SuitePlan::Insert(_) | SuitePlan::TprocC(_) | SuitePlan::Own(_) => None,
    }
}

/// The stages of a plan at these numbers of clients: the chosen tests; or the steps of a size, of which engines with
/// these paces take about so long on a machine of so many cores, and in which builds alternate so.
pub fn stages(
    plan: &SuitePlan,
    clients: &[u32],
    tests: &[TestPlan],
    paces: &[&Pace],
    cores: u32,
    alternate: Alternate,
) -> Vec<Stage> {
    match plan {
        SuitePlan::Sysbench(data) => vec![Stage::side_by_side(*data, clients.to_vec(), tests.to_vec())],
        SuitePlan::Insert(shape) => insert::stages::stages(shape, clients, paces, cores, alternate),
        SuitePlan::TprocC(shape) => tproc_c::stages(shape, clients, tests, alternate),
        SuitePlan::Own(workload) => own::stages(workload, clients, tests, alternate),
    }
}

/// About what all tests of a stage that build on each other cost on one build.
pub fn pass(plan: &SuitePlan, clients: u32, pace: &Pace, cores: u32) -> Pass {
    match plan {
        SuitePlan::Sysbench(_) | SuitePlan::TprocC(_) | SuitePlan::Own(_) => Pass::default(),
        SuitePlan::Insert(shape) => insert::stages::pass(&shape.at(clients), pace, cores),
    }
}

/// Data and clients in words, a row a fact.
pub fn size(plan: &SuitePlan, clients: &[u32]) -> Vec<(&'static str, String)> {
    let clients = clients.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match plan {
        SuitePlan::Sysbench(data) => {
            let data = format!("{} of {}", plural(data.tables, "table"), plural(data.rows, "row"));
            vec![("data", data), ("clients", clients)]
        }
        SuitePlan::Insert(shape) => insert::describe::size(shape, &clients),
        SuitePlan::TprocC(shape) => tproc_c::size(shape, &clients),
        SuitePlan::Own(workload) => own::size(workload, clients),
    }
}

/// What a test does, where its statements are not to be read in the suite's file.
pub fn work_of(plan: &SuitePlan, test: &str) -> String {
    match plan {
        SuitePlan::Sysbench(_) | SuitePlan::TprocC(_) => String::new(),
        SuitePlan::Insert(shape) => insert::describe::work_of(shape, test),
        SuitePlan::Own(workload) => own::work_of(workload, test),
    }
}

impl Suite {
    /// Every suite as built in.
    pub fn built_in() -> Vec<Suite> {
        vec![Suite::sysbench(), Suite::insert(), Suite::tproc_c(), Suite::own()]
    }

    /// The sysbench tests as built in.
    pub fn sysbench() -> Suite {
        Suite::parse(SYSBENCH).expect("the built-in workload file is checked by a test")
    }

    /// The Insert Benchmark as built in.
    pub fn insert() -> Suite {
        insert::parse(INSERT).expect("the built-in file of sizes is checked by a test")
    }

    /// The frame of the user's own workloads.
    pub fn own() -> Suite {
        own::parse(OWN).expect("the built-in file is checked by a test")
    }

    /// TPROC-C as built in.
    pub fn tproc_c() -> Suite {
        tproc_c::parse(TPROC_C).expect("the built-in file is checked by a test")
    }
}
