//! The steps of the Insert Benchmark as stages of a plan, and about what a pass of them costs.
//!
//! In: a shape, what engines take for a row, the machine. Out: a stage a number of clients, with a `TestPlan` a step.
//! Steps with queries have planned seconds; those that load end with their rows, and their seconds are rules of thumb,
//! good for progress and for `rqps plan` and nothing else.

use rqps_model::insert::{CONNECTIONS, Kind, Shape, Step, steps};
use rqps_model::plan::{Alternate, Stage, TestPlan};
use rqps_model::{Interleave, Unit};
use serde::Deserialize;

/// How often PostgreSQL looks for tables to vacuum, in our profiles. Of MySQL's timers none is longer.
const TIMER_SECONDS: f64 = 10.0;

/// The share of a pass's planned seconds that a head start may take: short passes are not to consist of waiting.
const HEAD_START_SHARE: f64 = 0.1;

/// Rows a second of one client on a small machine, and bytes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Rows inserted in l.i0.
    load_rows_per_s: f64,
    /// Rows of which all three indexes are built, by one session.
    index_rows_per_s: f64,
    /// Rows inserted, and as many deleted, by transactions of 50 and of 5.
    churn_rows_per_s: f64,
    small_churn_rows_per_s: f64,
    /// What the rest after l.i2 takes at least.
    rest_seconds: f64,
    /// A row with its primary key and three secondary indexes, and the space that churn leaves behind.
    bytes_per_row: u64,
    /// What a row leaves in logs, and how much of them a server keeps.
    log_bytes_per_row: u64,
    log_bytes_max: u64,
}

/// About what all tests of a stage cost on one build.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pass {
    /// Seconds of the tests.
    pub seconds: f64,
    /// Seconds of rest between them.
    pub rest_seconds: f64,
    /// Tables and logs at its end.
    pub bytes: u64,
}

/// A stage for each number of clients: all steps on each build, from an empty data folder on.
pub(crate) fn stages(shape: &Shape, clients: &[u32], paces: &[&Pace], cores: u32, alternate: Alternate) -> Vec<Stage> {
    let stage = |clients: &u32| {
        let shape = shape.at(*clients);
        let tests = tests(&shape, paces, cores, alternate);
        let planned: f64 = tests.iter().filter(|test| test.timed).map(|test| test.seconds).sum();
        let head_start_seconds = TIMER_SECONDS.min(HEAD_START_SHARE * planned);
        let stage = Stage::chain(alternate, shape.rows_loaded(), *clients, CONNECTIONS, tests);
        Stage { head_start_seconds, ..stage }
    };
    clients.iter().map(stage).collect()
}

/// About what a pass costs.
pub(crate) fn pass(shape: &Shape, pace: &Pace, cores: u32) -> Pass {
    let inserted: u64 = steps(shape).iter().map(|step| step.rows).sum::<u64>() * u64::from(shape.clients);
    let logs = (inserted * pace.log_bytes_per_row).min(pace.log_bytes_max);
    Pass {
        seconds: steps(shape).iter().map(|step| step_seconds(step, shape, pace, cores)).sum(),
        rest_seconds: shape.rest_seconds.max(pace.rest_seconds),
        bytes: shape.rows_loaded() * pace.bytes_per_row + logs,
    }
}

/// A test for each step. Its seconds are an average over the engines.
fn tests(shape: &Shape, paces: &[&Pace], cores: u32, alternate: Alternate) -> Vec<TestPlan> {
    let seconds = |step: &Step| {
        let sum: f64 = paces.iter().map(|pace| step_seconds(step, shape, pace, cores)).sum();
        // More digits would promise more than is known.
        (sum / paces.len().max(1) as f64 * 10.0).ceil() / 10.0
    };
    let plan = |(rank, step): (usize, Step)| TestPlan {
        seconds: seconds(&step),
        timed: step.queries(),
        label: step.folder,
        group: step.kind.group(),
        unit: if step.rate_per_s.is_some() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
        writes: true,
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        interleave: (alternate == Alternate::SideBySide).then_some(Interleave::Slices),
        before: Vec::new(),
        name: step.name,
    };
    steps(shape).into_iter().enumerate().map(plan).collect()
}

/// About how long a step takes.
fn step_seconds(step: &Step, shape: &Shape, pace: &Pace, cores: u32) -> f64 {
    // A client keeps about a CPU busy, its server's part included.
    let at_once = f64::from(shape.clients.min(cores.max(1)));
    let tables_at_once = f64::from(shape.tables().min(cores.max(1)));
    let of_all = |rows: u64| rows as f64 * f64::from(shape.clients);
    match step.kind {
        Kind::Load => of_all(step.rows) / pace.load_rows_per_s / at_once,
        Kind::Index => shape.rows_loaded() as f64 / pace.index_rows_per_s / tables_at_once,
        Kind::Churn if step.is_followed_by_rest() => of_all(step.rows) / pace.small_churn_rows_per_s / at_once,
        Kind::Churn => of_all(step.rows) / pace.churn_rows_per_s / at_once,
        Kind::RangeQueries | Kind::PointQueries => shape.seconds,
    }
}
