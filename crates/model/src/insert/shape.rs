//! How large an Insert Benchmark is, and the steps that follow from it.
//!
//! In: clients, rows, rates, seconds. Out: [`Step`]s in their order, each with its rows, batch and place in the stream
//! of rows. The rows of a step depend on the shape alone, so they are the same on every build, whatever became of the
//! steps before. Presets are `load`'s, as data.

use crate::Group;
use serde::{Deserialize, Serialize};

/// Rows of a statement, each of which is a transaction: while loading, in l.i1, in l.i2, and in the background.
const LOAD_BATCH: u32 = 100;
const CHURN_BATCH: u32 = 50;
const SMALL_CHURN_BATCH: u32 = 5;
const BACKGROUND_BATCH: u32 = 50;

/// Rows that l.x inserts over all clients before it builds the indexes.
const INDEX_STEP_ROWS: u64 = 100;

/// A table must not run empty under its deleter.
const ROWS_MIN: u64 = 1000;

/// More clients than any server has taken so far.
const CLIENTS_MAX: u32 = 4096;

/// Connections of a client: one inserts, one deletes, one queries.
pub const CONNECTIONS: u32 = 3;

/// A shape that makes no sense, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("insert benchmark: {0}")]
pub struct UnsoundShape(pub String);

/// Size and form of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Clients; each has up to three connections.
    pub clients: u32,
    /// All clients use one table; otherwise each has its own.
    #[serde(default)]
    pub shared_table: bool,
    /// Rows that each client inserts in l.i0.
    pub rows_initial: u64,
    /// Rows that each client inserts, and as many that it deletes, in l.i1 (four fifths) and l.i2 (the rest).
    pub rows_written: u64,
    /// Rows per second and client that are inserted, and as many deleted, behind the queries: a pair of steps for each.
    pub rates_per_s: Vec<u32>,
    /// Planned seconds of each step with queries.
    pub seconds: f64,
    /// The least seconds that the rest after l.i2 takes; the work is done even if that takes longer.
    #[serde(default)]
    pub rest_seconds: f64,
    /// How much of its plan a background writer that was held up makes good as fast as it can. What is further behind
    /// is deferred: the rest of its plan moves by that much.
    #[serde(default = "catch_up_default")]
    pub catch_up_seconds: f64,
}

const fn catch_up_default() -> f64 {
    10.0
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// l.i0: tables are made and filled in the order of their primary key.
    Load,
    /// l.x: a few rows, then the secondary indexes.
    Index,
    /// l.i1, l.i2: inserts, and as many deletes of the oldest rows.
    Churn,
    /// qr: range queries that an index covers, with inserts and deletes behind them.
    RangeQueries,
    /// qp: point queries, with inserts and deletes behind them.
    PointQueries,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// As published: `l.i0`, `qr100`.
    pub name: String,
    /// As published result folders are named: `qr100.L1`.
    pub folder: String,
    /// What it does.
    pub kind: Kind,
    /// Rows of a statement.
    pub batch: u32,
    /// Rows that each client inserts; in l.x, all clients together.
    pub rows: u64,
    /// Where each client's stream of rows stands when the step begins.
    pub first_row: u64,
    /// Rows per second and client of the writers, where they go by a plan.
    pub rate_per_s: Option<u32>,
}

impl Step {
    /// Rows that a client of `clients` inserts.
    pub fn rows_of(&self, client: u32, clients: u32) -> u64 {
        match self.kind {
            Kind::Index => {
                let (each, left) = (self.rows / u64::from(clients), self.rows % u64::from(clients));
                each + u64::from(u64::from(client) < left)
            }
            _ => self.rows,
        }
    }

    /// Whether as many rows are deleted as inserted.
    pub const fn deletes(&self) -> bool {
        matches!(self.kind, Kind::Churn | Kind::RangeQueries | Kind::PointQueries)
    }

    /// Whether there are queries.
    pub const fn queries(&self) -> bool {
        matches!(self.kind, Kind::RangeQueries | Kind::PointQueries)
    }

    /// Whether the server gets a rest after it.
    pub fn is_followed_by_rest(&self) -> bool {
        self.name == "l.i2"
    }
}

impl Kind {
    /// Where a step is reported: range and point queries as such, all else as writes.
    pub const fn group(self) -> Group {
        match self {
            Kind::Load | Kind::Index | Kind::Churn => Group::Write,
            Kind::RangeQueries => Group::Range,
            Kind::PointQueries => Group::Point,
        }
    }
}

impl Shape {
    /// The same with `factor` times the rows, but never so few that a table could run empty.
    pub fn scaled(&self, factor: f64) -> Shape {
        let scale = |rows: u64| ((rows as f64 * factor).round() as u64).max(ROWS_MIN);
        Shape { rows_initial: scale(self.rows_initial), rows_written: scale(self.rows_written), ..self.clone() }
    }

    /// Tables in use.
    pub const fn tables(&self) -> u32 {
        if self.shared_table { 1 } else { self.clients }
    }

    /// The same for another number of clients.
    pub fn at(&self, clients: u32) -> Shape {
        Shape { clients, ..self.clone() }
    }

