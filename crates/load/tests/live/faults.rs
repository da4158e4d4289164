//! Real serialization failures, deadlocks, lock waits that time out, lost servers, and the wish to stop.

use crate::servers::Product::{Mysql, Postgres};
use crate::servers::{ENGINES, MYSQL_AND_MARIADB, executed};
use crate::{RUNNING, SMALL, Trial, run, run_all, run_events, schedule, trial};
use rqps_load::drive::{Phase, Schedule, Switch};
use rqps_load::{LoadError, prepare_data};
use rqps_model::plan::DataShape;
use rqps_model::sample::Accounting;
use rqps_suites::Suite;
use rqps_testkit::{LiveServer, PATIENCE, on_each};
use rustix::process::Signal;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So few rows that clients meet.
const TINY: DataShape = DataShape { tables: 1, rows: 12 };

/// A suite whose one statement does not end.
const SLEEPER: &str = "
    format = 1
    name = \"sleeper\"
    [statement.sleep]
    sql = \"SELECT pg_sleep(600) FROM {table} WHERE id = $1\"
    parameters = [\"one\"]
    [[test]]
    name = \"sleep\"
    event = \"sleep\"
    group = \"point\"
    rank = 1
    range = 1
    seconds = \"read\"
";

/// Sessions of this database in which that statement is under way.
const SLEEPERS: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                        AND query LIKE 'SELECT pg_sleep%' AND state = 'active'";

fn wait_for_sleepers(server: &LiveServer, sessions: u32) {
    let deadline = Instant::now() + PATIENCE;
    while server.ask(&format!("SELECT count(*) {SLEEPERS}")) != [sessions.to_string()] {
        assert!(Instant::now() < deadline, "{:?}", server.ask("TABLE pg_stat_activity"));
    }
}

fn end_sleepers(server: &LiveServer) {
    server.ask(&format!("SELECT pg_terminate_backend(pid) {SLEEPERS}"));
}

#[test]
fn serialization_failures_are_retried_until_they_succeed() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
    // Between the snapshot of an update and its write, so that others meet it on any machine.
    let pause = "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END'; \
                 CREATE TRIGGER pause BEFORE UPDATE ON sbtest1 FOR EACH ROW EXECUTE FUNCTION pause()";
    server.session().execute(pause).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint_with("default_transaction_isolation", "repeatable read")];
    let trial = Trial { data: TINY, ..trial(&suite, "update-nonindex", &arms, 8) };
    let arm = run_events(&trial, 200).remove(0);
    let accounting = arm.accounting;
    assert!(accounting.retried > 0, "{accounting:?}");
    assert_eq!((accounting.succeeded, accounting.failed), (1600, 0));
    assert_eq!((arm.errors.len(), arm.errors[0].code.as_str()), (1, "40001"));
    assert_eq!((arm.errors[0].count, arm.errors[0].statement.as_str()), (accounting.retried, "update-nonindex"));
}

#[test]
fn deadlocks_are_retried_until_they_succeed() {
    on_each(&ENGINES, |product| {
        let server = product.start();
        prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
        let suite = Suite::sysbench();
        let arms = [server.endpoint()];
        // Two updates in one transaction, each of a random row: locks are taken in any order.
        let trial = Trial { data: TINY, ..trial(&suite, "write-only", &arms, 8) };
        let arm = run_events(&trial, 100).remove(0);
        let count =
            |code: &str| -> u64 { arm.errors.iter().filter(|error| error.code == code).map(|error| error.count).sum() };
        let deadlocks = count(product.either("40P01", "1213 (40001)"));
        assert!(deadlocks > 0, "{:?}", arm.errors);
        assert_eq!(arm.accounting.retried, deadlocks + count("1205 (HY000)"));
        // A row deleted and inserted by another meanwhile is a duplicate: a failure, not retried.
        assert_eq!(arm.accounting.failed, count(product.either("23505", "1062 (23000)")), "{:?}", arm.errors);
        assert!(arm.accounting.is_balanced() && arm.failure.is_none(), "{:?}", arm.failure);
        assert_eq!(arm.accounting.scheduled, 800);
        assert_eq!(server.ask("SELECT count(*) FROM sbtest1"), ["12"]);
    });
}

