//! Deadlocks, lock waits that time out, and too many prepared statements on MySQL and MariaDB.

use crate::servers::{Product, executed};
use crate::trial;
use crate::{Trial, run_events};
use rqps_load::prepare_data::prepare_data;
use rqps_model::plan::DataShape;
use rqps_suites::Suite;
use rqps_testkit::LiveServer;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

static RUNNING: AtomicBool = AtomicBool::new(false);

/// So few rows that clients meet.
const TINY: DataShape = DataShape { tables: 1, rows: 12 };

#[test]
fn deadlocks_are_retried_until_they_succeed() {
    let suite = Suite::sysbench();
    for product in Product::ALL {
        let server = product.start();
        prepare_data(&server.target(), TINY, 1, 1).unwrap();
        let arms = [server.endpoint()];
        let trial = Trial { data: TINY, ..trial(&suite, "write-only", &arms, 8) };
        let arm = run_events(&trial, 100, &RUNNING).unwrap().remove(0);
        let count =
            |code: &str| -> u64 { arm.errors.iter().filter(|error| error.code == code).map(|error| error.count).sum() };
        let (deadlocks, timeouts) = (count("1213 (40001)"), count("1205 (HY000)"));
        assert!(deadlocks > 0, "{:?}", arm.errors);
        assert_eq!(arm.accounting.retried, deadlocks + timeouts);
        assert_eq!(arm.accounting.failed, count("1062 (23000)"), "{:?}", arm.errors);
        assert!(arm.accounting.is_balanced() && arm.failure.is_none(), "{:?}", arm.failure);
        assert_eq!(arm.accounting.scheduled, 800);
        assert_eq!(server.ask("SELECT count(*) FROM sbtest1"), ["12"]);
    }
}

#[test]
fn a_lock_wait_that_times_out_is_rolled_back_before_it_is_tried_again() {
    let suite = Suite::sysbench();
    for product in Product::ALL {
        let server = product.start();
        prepare_data(&server.target(), TINY, 1, 1).unwrap();
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
                    let deadline = Instant::now() + rqps_testkit::PATIENCE;
                    while !String::from_utf8_lossy(&std::fs::read(&log).unwrap()).contains("\tROLLBACK") {
                        assert!(Instant::now() < deadline, "no wait ends");
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    locker.execute("COMMIT").unwrap();
                });
                let trial = Trial { data: TINY, ..trial(&suite, "write-only", &arms, 1) };
                runs = run_events(&trial, 2, &RUNNING).unwrap();
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
    }
}

#[test]
fn too_many_prepared_statements_are_refused_with_the_number_that_is_needed() {
    let server = LiveServer::start(&Product::Mysql.wanted().with("max-prepared-stmt-count=3"));
    prepare_data(&server.target(), TINY, 1, 1).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let trial = Trial { data: TINY, ..trial(&suite, "point-query", &arms, 5) };
    let failure = run_events(&trial, 1, &RUNNING).unwrap().remove(0).failure.unwrap();
    assert!(failure.contains("5 clients prepare 1 statements each: set max_prepared_stmt_count to 5"), "{failure}");
}
