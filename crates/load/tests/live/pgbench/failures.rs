//! Scripts whose statements fail: what is tried again, how it is counted, and how long it may take.

use super::{own, play, server};
use crate::{RUNNING, schedule};
use rqps_load::drive::{Exercise, Schedule, run};
use rqps_model::own::Protocol;
use rqps_model::sample::FailureClass;
use rqps_testkit::PATIENCE;
use std::time::Instant;

/// Clients that read what the others change: some of them fail.
const CONTENDED: &str = "\\set delta random(1, 1000000)
BEGIN;
SELECT bbalance FROM pgbench_branches WHERE bid = 1;
UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;
INSERT INTO pgbench_history (delta) VALUES (:delta);
END;
";

#[test]
fn serialization_failures_are_tried_again_with_the_same_values() {
    let server = server();
    let (clients, events) = (6, 40);
    for protocol in Protocol::ALL {
        let mut own = own(&[("contended", 1, CONTENDED)], protocol);
        own.tests[0].isolation = Some("repeatable read".to_owned());
        let before = || server.number("SELECT sum(bbalance) FROM pgbench_branches");
        // As in pgbench none is tried again, unless that is wanted.
        let (from, ran) = (before(), play(&server, &own, clients, events));
        assert_eq!((ran.failure.as_deref(), ran.accounting.retried), (None, 0));
        assert!(ran.failures.serialization > 0, "{:?}", ran.failures);
        assert_eq!(ran.failures.serialization, ran.accounting.failed);
        assert_eq!(before() - from, ran.accounting.succeeded);
        own.tests[0].max_tries = Some(1000);
        server.session().execute("TRUNCATE pgbench_history").unwrap();
        let (from, ran) = (before(), play(&server, &own, clients, events));
        assert_eq!((ran.failure.as_deref(), ran.accounting.failed), (None, 0));
        assert!(ran.accounting.retried > 0 && ran.failures.is_none());
        assert_eq!(before() - from, u64::from(clients * events));
        // Each script was done once, with the values that were drawn when it began.
        let drawn = server.ask("SELECT sum(delta), count(*) FROM pgbench_history");
        own.tests[0].isolation = None;
        server.session().execute("TRUNCATE pgbench_history").unwrap();
        play(&server, &own, clients, events);
        assert_eq!(server.ask("SELECT sum(delta), count(*) FROM pgbench_history"), drawn);
    }
}

#[test]
fn a_deadlock_is_a_class_of_its_own() {
    let server = server();
    server.session().execute("ALTER SYSTEM SET deadlock_timeout = '10ms'; ").unwrap();
    server.session().query("SELECT pg_reload_conf()").unwrap();
    // Two clients lock the same two rows, each in its own order.
    let script = "\\set one 1 + :client_id % 2
\\set other 2 - :client_id % 2
BEGIN;
UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = :one;
SELECT pg_sleep(0.02);
UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = :other;
END;
";
    let ran = play(&server, &own(&[("crossed", 1, script)], Protocol::Prepared), 2, 5);
    assert!(ran.failures.deadlock > 0, "{:?}", ran.failures);
    assert_eq!(ran.failures.deadlock, ran.accounting.failed);
}

#[test]
fn a_server_whose_statements_all_time_out_is_given_up_soon_and_holds_nobody_up() {
    let server = server();
    let mut own = own(&[("slow", 1, "SELECT pg_sleep(600);")], Protocol::Prepared);
    own.tests[0].timeout_seconds = 1.0;
    let arms = [server.endpoint()];
    let exercise = Exercise::new(&arms, 2, Schedule { warmup_seconds: 1.0, ..schedule(60.0) }, 11);
    let begun = Instant::now();
    let workload = super::compile(&own, &server, exercise.clients);
    let ran = run(&exercise, &workload, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap().remove(0);
    let why = ran.failure.expect("it is given up");
    assert!(ran.errors.iter().any(|error| error.class() == FailureClass::Timeout), "{:?}", ran.errors);
    assert!(why.starts_with("3 events took longer than they may in a row, the last in `select` with 57014"), "{why}");
    // Three time-outs and what it takes to connect; a minute was to be counted.
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
