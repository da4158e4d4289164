//! Rows inserted minus rows deleted are the rows of the table, after every step.

use super::{bench, run, run_up_to, shape, shared, stalls, start, step, sum};
use crate::RUNNING;
use crate::servers::Product::{self, Mariadb, Mysql, Postgres, Rocksdb};
use rqps_load::insert::{Bench, State, StepRun, rest, run_step};
use rqps_load::suite::Moment;
use rqps_model::insert::{Kind, Shape, Step, steps};
use rqps_testkit::{LiveServer, on_each};
use std::cell::RefCell;

fn rows_of_tables(server: &LiveServer, shape: &Shape) -> u64 {
    (1..=shape.tables()).map(|table| server.number(&format!("SELECT count(*) FROM pi{table}"))).sum()
}

/// Every number of a step that must agree with another.
pub(super) fn check_sums(run: &StepRun, shape: &Shape) {
    let record = &run.record;
    for (name, operations) in [("insert", record.inserts), ("delete", record.deletes), ("query", record.queries)] {
        let accounting = operations.accounting;
        assert!(accounting.is_balanced() && accounting.failed == 0, "{name} {accounting:?}");
        // Only a machine that is too busy for its plan leaves any out, after twice the planned time.
        assert!(accounting.skipped == 0 || record.seconds >= 2.0 * shape.seconds, "{name} {accounting:?}");
        assert_eq!(operations.response.total(), accounting.succeeded, "{name}");
        let histogram = run.latency.iter().find(|(kind, _)| kind == name);
        assert_eq!(histogram.map_or(0, |(_, histogram)| histogram.len()), accounting.succeeded, "{name}");
        let planned = if record.sla.is_some() && name != "query" { accounting.succeeded } else { 0 };
        // On a shared table deleters meet, and what they miss is deleted beside the plan.
        let beside = accounting.succeeded - operations.from_plan.total();
        assert!(operations.from_plan.total() == planned || (shape.shared_table && name == "delete"), "{name} {beside}");
        assert_eq!(operations.rows_unknown, 0);
    }
    assert_eq!(sum(run, "insert", |row| row.rows), record.inserts.rows);
    assert_eq!(sum(run, "delete", |row| row.rows), record.deletes.rows);
    assert_eq!(sum(run, "query", |row| row.operations), record.queries.accounting.succeeded);
    let inserts = run.seconds.iter().filter(|row| row.kind == "insert");
    let longest = inserts.clone().map(|row| row.latency_ns_max).max().unwrap_or(0);
    assert_eq!(longest, record.inserts.response.longest_ns);
    assert_eq!(inserts.count(), shape.clients as usize * record.seconds.ceil() as usize);
    assert_eq!(record.tables.len(), shape.tables() as usize);
    assert!(record.errors.is_empty() && record.client_cpu_ns > 0, "{:?}", record.errors);
}

/// Runs every step with `run` and checks what it says against what the server holds.
pub(super) fn check_every_step(
    server: &LiveServer,
    bench: &Bench<'_>,
    run: &mut dyn FnMut(&Step, &mut State) -> StepRun,
) {
    let shape = bench.shape;
    let clients = u64::from(shape.clients);
    let mut state = State::new();
    let (mut rows, mut gave_up) = (0, false);
    for step in steps(shape) {
        let run = run(&step, &mut state);
        let record = &run.record;
        check_sums(&run, shape);
        let expected = if step.kind == Kind::Index { step.rows } else { step.rows * clients };
        let has_given_up = record.inserts.accounting.skipped + record.deletes.accounting.skipped > 0;
        if !has_given_up {
            assert_eq!(record.inserts.rows, expected, "{}", step.name);
            assert_eq!(record.deletes.rows, if step.deletes() { expected } else { 0 }, "{}", step.name);
        }
        gave_up |= has_given_up;
        rows = rows + record.inserts.rows - record.deletes.rows;
        assert_eq!(rows_of_tables(server, shape), rows, "{}", step.name);
        assert_eq!(state, State::read(bench.endpoint, shape).unwrap());
        assert_eq!(record.queries.accounting.succeeded > 0, step.queries());
        assert_eq!(record.index_builds.is_empty(), step.kind != Kind::Index);
        assert!(step.kind != Kind::Index || stalls(&run).is_empty(), "nothing is meant to be inserted meanwhile");
        match &record.sla {
            Some(sla) => {
                assert!(record.seconds >= 0.999, "{sla:?} in {} s", record.seconds);
                assert_eq!(sla.target_per_s, f64::from(step.rate_per_s.unwrap()) * f64::from(shape.clients));
            }
            None => assert!(!step.queries()),
        }
        if step.kind == Kind::RangeQueries {
            // Nearly every range holds ten rows; those that begin near the end hold fewer.
            assert!(record.queries.rows > 9 * record.queries.accounting.succeeded, "{:?}", record.queries);
        }
        if step.kind == Kind::PointQueries && !shape.shared_table {
            // In so small a table many ids are gaps, since each session of PostgreSQL takes a thousand at once.
            assert!(record.queries.rows > 2 * record.queries.accounting.succeeded, "{:?}", record.queries);
        }
        if step.is_followed_by_rest() {
            rest(&server.target(), shape, &RUNNING).unwrap();
        }
    }
    assert!(gave_up || rows == shape.rows_loaded() + 100, "{rows}");
}

