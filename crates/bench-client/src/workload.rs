//! What is measured, and the words for it.

use crate::sampling::SAMPLING;
use anyhow::{Context, Result};
use rqps_model::own::Protocol;

/// The word for loading beside other inserters.
pub(crate) const INSERT: &str = "insert";

/// The word for loading into a server that does nothing.
pub(crate) const INSERT_SINK: &str = "insert-sink";

/// The word for filling the tables of TPROC-C.
pub(crate) const TPROC_C_LOAD: &str = "tproc-c-load";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Queries of the sysbench suite.
    Queries(&'static Queries),
    /// Step l.i0 of the Insert Benchmark.
    Insert,
    /// The same against a server that does nothing.
    InsertSink,
    /// Point queries on a server whose functions are sampled half of the time.
    Sampling,
    /// Transactions of TPROC-C.
    Transactions(&'static Users),
    /// Filling the tables of TPROC-C beside the server's own bulk load.
    TprocCLoad,
}

impl Workload {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Workload::Queries(queries) => queries.name,
            Workload::Insert => INSERT,
            Workload::InsertSink => INSERT_SINK,
            Workload::Sampling => SAMPLING,
            Workload::Transactions(users) => users.name,
            Workload::TprocCLoad => TPROC_C_LOAD,
        }
    }

    pub(crate) fn parse(word: &str) -> Result<Workload> {
        let others = [Workload::Insert, Workload::InsertSink, Workload::Sampling, Workload::TprocCLoad];
        let transactions = USERS.iter().map(Workload::Transactions);
        let all: Vec<Workload> = QUERIES.iter().map(Workload::Queries).chain(others).chain(transactions).collect();
        let found = all.iter().find(|workload| workload.name() == word);
        found.copied().with_context(|| {
            let known: Vec<&str> = all.iter().map(|workload| workload.name()).collect();
            format!("unknown workload `{word}`; expected one of: {}", known.join(", "))
        })
    }
}

/// Queries that the clients send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Queries {
    pub(crate) name: &'static str,
    pub(crate) clients: u32,
    /// The test of the suite that sends them.
    pub(crate) test: &'static str,
    /// sysbench's own script that sends them, where it has one.
    pub(crate) sysbench: Option<&'static str>,
    /// The protocol of the pgbench script that sends them from both clients, where it is one.
    pub(crate) script: Option<Protocol>,
}

/// One row by primary key.
const POINT: Queries =
    Queries { name: "point", clients: 1, test: POINT_QUERY, sysbench: Some("oltp_point_select"), script: None };

/// The same as a script of pgbench.
const SCRIPT: Queries = Queries { name: "script", sysbench: None, script: Some(Protocol::Prepared), ..POINT };

/// One row by primary key; the read-only transaction of sysbench, 16 statements; a hundred rows by primary key; one row
/// from forty sessions; and one row by a script of pgbench, prepared, as text, and from forty sessions.
static QUERIES: [Queries; 7] = [
    POINT,
    Queries { name: "read-only", test: "read-only_range=100", sysbench: Some("oltp_read_only"), ..POINT },
    Queries { name: "points-100", test: "random-points_range=100", sysbench: None, ..POINT },
    Queries { name: SESSIONS_40, clients: 40, ..POINT },
    SCRIPT,
    Queries { name: "script-simple", script: Some(Protocol::Simple), ..SCRIPT },
    Queries { name: "script-40", clients: 40, ..SCRIPT },
];

impl Queries {
    pub(crate) fn find(word: &str) -> Option<&'static Queries> {
        QUERIES.iter().find(|queries| queries.name == word)
    }

    /// Whether each is one row by primary key.
    pub(crate) fn are_points(&self) -> bool {
        self.test == POINT_QUERY
    }
}

/// Virtual users of TPROC-C.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Users {
    pub(crate) name: &'static str,
    pub(crate) count: u32,
}

static USERS: [Users; 2] = [Users { name: "tproc-c-1", count: 1 }, Users { name: "tproc-c-4", count: 4 }];

impl Users {
    pub(crate) fn find(word: &str) -> Option<&'static Users> {
        USERS.iter().find(|users| users.name == word)
    }
}

const POINT_QUERY: &str = "point-query";

/// The word for point queries from forty sessions.
pub(crate) const SESSIONS_40: &str = "sessions-40";
