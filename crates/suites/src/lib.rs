//! `rqps-suites`: what a suite is, as data: its tests or sizes, and what engines force to be different.
//!
//! In: the files in `workloads/`, compiled in, and the user's own. Out: a checked [`Suite`]. Campaign takes names from it,
//! load statements. It opens no file, sends nothing and judges nothing.

mod forced;
mod insert;
mod statements;

pub use forced::Forced;
pub use statements::{
    ForcedSql, Generator, SecondsClass, StatementKind, SuiteError, TableChoice, Test, UnknownWork, Work, table_name,
};

use rqps_model::insert::Shape;
use std::collections::BTreeMap;

const SYSBENCH: &str = include_str!("../../../workloads/sysbench.toml");
const INSERT: &str = include_str!("../../../workloads/insert.toml");

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