#[test]
fn a_lock_wait_that_times_out_is_rolled_back_before_it_is_tried_again() {
    let suite = Suite::sysbench();
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
        let arms = [server.endpoint()];
        let mut locker = server.session();
        locker.execute("BEGIN").unwrap();
        locker.query("SELECT count(*) FROM sbtest1 FOR UPDATE").unwrap();
        let mut runs = Vec::new();
        let executed = executed(&server, || {
            std::thread::scope(|scope| {
                let unlock = scope.spawn(|| {
                    // Until a wait has ended, and its transaction with it.
                    let log = server.folder().join("data/general.log");
                    let deadline = Instant::now() + PATIENCE;
                    while !String::from_utf8_lossy(&std::fs::read(&log).unwrap()).contains("\tROLLBACK") {
                        assert!(Instant::now() < deadline, "no wait ends");
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    locker.execute("COMMIT").unwrap();
                });
                let trial = Trial { data: TINY, ..trial(&suite, "write-only", &arms, 1) };
                runs = run_events(&trial, 2);
                unlock.join().unwrap();
            });
        });
        let arm = &runs[0];
        assert_eq!(arm.errors.len(), 1, "{:?}", arm.errors);
        assert_eq!((arm.errors[0].code.as_str(), arm.errors[0].statement.as_str()), ("1205 (HY000)", "update-index"));
        assert_eq!((arm.accounting.succeeded, arm.accounting.failed), (2, 0));
        assert_eq!(arm.accounting.retried, arm.errors[0].count);
        let sent = |sql: &str| executed.iter().filter(|executed| *executed == sql).count() as u64;
        assert_eq!(sent("ROLLBACK"), arm.errors[0].count, "{executed:#?}");
        assert_eq!(sent("BEGIN"), 2 + arm.errors[0].count);
    });
}

#[test]
fn too_many_prepared_statements_are_refused_with_the_number_that_is_needed() {
    let server = LiveServer::start(&Mysql.wanted().with("max-prepared-stmt-count=3"));
    prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let trial = Trial { data: TINY, ..trial(&suite, "point-query", &arms, 5) };
    let failure = run_events(&trial, 1).remove(0).failure.unwrap();
    assert!(failure.contains("5 clients prepare 1 statements each: set max_prepared_stmt_count to 5"), "{failure}");
}

#[test]
fn after_a_table_that_cannot_be_loaded_no_other_is_begun() {
    let server = Postgres.shared();
    server.session().execute("CREATE VIEW sbtest1 AS SELECT 1").unwrap();
    let data = DataShape { tables: 6, rows: 20_000 };
    let error = prepare_data::prepare_data(&server.target(), data, 1, 2).unwrap_err();
    let LoadError::Wire { error, .. } = error else { panic!("{error}") };
    assert_eq!(error.code().unwrap().to_string(), "42809", "{error}");
    // The other loader was busy with its first table meanwhile.
    assert_eq!(
        server.ask("SELECT count(*) FROM pg_tables WHERE tablename IN ('sbtest4', 'sbtest5', 'sbtest6')"),
        ["0"]
    );
}

/// Ends a server at once and waits until it is gone, so that what follows meets none rather than one that is ending.
fn end(server: &LiveServer) {
    server.signal(Signal::QUIT);
    let deadline = Instant::now() + PATIENCE;
    while !server.processes().is_empty() {
        assert!(Instant::now() < deadline, "it does not end:\n{}", server.log());
    }
}

#[test]
fn a_server_that_dies_takes_only_its_own_arm_along() {
    let (stays, dies) = (Postgres.shared(), Postgres.start());
    for server in [&stays, &dies] {
        prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    }
    let suite = Suite::sysbench();
    let arms = [stays.endpoint(), dies.endpoint()];
    for (threads, expected) in [(1, "lost the connection"), (2, "check that the server runs")] {
        let mut hook = |switch| {
            // There is a first counted visit however slow everything is; in the second exercise it never comes so far.
            if switch == (Switch::Enter { arm: 1, phase: Phase::Counted }) {
                end(&dies);
            }
            Ok(())
        };
        let trial = Trial { threads, ..trial(&suite, "read-write_range=10", &arms, 3) };
        let ended = run(&trial, &mut hook, &RUNNING, &|_| ()).unwrap();
        let [good, bad] = &ended[..] else { panic!("two arms") };
        assert_eq!(good.failure, None);
        assert!(good.seconds >= 0.2 && good.accounting.is_balanced() && good.operations > 0, "{good:?}");
        let failure = bad.failure.as_ref().unwrap();
        assert!(failure.contains(expected), "{failure}");
        assert!(bad.slices.operations.is_empty() && bad.accounting.is_balanced(), "{bad:?}");
    }
}