    /// Rows of all tables after l.i0; inserts and deletes of later steps balance, but for the few of l.x.
    pub const fn rows_loaded(&self) -> u64 {
        self.rows_initial * self.clients as u64
    }

    /// The least rest after l.i2 as published: a minute, and a second for each million rows, at most 20 minutes.
    pub fn published_rest_seconds(&self) -> f64 {
        (60.0 + (self.rows_loaded() / 1_000_000) as f64).min(1200.0)
    }

    /// Whether it makes sense.
    pub fn check(&self) -> Result<(), UnsoundShape> {
        let sound_seconds = |seconds: f64| seconds.is_finite() && (0.0..=1e7).contains(&seconds);
        let fault = if !(1..=CLIENTS_MAX).contains(&self.clients) {
            format!("{} clients: there must be 1 to {CLIENTS_MAX}", self.clients)
        } else if self.rows_initial < ROWS_MIN || self.rows_written < ROWS_MIN {
            format!("a client needs at least {ROWS_MIN} rows to load and {ROWS_MIN} to write, or its table runs empty")
        } else if self.rows_initial.max(self.rows_written) > 1 << 40 {
            "more rows than fit any server".to_owned()
        } else if self.rates_per_s.contains(&0) || self.rates_per_s.iter().any(|rate| *rate > 10_000_000) {
            "a rate of background writes must be 1 to 10000000 rows per second".to_owned()
        } else if !sound_seconds(self.seconds) || self.seconds < 1.0 {
            format!("{} seconds of queries: a step needs at least one", self.seconds)
        } else if !sound_seconds(self.rest_seconds) || !sound_seconds(self.catch_up_seconds) {
            "rest and catch-up must be seconds, 0 or more".to_owned()
        } else {
            return Ok(());
        };
        Err(UnsoundShape(fault))
    }
}

/// The steps of a benchmark in their order: l.i0, l.x, l.i1, l.i2, then qr and qp for each rate.
pub fn steps(shape: &Shape) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut first_row = 0;
    let mut add = |name: String, sequence: Option<usize>, kind, batch, rows, rate_per_s| {
        let folder = sequence.map_or_else(|| name.clone(), |sequence| format!("{name}.L{sequence}"));
        steps.push(Step { name, folder, kind, batch, rows, first_row, rate_per_s });
        first_row += rows;
    };
    add("l.i0".into(), None, Kind::Load, LOAD_BATCH, shape.rows_initial, None);
    add("l.x".into(), None, Kind::Index, LOAD_BATCH, INDEX_STEP_ROWS, None);
    let small = shape.rows_written / 5;
    add("l.i1".into(), None, Kind::Churn, CHURN_BATCH, shape.rows_written - small, None);
    add("l.i2".into(), None, Kind::Churn, SMALL_CHURN_BATCH, small, None);
    for (index, rate) in shape.rates_per_s.iter().enumerate() {
        let rows = (f64::from(*rate) * shape.seconds).round() as u64;
        let batch = BACKGROUND_BATCH.min(*rate);
        for (place, (word, kind)) in [("qr", Kind::RangeQueries), ("qp", Kind::PointQueries)].into_iter().enumerate() {
            add(format!("{word}{rate}"), Some(2 * index + place + 1), kind, batch, rows, Some(*rate));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            clients: 3,
            shared_table: false,
            rows_initial: 10_000,
            rows_written: 5001,
            rates_per_s: vec![20, 500],
            seconds: 2.0,
            rest_seconds: 0.0,
            catch_up_seconds: 10.0,
        }
    }

    #[test]
    fn steps_follow_each_other_in_the_stream_of_rows() {
        let shown: Vec<String> = steps(&shape())
            .iter()
            .map(|step| format!("{} {} from {} by {}", step.folder, step.rows, step.first_row, step.batch))
            .collect();
        expect_test::expect![[r#"
            [
                "l.i0 10000 from 0 by 100",
                "l.x 100 from 10000 by 100",
                "l.i1 4001 from 10100 by 50",
                "l.i2 1000 from 14101 by 5",
                "qr20.L1 40 from 15101 by 20",
                "qp20.L2 40 from 15141 by 20",
                "qr500.L3 1000 from 15181 by 50",
                "qp500.L4 1000 from 16181 by 50",
            ]
        "#]]
        .assert_debug_eq(&shown);
        let index = &steps(&shape())[1];
        assert_eq!((0..3).map(|client| index.rows_of(client, 3)).collect::<Vec<_>>(), [34, 33, 33]);
    }

    #[test]
    fn a_scaled_table_never_runs_empty() {
        shape().scaled(1e-9).check().unwrap();
        assert_eq!(shape().scaled(2.0).rows_initial, 20_000);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let faults = [
            Shape { clients: 0, ..shape() },
            Shape { rows_initial: 10, ..shape() },
            Shape { rows_written: 10, ..shape() },
            Shape { rates_per_s: vec![100, 0], ..shape() },
            Shape { seconds: f64::NAN, ..shape() },
            Shape { seconds: 0.0, ..shape() },
            Shape { rest_seconds: -1.0, ..shape() },
        ];
        shape().check().unwrap();
        for fault in faults {
            assert!(fault.check().is_err(), "{fault:?}");
        }
    }
}
