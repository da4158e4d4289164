//! What all suites have, whatever they run.
//!
//! In: what a suite's own file says. Out: its tests, sizes and forced forms, and the names of its sets. It must not
//! know one suite from another.

use crate::forced::Forced;
use crate::statements::Test;
use rqps_model::insert::Shape;
use std::collections::BTreeMap;

/// The set that holds every test.
pub const ALL_TESTS: &str = "all";

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
