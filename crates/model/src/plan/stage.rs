//! Tests that run one after the other on the same data: what servers begin with, when they get it anew, and how builds
//! take turns.
//!
//! In: what a suite needs. Out: the stages of a [`Plan`](super::Plan), and what follows from them: which data are
//! loaded for whom, and which servers stand still.

use super::{DataShape, Interleave, TestPlan};
use crate::own::OwnData;
use crate::plural;
use crate::tproc_c::{TABLES, Warehouses};
use serde::{Deserialize, Serialize};

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
    /// How long before its first test a server is started, at most. How long it is, is drawn for each start
    /// ([`Round::head_start`](super::Round::head_start)): timers that start work of the server's own, such as a vacuum,
    /// would else run out in the same part of the tests in each round, and on each version in another.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub head_start_seconds: f64,
    /// Tests in order of execution.
    pub tests: Vec<TestPlan>,
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
            head_start_seconds: 0.0,
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
            head_start_seconds: 0.0,
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
            head_start_seconds: 0.0,
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

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}
