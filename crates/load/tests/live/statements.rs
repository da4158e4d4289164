//! What the loop sends, as the server counts it; what it allocates; and the plans of its statements.

use crate::run_events;
use crate::servers::postgres;
use crate::{SMALL, trial};
use rqps_load::{plan_capture, prepare_data};
use rqps_suites::{Suite, Test};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static RUNNING: AtomicBool = AtomicBool::new(false);

/// SQL with tables, parameters and the lengths of lists alike; versions from 18 on show a list as one parameter.
fn shape(sql: &str) -> String {
    if let Some((before, list)) = sql.split_once(" IN (") {
        let after = list.split_once(')').unwrap().1;
        return shape(&format!("{before} IN list{after}"));
    }
    let mut shape = String::new();
    let mut rest = sql.trim_end_matches(';');
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        shape.push(c);
        if c == '$' || shape.ends_with("sbtest") {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    shape
}

/// How often the server must have seen each statement after `events` events.
fn expected(test: &Test, events: u64) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for &kind in &test.sequence {
        // The server writes a parameter for each constant.
        let sql = shape(&test.kinds[kind].sql(test.range, 1, rqps_model::Engine::Postgres))
            .replace("< 0", "< $")
            .replace("k+1", "k+$");
        *calls.entry(sql).or_default() += events;
    }
    calls
}

#[test]
fn each_test_sends_exactly_its_statements() {
    const CLIENTS: u32 = 2;
    const EVENTS: u32 = 5;
    let server = postgres();
    server.session().execute("CREATE EXTENSION pg_stat_statements").unwrap();
    prepare_data::prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    let suite = Suite::sysbench();
    // BEGIN and COMMIT are counted in the log: pg_stat_statements up to 16 sees a prepared one only the first time.
    let arms = [server.endpoint_with("log_statement", "all")];
    for test in &suite.tests {
        server.ask("SELECT pg_stat_statements_reset()");
        let logged = server.log().len();
        let arm = run_events(&trial(&suite, &test.name, &arms, CLIENTS), EVENTS, &RUNNING).unwrap().remove(0);
        assert_eq!(arm.failure, None, "{}", test.name);

        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut rows = 0;
        let counted = server.session().query(
            "SELECT query, calls, rows FROM pg_stat_statements \
             WHERE query ~ '^(SELECT|UPDATE|DELETE|INSERT).* sbtest'",
        );
        for row in counted.unwrap().rows {
            let [Some(query), Some(calls), Some(row_count)] = &row[..] else { panic!("{row:?}") };
            *seen.entry(shape(query)).or_default() += calls.parse::<u64>().unwrap();
            rows += row_count.parse::<u64>().unwrap();
        }
        let events = u64::from(CLIENTS * EVENTS);
        assert_eq!(seen, expected(test, events), "{}", test.name);
        let log = server.log().split_off(logged);
        let executed =
            |sql: &str| log.lines().filter(|line| line.contains("LOG:  execute") && line.ends_with(sql)).count();
        let transactions = if test.transaction { events as usize } else { 0 };
        let begun_and_ended = [executed(": BEGIN"), executed(": COMMIT"), executed(": ROLLBACK")];
        assert_eq!(begun_and_ended, [transactions, transactions, 0], "{}", test.name);
        let all = log.lines().filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement")).count();
        assert_eq!(all as u64, arm.operations, "{}", test.name);
        assert_eq!(arm.operations, events * test.statements_per_event() as u64, "{}", test.name);
        assert_eq!(arm.rows, rows, "{}", test.name);
        assert_eq!((arm.accounting.scheduled, arm.accounting.succeeded), (events, events), "{}", test.name);
        let (last, histogram) = arm.latency.last().unwrap();
        assert_eq!((last.as_str(), histogram.len()), ("event", events), "{}", test.name);
    }
}

#[test]
fn more_events_allocate_no_more() {
    let server = postgres();
    prepare_data::prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let allocations = |test: &Test, clients, events| {
        let measured = allocation_counter::measure(|| {
            let arm = run_events(&trial(&suite, &test.name, &arms, clients), events, &RUNNING).unwrap().remove(0);
            assert_eq!(arm.accounting.succeeded, u64::from(clients * events), "{}", test.name);
        });
        measured.count_total
    };
    for test in suite.tests.iter().filter(|test| !test.name.contains(".pre")) {
        // Clients that write may meet, and errors do allocate.
        for clients in if test.writes { 1..=1 } else { 1..=3 }.step_by(2) {
            // Everything around the events is the same in both, so any difference comes from them. A session's first
            // replies that arrive in pieces, early or late, make it keep a buffer, of 8, 16, 32 bytes, from then on.
            let (few, many) = (allocations(test, clients, 20), allocations(test, clients, 60));
            assert!(
                many.abs_diff(few) <= u64::from(4 * clients),
                "{} with {clients} clients: {few}, {many}",
                test.name
            );
        }
    }
}

#[test]
fn every_statement_has_its_plan() {
    let server = postgres();
    prepare_data::prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    let suite = Suite::sysbench();
    for test in &suite.tests {
        let plans = plan_capture::plan_capture(&server.target(), test, SMALL).unwrap();
        assert_eq!(plans.len(), test.kinds.len());
        for (plan, kind) in plans.iter().zip(&test.kinds) {
            assert_eq!(plan.statement, kind.kind);
            assert!(plan.plan.contains("sbtest1") && plan.plan.contains("cost="), "{plan:?}");
        }
    }
    let plan = |name: &str, index: usize| {
        plan_capture::plan_capture(&server.target(), suite.test(name).unwrap(), SMALL).unwrap().remove(index).plan
    };
    // After five custom plans a point query settles on the generic one, which shows the parameter.
    assert!(plan("point-query", 0).contains("Index Cond: (id = $1)"), "{}", plan("point-query", 0));
    assert!(plan("read-only-distinct", 1).contains("Unique"), "{}", plan("read-only-distinct", 1));
    assert!(plan("scan", 0).contains("Seq Scan"), "{}", plan("scan", 0));
    assert_eq!(plan("hot-points", 0), plan("hot-points", 0));
}
