//! `rqps-suites`: what a suite is, as data: its keys, its tests or sizes, its presets, and what engines force to be
//! different.
//!
//! In: the files in `workloads/`, compiled in, and the user's own. Out: a checked [`Suite`], and the table of [`KEYS`]
//! from which campaign file, flags, help and document are made. It opens no file, sends nothing and judges nothing.
//!
//! A new suite is a name here, a file in `workloads/`, its keys in `key`, and what reads its file. This is the only
//! file of the crate that tells suites apart.

mod forced;
mod insert;
pub mod key;
pub mod preset;
mod statements;

pub use forced::Forced;
pub use key::{KEYS, Key};
pub use preset::Preset;
pub use statements::{
    ForcedSql, Generator, SecondsClass, StatementKind, SuiteError, TableChoice, Test, UnknownWork, Work, table_name,
};

use rqps_model::insert::Shape;
use rqps_model::plan::{DataShape, SuitePlan};
use std::collections::BTreeMap;
use std::fmt;

const SYSBENCH: &str = include_str!("../../../workloads/sysbench.toml");
const INSERT: &str = include_str!("../../../workloads/insert.toml");

/// The suites by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SuiteName {
    /// Microbenchmarks, of which one chooses some; the usual suite.
    Sysbench,
    /// The Insert Benchmark: no tests to choose, but steps of a size.
    Insert,
}

impl SuiteName {
    /// Every suite, the usual one first.
    pub const ALL: [SuiteName; 2] = [SuiteName::Sysbench, SuiteName::Insert];

    /// The word used by `--suite`, in plans and in folder names.
    pub const fn name(self) -> &'static str {
        match self {
            SuiteName::Sysbench => "sysbench",
            SuiteName::Insert => "insert",
        }
    }

    /// The suite that a word names.
    pub fn find(word: &str) -> Option<SuiteName> {
        SuiteName::ALL.into_iter().find(|suite| suite.name() == word)
    }

    /// The suite of a plan.
    pub const fn of(plan: &SuitePlan) -> SuiteName {
        match plan {
            SuitePlan::Sysbench(_) => SuiteName::Sysbench,
            SuitePlan::Insert(_) => SuiteName::Insert,
        }
    }

    /// What `--quick` stands for.
    pub const fn quick(self) -> Preset {
        match self {
            SuiteName::Sysbench => preset::QUICK,
            SuiteName::Insert => preset::QUICK_INSERT,
        }
    }

    /// What `rqps demo` stands for, and with `--quick`, where the suite has a demo.
    pub const fn demo(self) -> Option<(Preset, Preset)> {
        match self {
            SuiteName::Sysbench => Some((preset::DEMO, preset::QUICK_DEMO)),
            SuiteName::Insert => None,
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
        }
    }
}

impl fmt::Display for SuiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    }
}

/// Size and form of the Insert Benchmark, where that is the suite of a plan.
pub const fn insert_shape(plan: &SuitePlan) -> Option<&Shape> {
    match plan {
        SuitePlan::Insert(shape) => Some(shape),
        SuitePlan::Sysbench(_) => None,
    }
}

/// A family of tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Its name, such as `sysbench`.
    pub name: String,
    /// The tests that one may choose, in the published order of execution; none where steps follow from a size.
    pub tests: Vec<Test>,
    /// Ready-made sizes by name, of a suite that has steps of a size instead of tests to choose.
    pub scales: BTreeMap<String, Shape>,
    /// What engines force to be different.
    pub forced: Vec<Forced>,
}

impl Suite {
    /// Every suite as built in.
    pub fn built_in() -> Vec<Suite> {
        vec![Suite::sysbench(), Suite::insert()]
    }

    /// The sysbench tests as built in.
    pub fn sysbench() -> Suite {
        Suite::parse(SYSBENCH).expect("the built-in workload file is checked by a test")
    }

    /// The Insert Benchmark as built in.
    pub fn insert() -> Suite {
        insert::parse(INSERT).expect("the built-in file of sizes is checked by a test")
    }

    /// The test of that published name.
    pub fn test(&self, name: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.name == name)
    }

    /// The names of its sets of tests, in order of size, `all` last.
    pub fn sets(&self) -> Vec<&str> {
        let mut sized: Vec<(usize, &str)> = Vec::new();
        for set in self.tests.iter().flat_map(|test| &test.sets) {
            match sized.iter_mut().find(|(_, name)| name == set) {
                Some((size, _)) => *size += 1,
                None => sized.push((1, set)),
            }
        }
        sized.sort();
        let named = sized.into_iter().map(|(_, name)| name).filter(|name| *name != ALL_TESTS);
        named.chain([ALL_TESTS]).collect()
    }
}

/// The set that holds every test.
pub const ALL_TESTS: &str = "all";
