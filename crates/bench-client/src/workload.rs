//! What is measured, and the words for it.

use anyhow::{Context, Result};

/// The word for loading beside other inserters.
pub(crate) const INSERT: &str = "insert";

/// The word for loading into a server that does nothing.
pub(crate) const INSERT_SINK: &str = "insert-sink";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Queries of the sysbench suite.
    Queries(Queries),
    /// Step l.i0 of the Insert Benchmark.
    Insert,
    /// The same against a server that does nothing.
    InsertSink,
}

impl Workload {
    const ALL: [Workload; 6] = [
        Workload::Queries(Queries::Point),
        Workload::Queries(Queries::ReadOnly),
        Workload::Queries(Queries::Points100),
        Workload::Queries(Queries::Sessions40),
        Workload::Insert,
        Workload::InsertSink,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Workload::Queries(queries) => queries.name(),
            Workload::Insert => INSERT,
            Workload::InsertSink => INSERT_SINK,
        }
    }

    pub(crate) fn parse(word: &str) -> Result<Workload> {
        let known = Workload::ALL.map(Workload::name).join(", ");
        let found = Workload::ALL.into_iter().find(|workload| workload.name() == word);
        found.with_context(|| format!("unknown workload `{word}`; expected one of: {known}"))
    }
}

/// Queries that the clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queries {
    /// One session, one row by primary key.
    Point,
    /// One session, the read-only transaction of sysbench, 16 statements.
    ReadOnly,
    /// One session, a hundred rows by primary key.
    Points100,
    /// Forty sessions, one row by primary key.
    Sessions40,
}

impl Queries {
    const ALL: [Queries; 4] = [Queries::Point, Queries::ReadOnly, Queries::Points100, Queries::Sessions40];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Queries::Point => "point",
            Queries::ReadOnly => "read-only",
            Queries::Points100 => "points-100",
            Queries::Sessions40 => "sessions-40",
        }
    }

    pub(crate) fn find(word: &str) -> Option<Queries> {
        Queries::ALL.into_iter().find(|queries| queries.name() == word)
    }

    pub(crate) const fn clients(self) -> u32 {
        if matches!(self, Queries::Sessions40) { 40 } else { 1 }
    }

    /// The test of the suite that sends it.
    pub(crate) const fn test(self) -> &'static str {
        match self {
            Queries::Point | Queries::Sessions40 => "point-query",
            Queries::ReadOnly => "read-only_range=100",
            Queries::Points100 => "random-points_range=100",
        }
    }
}
