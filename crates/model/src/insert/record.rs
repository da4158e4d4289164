//! What is known about a step afterwards: the content of `step` in a sample.
//!
//! Raw counts and times as the client kept them. Whether a rate was held is for readers to derive.

use super::buckets::Buckets;
use crate::accounting::{Accounting, ErrorCount};
use serde::{Deserialize, Serialize};

/// What became of the statements of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operations {
    /// Statements: scheduled = succeeded + failed + skipped. With a plan, those are skipped that were not sent before
    /// the step was given up; without, those that were left when it ended early.
    pub accounting: Accounting,
    /// Rows that the server acknowledged: inserted, deleted, or sent.
    pub rows: u64,
    /// Rows of statements whose answer never came: they may have been written or not.
    pub rows_unknown: u64,
    /// Response times, from sending to the answer.
    pub response: Buckets,
    /// Times from the planned moment to the answer; empty where there is no plan.
    pub from_plan: Buckets,
}

impl Operations {
    /// Adds those of others.
    pub fn add(&mut self, other: &Operations) {
        self.accounting = self.accounting + other.accounting;
        self.rows += other.rows;
        self.rows_unknown += other.rows_unknown;
        self.response.add(&other.response);
        self.from_plan.add(&other.from_plan);
    }
}

/// The rate of background writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sla {
    /// Rows per second of all clients as planned.
    pub target_per_s: f64,
    /// Rows per second of all clients as inserted, over the whole step.
    pub reached_per_s: f64,
}

/// Seconds in a row in which next to nothing was written. Found by those who read samples, and never stored in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// The first of them, counted from the begin of the step.
    pub from_second: u32,
    /// How many there are.
    pub seconds: u32,
}

/// One statement that built indexes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexBuild {
    /// The statement.
    pub sql: String,
    /// How long it took.
    pub seconds: f64,
}

/// Statements that looked for the oldest or newest row, on a connection of their own while the step ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdProbes {
    /// How many were answered.
    pub count: u64,
    /// How long they took together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// The ids that a table holds: from the oldest row to the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableIds {
    /// Of the oldest row.
    pub oldest: u64,
    /// Of the newest row.
    pub newest: u64,
}

/// What a step did, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// As published: `l.i0`, `qr100`.
    pub step: String,
    /// Clients.
    pub clients: u32,
    /// Threads of the benchmark client.
    pub threads: u32,
    /// From the common start to the last answer.
    pub seconds: f64,
    /// As planned, where there is a plan.
    pub planned_seconds: Option<f64>,
    /// Inserts.
    pub inserts: Operations,
    /// Deletes.
    pub deletes: Operations,
    /// Queries.
    pub queries: Operations,
    /// Rows that are in the indexes built, where the step builds any.
    pub rows_indexed: Option<u64>,
    /// The statements that built them, over all clients.
    pub index_builds: Vec<IndexBuild>,
    /// Probes for the oldest row, for the deleters.
    pub min_probes: IdProbes,
    /// Probes for the newest row, for the point queries.
    pub max_probes: IdProbes,
    /// The rate of background writes, where there is a plan.
    pub sla: Option<Sla>,
    /// By how much the plan of the writer that was furthest behind had to be deferred.
    pub deferred_seconds: f64,
    /// Errors by statement and code.
    pub errors: Vec<ErrorCount>,
    /// CPU time of the client's threads.
    pub client_cpu_ns: u64,
    /// Why the step ended before its time. What the record says is what had happened until then.
    pub failure: Option<String>,
    /// What the tables hold after the step; empty if it failed.
    pub tables: Vec<TableIds>,
}

impl StepRecord {
    /// Rows inserted per second; of a step that builds indexes, rows indexed.
    pub fn inserts_per_s(&self) -> f64 {
        self.rows_indexed.unwrap_or(self.inserts.rows) as f64 / self.seconds
    }
}