#[test]
fn what_was_counted_before_a_server_died_is_kept() {
    let server = Postgres.start();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let visits = Cell::new(0);
    let mut hook = |switch| {
        if switch == (Switch::Enter { arm: 0, phase: Phase::Counted }) {
            visits.set(visits.get() + 1);
            if visits.get() == 5 {
                end(&server);
            }
        }
        Ok(())
    };
    // So many seconds that only the server's death ends it.
    let trial = Trial { threads: 2, schedule: schedule(3600.0), ..trial(&suite, "read-write_range=10", &arms, 3) };
    let arm = run(&trial, &mut hook, &RUNNING, &|_| ()).unwrap().remove(0);
    let failure = arm.failure.as_ref().unwrap();
    assert!(failure.contains("lost the connection"), "{failure}");
    assert_eq!(arm.slices.operations.len(), 4);
    assert!(arm.operations > 0 && arm.operations == arm.slices.operations.iter().sum::<u64>());
    assert!(arm.accounting.is_balanced() && arm.accounting.succeeded > 0, "{:?}", arm.accounting);
}

#[test]
fn what_is_under_way_when_a_server_dies_has_failed() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
    let suite = Suite::parse(SLEEPER).unwrap();
    let arms = [server.endpoint()];
    for threads in [1, 2] {
        let trial = Trial { data: TINY, threads, ..trial(&suite, "sleep", &arms, 3) };
        let arm = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_for_sleepers(&server, 3);
                end_sleepers(&server);
            });
            run_events(&trial, 1).remove(0)
        });
        let failure = arm.failure.as_ref().unwrap();
        assert!(failure.contains("terminating connection"), "{failure}");
        let Accounting { scheduled, succeeded, failed, .. } = arm.accounting;
        assert_eq!((scheduled, succeeded, failed, arm.operations), (3, 0, 3, 0));
    }
}

#[test]
fn an_arm_without_tables_fails_with_the_servers_words() {
    let server = Postgres.shared();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let ended = run_all(&trial(&suite, "point-query", &arms, 1));
    let failure = ended[0].failure.as_ref().unwrap();
    assert!(failure.contains("relation \"sbtest1\" does not exist"), "{failure}");
    // A text statement is not prepared, so it fails when it runs.
    let ended = run_events(&trial(&suite, "scan", &arms, 1), 2000);
    let failure = ended[0].failure.as_ref().unwrap();
    assert!(failure.contains("1000 events failed in a row") && failure.contains("does not exist"), "{failure}");
}

#[test]
fn a_statement_that_does_not_end_is_broken_off_when_the_caller_wants_to_stop() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
    let suite = Suite::parse(SLEEPER).unwrap();
    let arms = [server.endpoint()];
    for (clients, threads) in [(1, 1), (3, 2)] {
        let stop = AtomicBool::new(false);
        let trial = Trial { data: TINY, threads, ..trial(&suite, "sleep", &arms, clients) };
        // It would take ten minutes by itself.
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_for_sleepers(&server, clients);
                stop.store(true, Ordering::Relaxed);
            });
            let begun = Instant::now();
            (run(&trial, &mut |_| Ok(()), &stop, &|_| ()), begun.elapsed())
        });
        assert!(matches!(ended.0, Err(LoadError::Interrupted)), "{:?}", ended.0);
        assert!(ended.1 < 2 * PATIENCE, "{:?}", ended.1);
        end_sleepers(&server);
        wait_for_sleepers(&server, 0);
    }
}

#[test]
fn a_hook_that_fails_ends_the_exercise_with_its_error() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), TINY, 1, 1).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let schedule = Schedule { warmup_seconds: 0.0, ..schedule(10.0) };
    let trial = Trial { data: TINY, schedule, threads: 2, ..trial(&suite, "point-query", &arms, 2) };
    let mut hook = |switch| match switch {
        Switch::Leave { phase: Phase::Counted, .. } => Err(LoadError::hook("cannot freeze")),
        _ => Ok(()),
    };
    let error = run(&trial, &mut hook, &RUNNING, &|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "cannot freeze");
}
