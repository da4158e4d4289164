//! What a report can say of a cell beyond its number where the raw data have it: timelines over time, response times, a
//! write rate that was held or not, the inside of a single round, published columns.
//!
//! Part of the contract between `analysis` and `report`; full precision, lists in display order. Tests of any suite
//! have them; what is not known is absent or empty.

use rqps_model::insert::{Buckets, IndexBuild, Stall};
use rqps_model::sample::Growth;
use rqps_model::tproc_c::{BrokenCondition, TypeCount};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The columns that are published of a step of the Insert Benchmark, in their order; full precision and true units.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InsertColumns {
    /// Rows inserted a second, all clients; rows indexed a second in l.x. The cell's throughput in l.*.
    pub ips: f64,
    /// Queries a second, the cell's throughput in q*; 0 where there are none.
    pub qps: f64,
    /// Device reads a second.
    pub rps: f64,
    /// MB (2^20) read a second.
    pub rmbps: f64,
    /// Device writes a second.
    pub wps: f64,
    /// MB (2^20) written a second.
    pub wmbps: f64,
    /// Device reads per operation: an insert in l.*, a query in q*.
    pub rpq: f64,
    /// KB read per operation.
    pub rkbpq: f64,
    /// Device writes per row inserted, in all steps: over `ips`.
    pub wpi: f64,
    /// KB written per row inserted.
    pub wkbpi: f64,
    /// Context switches a second.
    pub csps: f64,
    /// User and system CPU in percent of all CPUs.
    pub cpups: f64,
    /// Context switches per operation.
    pub cspq: f64,
    /// CPU microseconds per operation: client, server and all else.
    pub cpupq: f64,
    /// Database in GB (2^30) at the end of the step.
    pub dbgb1: f64,
    /// Data folder in GB at the end of the step.
    pub dbgb2: f64,
    /// Server's memory in GB at the end of the step.
    pub rss: f64,
    /// Largest response time of the main operation in seconds, over all clients and rounds.
    pub maxop: f64,
    /// Median of the per-second rates of all clients together; `None` with fewer than ten seconds.
    pub p50: Option<f64>,
    /// The per-second rate that was reached or exceeded in 99 % of the seconds: a low one, not a high one.
    pub p99: Option<f64>,
}

/// Whether the background writes kept up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlaFindings {
    /// Rows a second of all clients, as planned.
    pub target_per_s: f64,
    /// Rows a second of all clients, as inserted: mean over rounds.
    pub reached_per_s: f64,
    /// The same in the worst round.
    pub least_per_s: f64,
    /// Rounds in which at least 95 % of the target was reached.
    pub rounds_held: u32,
    /// Rounds with a number.
    pub rounds: u32,
}

impl SlaFindings {
    /// Whether it was held in every round. If not, the queries were measured beside fewer writes than those of others.
    pub const fn is_held(&self) -> bool {
        self.rounds_held == self.rounds
    }
}

/// Response times of one kind of statement over all rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseFindings {
    /// `insert`, `delete` or `query`.
    pub kind: String,
    /// Rows inserted, deleted or sent.
    pub rows: u64,
    /// In the published buckets, from sending to the answer.
    pub response: Buckets,
    /// The same from the planned moment, where there is a plan.
    pub from_plan: Option<Buckets>,
    /// Milliseconds from sending to the answer at p50, p95, p99 and p99.9.
    pub quantiles_ms: [f64; 4],
    /// The same from the planned moment.
    pub from_plan_quantiles_ms: Option<[f64; 4]>,
}

/// One round of a test, with or without success.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineFindings {
    /// Round, from 1.
    pub round: u32,
    /// Why it failed, if it did; what else is here is what had happened until then.
    pub failure: Option<String>,
    /// Wall seconds.
    pub seconds: f64,
    /// Rows inserted and acknowledged.
    pub inserted: u64,
    /// Rows deleted and acknowledged.
    pub deleted: u64,
    /// Queries answered.
    pub queries: u64,
    /// Rows a second of all clients, and whether that was enough, where there is a target.
    pub sla_held: Option<bool>,
    /// Seconds in which less than a tenth of the usual was inserted; none in l.x, which is not meant to.
    pub stalls: Vec<Stall>,
    /// The statements that built indexes.
    pub index_builds: Vec<IndexBuild>,
    /// Bytes on disk before and after.
    pub growth: Option<Growth>,
    /// Over time, all clients together; long steps are joined, rates as means and times as largest.
    pub series: Vec<TimelinePoint>,
    /// The server's own numbers over time: name → (second, value). Counters (`checkpoints`, `log_bytes`,
    /// `pages_flushed`, `stall_micros`, `vacuums`) count from the step's begin; of the rest a joined piece shows its
    /// worst.
    pub server: BTreeMap<String, Vec<(f64, f64)>>,
    /// Checkpoints and vacuums that ended, in order of time.
    pub marks: Vec<Mark>,
}

/// A moment of a test: rates a second, and the largest response times since the moment before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// Seconds since the test began, at the end of the piece.
    pub second: f64,
    /// Rows inserted a second.
    pub inserted: f64,
    /// Rows deleted a second.
    pub deleted: f64,
    /// Queries a second.
    pub queries: f64,
    /// Largest response time of an insert in milliseconds.
    pub longest_insert_ms: f64,
    /// Of a delete.
    pub longest_delete_ms: f64,
    /// Of a query.
    pub longest_query_ms: f64,
}

/// Something that the server did of its own accord.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Seconds since the test began at which it was seen to have ended.
    pub second: f64,
    /// `checkpoint` or `vacuum`.
    pub what: String,
}

/// What runs of TPROC-C did besides new orders, over all rounds, and what was found in their tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionFindings {
    /// Transactions of all types a minute, those that were rolled back included; mean over rounds. Not compared.
    pub tpm: f64,
    /// What became of the transactions of each type.
    pub types: Vec<TypeCount>,
    /// Consistency conditions that are broken: with the rows of the round in which they were most.
    pub broken: Vec<BrokenCondition>,
    /// Rounds whose tables were checked.
    pub rounds_checked: u32,
}

/// What a build's data took on disk around a run, where it went on with what earlier runs left or wrote to the user's
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinuedFindings {
    /// Round, from 1.
    pub round: u32,
    /// Bytes before and after the run.
    pub growth: Growth,
}

/// From about how many clients on a treatment is ahead of the base in a test, or the base of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossingFindings {
    /// The test.
    pub test: String,
    /// Index of the treatment.
    pub treatment: usize,
    /// Where they are equal.
    pub clients: f64,
    /// Ends of the 95 % interval; `None` where it goes on beyond the numbers of clients that were measured.
    pub from: Option<f64>,
    /// Its other end.
    pub to: Option<f64>,
    /// Whether the treatment is ahead with more clients; else it is with fewer.
    pub is_ahead_above: bool,
}

/// What follows from the inside of a single pair of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InsideFindings {
    /// Lower end of the 95 % interval of the ratio, from pieces of the two runs' own time.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Pieces that each run was cut into.
    pub pieces: u32,
}
