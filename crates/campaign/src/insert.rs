//! The Insert Benchmark's steps as stages of a plan, and about how long each takes.
//!
//! In: a shape, the engines that it runs on, the machine. Out: a stage a number of clients, with a `TestPlan` a step.
//! Steps with queries have planned seconds; those that load end with their rows, and their seconds are rules of thumb,
//! good for progress and for `rqps plan` and nothing else.

use rqps_model::insert::{CONNECTIONS, Kind, Shape, Step, steps};
use rqps_model::plan::{Plan, Stage, SuitePlan, TestPlan};
use rqps_model::{Engine, StorageEngine, Unit};

/// An engine and what stores its tables.
pub(crate) type Store = (Engine, Option<StorageEngine>);

/// Rows a second of one client on a small machine, and bytes.
pub(crate) struct Pace {
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

const POSTGRES: Pace = Pace {
    load_rows_per_s: 120_000.0,
    index_rows_per_s: 300_000.0,
    churn_rows_per_s: 25_000.0,
    small_churn_rows_per_s: 10_000.0,
    rest_seconds: 1.0,
    bytes_per_row: 240,
    log_bytes_per_row: 600,
    log_bytes_max: 4_000_000_000,
};
/// The binary log keeps every row.
const INNODB: Pace = Pace {
    load_rows_per_s: 100_000.0,
    index_rows_per_s: 200_000.0,
    churn_rows_per_s: 8_000.0,
    small_churn_rows_per_s: 3_000.0,
    rest_seconds: 10.0,
    bytes_per_row: 220,
    log_bytes_per_row: 150,
    log_bytes_max: u64::MAX,
};
const ROCKSDB: Pace =
    Pace { load_rows_per_s: 60_000.0, index_rows_per_s: 80_000.0, rest_seconds: 1.0, bytes_per_row: 160, ..INNODB };

/// The pace of an engine.
const fn pace(store: Store) -> &'static Pace {
    match store {
        (Engine::Postgres, _) => &POSTGRES,
        (Engine::Mysql | Engine::Mariadb, Some(StorageEngine::Rocksdb)) => &ROCKSDB,
        (Engine::Mysql | Engine::Mariadb, _) => &INNODB,
    }
}

/// Size and form of the Insert Benchmark, where that is the suite.
pub(crate) const fn shape(plan: &Plan) -> Option<&Shape> {
    match &plan.suite {
        SuitePlan::Insert(shape) => Some(shape),
        SuitePlan::Sysbench(_) => None,
    }
}

/// A stage for each number of clients: all steps on each build, from an empty data folder on.
pub(crate) fn stages(shape: &Shape, clients: &[u32], stores: &[Store], cores: u32) -> Vec<Stage> {
    let stage = |clients: &u32| {
        let shape = shape.at(*clients);
        Stage::one_by_one(shape.rows_loaded(), *clients, CONNECTIONS, tests(&shape, stores, cores))
    };
    clients.iter().map(stage).collect()
}

/// A test for each step. Its seconds are an average over the engines.
fn tests(shape: &Shape, stores: &[Store], cores: u32) -> Vec<TestPlan> {
    let seconds = |step: &Step| {
        let sum: f64 = stores.iter().map(|store| step_seconds(step, shape, *store, cores)).sum();
        // More digits would promise more than is known.
        (sum / stores.len().max(1) as f64 * 10.0).ceil() / 10.0
    };
    let plan = |(rank, step): (usize, Step)| TestPlan {
        seconds: seconds(&step),
        timed: step.queries(),
        label: step.folder,
        group: step.kind.group(),
        unit: if step.rate_per_s.is_some() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
        writes: true,
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        interleave: None,
        before: Vec::new(),
        name: step.name,
    };
    steps(shape).into_iter().enumerate().map(plan).collect()
}

/// About how long a step takes.
pub(crate) fn step_seconds(step: &Step, shape: &Shape, store: Store, cores: u32) -> f64 {
    let pace = pace(store);
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

/// About how long all steps of a pass take, and the rest between them.
pub(crate) fn pass_seconds(shape: &Shape, store: Store, cores: u32) -> (f64, f64) {
    let steps = steps(shape).iter().map(|step| step_seconds(step, shape, store, cores)).sum();
    (steps, shape.rest_seconds.max(pace(store).rest_seconds))
}

/// About what tables and logs take at the end of a pass.
pub(crate) fn pass_bytes(shape: &Shape, store: Store) -> u64 {
    let inserted: u64 = steps(shape).iter().map(|step| step.rows).sum::<u64>() * u64::from(shape.clients);
    let logs = (inserted * pace(store).log_bytes_per_row).min(pace(store).log_bytes_max);
    shape.rows_loaded() * pace(store).bytes_per_row + logs
}

#[cfg(test)]
mod tests {
    use crate::sample::plan;
    use rqps_model::plan::{Alternate, DataSet};
    use rqps_model::{Group, Unit};

    const TWO: [(&str, &str); 3] = [("suite", "insert"), ("build", "postgres:17.11"), ("build", "my8033")];

    #[test]
    fn every_step_is_a_test() {
        let plan = plan(&[&TWO[..], &[("write-rates", "100,20"), ("read-seconds", "60")]].concat(), false);
        let told: Vec<String> = plan
            .tests()
            .iter()
            .map(|test| format!("{} {} {}: {} s", test.rank, test.label, test.group, test.seconds))
            .collect();
        expect_test::expect![[r#"
            0 l.i0 write: 4.6 s
            1 l.x write: 2.1 s
            2 l.i1 write: 6.6 s
            3 l.i2 write: 4.4 s
            4 qr100.L1 range: 60 s
            5 qp100.L2 point: 60 s
            6 qr20.L3 range: 60 s
            7 qp20.L4 point: 60 s"#]]
        .assert_eq(&told.join("\n"));
        let [stage] = plan.stages.as_slice() else { panic!("{:?}", plan.stages) };
        assert_eq!((stage.alternate, stage.data, stage.rows), (Alternate::OneByOne, DataSet::Empty, 500_000));
        assert!(stage.tests.iter().all(|test| test.interleave.is_none() && test.before.is_empty()));
        assert_eq!((stage.tests[0].unit, stage.tests[4].group), (Unit::RowsPerSecond, Group::Range));
        assert_eq!(plan.machine.map(|machine| machine.suffix()).as_deref(), Some("c2r24"), "one server at a time");
    }

    #[test]
    fn clients_tables_and_rows_come_as_asked() {
        let shape = |words: &[(&str, &str)]| {
            let plan = plan(&[&TWO[..], words].concat(), false);
            let (shape, data) = (super::shape(&plan).expect("the suite"), rqps_suites::data(&plan.suite));
            let shared = if shape.shared_table { "shared" } else { "own" };
            let clients = plan.clients();
            let Some(small) = clients.first() else { panic!("some clients") };
            format!("{small}..{} {shared} {} x {}", shape.clients, data.tables, data.rows)
        };
        for (words, expected) in [
            (&[][..], "1..1 own 1 x 500000"),
            (&[("clients", "4,2"), ("rows", "10k")], "4..4 own 4 x 10000"),
            (&[("clients", "1,4"), ("tables", "1"), ("rows", "10k")], "1..4 shared 1 x 40000"),
            (&[("clients", "4"), ("tables", "4"), ("rows", "10k")], "4..4 own 4 x 10000"),
            (&[("tables", "1"), ("scale", "small:0.1")], "1..1 own 1 x 50000"),
        ] {
            assert_eq!(shape(words), expected, "{words:?}");
        }
    }
}