#[test]
fn every_step_leaves_the_rows_that_it_counted() {
    check_accounts(Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_all_others_too_every_step_leaves_the_rows_that_it_counted() {
    on_each(&[Mysql, Mariadb, Rocksdb], check_accounts);
}

fn check_accounts(product: Product) {
    let server = start(product);
    let endpoint = server.endpoint();
    let storage = product.storage();
    let own_tables = shape();
    let own = Bench { storage, ..bench(&endpoint, &own_tables) };
    check_every_step(&server, &own, &mut |step, state| run(&own, step, state));
    let shared_table = Shape { clients: 5, shared_table: true, ..shape() };
    let shared = Bench { storage, threads: 2, ..bench(&endpoint, &shared_table) };
    check_every_step(&server, &shared, &mut |step, state| run(&shared, step, state));
    if product == Rocksdb {
        let engine = "SELECT DISTINCT ENGINE FROM information_schema.TABLES WHERE TABLE_NAME LIKE 'pi%'";
        assert_eq!(server.ask(engine), ["ROCKSDB"]);
    }
}

#[test]
fn inserts_and_deletes_are_never_further_apart_than_eight_batches() {
    let server = shared(Postgres);
    let endpoint = server.endpoint();
    let shape = Shape { clients: 1, ..shape() };
    let bench = bench(&endpoint, &shape);
    run_up_to(&bench, "l.x");
    // A trigger watches every statement from inside: the rows that the table holds after it.
    let watch = "CREATE TABLE seen (rows bigint); \
         CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN INSERT INTO seen SELECT count(*) FROM pi1; RETURN NULL; END'; \
         CREATE TRIGGER watch AFTER INSERT OR DELETE ON pi1 FOR EACH STATEMENT EXECUTE FUNCTION watch()";
    server.ask(watch);
    run(&bench, &step(&shape, "l.i2"), &mut State::new());
    // What the other connection has under way is not seen: a batch more.
    let apart = server.number("SELECT max(abs(rows - 3100)) FROM seen");
    assert!((5..=45).contains(&apart), "{apart}");
}

#[test]
fn what_is_read_at_begin_and_end_has_the_whole_step_between_and_no_connecting() {
    let server = shared(Postgres);
    let endpoint = server.endpoint();
    let shape = shape();
    let bench = bench(&endpoint, &shape);
    let mut state = run_up_to(&bench, "l.x");
    let before = state.tables()[0].oldest;
    let seen = RefCell::new(Vec::new());
    let mut tell = |moment| {
        if matches!(moment, Moment::Start | Moment::Stop) {
            let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
            let oldest = server.number("SELECT min(transactionid) FROM pi1");
            seen.borrow_mut().push((moment, oldest, server.number(sessions)));
        }
    };
    run_step(&bench, &step(&shape, "l.i1"), &mut state, &RUNNING, &mut tell).unwrap();
    let [begin, end] = seen.into_inner()[..] else { panic!("a begin and an end") };
    assert_eq!((begin.0, begin.1), (Moment::Start, before));
    assert_eq!((end.0, end.1), (Moment::Stop, state.tables()[0].oldest));
    // Two clients that insert and delete, and at first the one that asks.
    assert!(begin.2 >= 5 && end.2 >= 4, "{} and {} sessions", begin.2, end.2);
}
