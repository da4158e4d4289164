//! Which tests of a suite begin with aged data, and what these are aged by.
//!
//! In: a suite, and the size of its data. Out: [`Aging`]. From the first test on that reads and stands behind one that
//! writes, tests begin with data that were aged once by all tests that write before it, so that what they find depends
//! neither on which tests were chosen nor on which were left out of a round.

use crate::statements::{Test, Work};
use crate::suite::Suite;
use rqps_model::plan::{Aged, AgedBy, DataShape, Stage};

/// Each test that writes changes one row in so many, and at most so many rows: about as many as it does in a short
/// round.
const CHANGES_ONE_IN: u64 = 20;
const CHANGES_MAX: u64 = 20_000;

/// What of a suite is aged.
#[derive(Debug, Clone, PartialEq)]
pub struct Aging {
    aged: Aged,
    /// The tests that begin with it.
    tests: Vec<String>,
}

impl Aging {
    /// `None` where no test reads what another one wrote.
    pub fn of(suite: &Suite, data: DataShape) -> Option<Aging> {
        let first = suite.first_on_aged_data()?;
        let (before, on_aged) = suite.tests.split_at(first);
        let by = before.iter().filter(|test| test.writes);
        let changes = (u64::from(data.tables) * data.rows / CHANGES_ONE_IN).clamp(1, CHANGES_MAX);
        let by = by.map(|test| AgedBy { test: test.name.clone(), events: events(test, changes) });
        let then = on_aged[0].before.iter().filter(|work| **work != Work::Warm).map(ToString::to_string);
        let aged = Aged { by: by.collect(), changes, then: then.collect() };
        Some(Aging { aged, tests: on_aged.iter().map(|test| test.name.clone()).collect() })
    }

    /// The tests of a stage on data as loaded, then those on aged data.
    pub fn split(&self, stage: Stage) -> Vec<Stage> {
        let (on_aged, fresh) = stage.tests.iter().cloned().partition(|test| self.tests.contains(&test.name));
        let both = [(fresh, None), (on_aged, Some(self.aged.clone()))];
        let with_tests = both.into_iter().filter(|(tests, _): &(Vec<_>, _)| !tests.is_empty());
        with_tests.map(|(tests, aged)| Stage { tests, aged, ..stage.clone() }).collect()
    }
}

/// Events of a test that change about so many rows.
fn events(test: &Test, changes: u64) -> u32 {
    let of_kind = |kind: &usize| match &test.kinds[*kind] {
        kind if kind.sql.trim_start().to_ascii_lowercase().starts_with("select") => 0,
        kind if kind.sql.contains("{list}") => u64::from(test.range),
        _ => 1,
    };
    let of_event: u64 = test.sequence.iter().map(of_kind).sum();
    u32::try_from((changes / of_event.max(1)).max(1)).unwrap_or(u32::MAX)
}

impl Suite {
    /// The first test in the order of execution that begins with aged data, by index.
    pub fn first_on_aged_data(&self) -> Option<usize> {
        let writes = self.tests.iter().position(|test| test.writes)?;
        (writes..self.tests.len()).find(|at| !self.tests[*at].writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_after_writes_begin_with_the_same_data_whatever_is_chosen() {
        let suite = Suite::sysbench();
        let aging = |rows| Aging::of(&suite, DataShape { tables: 1, rows }).expect("tests that write come first");
        let Aging { aged, tests } = aging(100_000);
        let by: Vec<(&str, u32)> = aged.by.iter().map(|by| (by.test.as_str(), by.events)).collect();
        let simple = ["update-index", "update-nonindex", "update-one", "update-zipf"].map(|name| (name, 5000));
        let mixed = ["write-only", "read-write_range=10", "read-write_range=100"].map(|name| (name, 1250));
        assert_eq!(by, [&[("update-inlist", 50)], &simple[..], &mixed[..]].concat());
        assert_eq!((aged.changes, aged.then), (5000, vec!["postwrite".to_owned()]));
        assert_eq!((tests.len(), tests[0].as_str(), tests[23].as_str()), (24, "scan", "insert"));
        assert_eq!([aging(1).aged.changes, aging(1 << 30).aged.changes], [1, CHANGES_MAX]);
    }
}
