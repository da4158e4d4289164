//! What the loop sends to MySQL and MariaDB beside PostgreSQL, what it allocates, and the plans of its statements.

use crate::servers::{Product, executed, postgres};
use crate::{SMALL, trial};
use crate::{Trial, run, run_events};
use rqps_load::plan_capture::plan_capture;
use rqps_load::prepare_data::prepare_data;
use rqps_load::random::derive_seed;
use rqps_suites::{Suite, Test};
use rqps_testkit::LiveServer;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static RUNNING: AtomicBool = AtomicBool::new(false);

/// What PostgreSQL's log says it executed, with the parameters in their places.
fn executed_by_postgres(log: &str) -> Vec<String> {
    let mut executed: Vec<String> = Vec::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("LOG:  execute ") {
            executed.push(rest.split_once(": ").unwrap().1.to_owned());
        } else if let Some((_, sql)) = line.split_once("LOG:  statement: ") {
            executed.push(sql.to_owned());
        } else if let Some((_, list)) = line.to_lowercase().split_once("detail:  parameters: ") {
            let sql = executed.last_mut().unwrap();
            // From the last on, so that $1 doesn't match the beginning of $10.
            for parameter in list.split(", $").collect::<Vec<_>>().into_iter().rev() {
                let (number, value) = parameter.trim_start_matches('$').split_once(" = ").unwrap();
                let value = value.trim_matches('\'');
                let value = if value.len() > 10 { format!("'{value}'") } else { value.to_owned() };
                *sql = sql.replacen(&format!("${number}"), &value, 1);
            }
        }
    }
    executed
}

/// The form that MySQL forces, made from that of PostgreSQL.
fn as_mysql(test: &Test, sql: &str) -> String {
    match test.name.as_str() {
        "insert" => sql.replace("(k, c, pad) VALUES (", "(id, k, c, pad) VALUES (0, "),
        _ => sql.to_owned(),
    }
}

#[test]
fn every_test_sends_the_same_statements_to_every_engine() {
    const EVENTS: u32 = 5;
    let postgres = postgres();
    let servers = Product::ALL.map(Product::start);
    let mut arms = vec![postgres.endpoint_with("log_statement", "all")];
    arms.extend(servers.iter().map(LiveServer::endpoint));
    for server in [&postgres, &servers[0], &servers[1]] {
        prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    }
    let suite = Suite::sysbench();
    for test in &suite.tests {
        let logged = postgres.log().len();
        let mut runs = Vec::new();
        let mut on_mysql = Vec::new();
        let on_mariadb = executed(&servers[1], || {
            on_mysql = executed(&servers[0], || {
                // A seed of its own for each test, as in a campaign: MySQL counts no row that is set to what it was.
                let trial = Trial { seed: derive_seed(11, &test.name), ..trial(&suite, &test.name, &arms, 1) };
                runs = run_events(&trial, EVENTS, &RUNNING).unwrap();
            });
        });
        let on_postgres = executed_by_postgres(&postgres.log().split_off(logged));
        let expected: Vec<String> = on_postgres.iter().map(|sql| as_mysql(test, sql)).collect();
        assert_eq!(expected.len(), EVENTS as usize * test.statements_per_event(), "{}", test.name);
        for (executed, product) in [(on_mysql, "MySQL"), (on_mariadb, "MariaDB")] {
            assert_eq!(executed, expected, "{} on {product}", test.name);
        }
        for run in &runs {
            assert_eq!(run.failure, None, "{}", test.name);
            assert_eq!(run.operations, u64::from(EVENTS) * test.statements_per_event() as u64, "{}", test.name);
            assert_eq!((run.accounting.succeeded, run.errors.len()), (u64::from(EVENTS), 0), "{}", test.name);
            assert_eq!(run.rows, runs[0].rows, "{}", test.name);
            let kinds: Vec<&str> = run.latency.iter().map(|(kind, _)| kind.as_str()).collect();
            let first: Vec<&str> = runs[0].latency.iter().map(|(kind, _)| kind.as_str()).collect();
            assert_eq!(kinds, first, "{}", test.name);
        }
    }
    // After all these writes the tables are still the same.
    let sums =
        |table: u32| format!("SELECT count(*), sum(id), sum(k), min(c), max(c), min(pad), max(pad) FROM sbtest{table}");
    for table in 1..=SMALL.tables {
        let trimmed = |rows: Vec<String>| rows[0].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for server in &servers {
            assert_eq!(trimmed(server.ask(&sums(table))), trimmed(postgres.ask(&sums(table))));
        }
    }
}

#[test]
fn more_events_allocate_no_more() {
    let suite = Suite::sysbench();
    for product in Product::ALL {
        let server = product.start();
        prepare_data(&server.target(), SMALL, 7, 2).unwrap();
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
                let (few, many) = (allocations(test, clients, 20), allocations(test, clients, 60));
                assert!(
                    many.abs_diff(few) <= u64::from(4 * clients),
                    "{product:?}: {} with {clients} clients: {few}, {many}",
                    test.name
                );
            }
        }
    }
}

#[test]
fn slices_alternate_between_engines() {
    let postgres = postgres();
    let servers = Product::ALL.map(Product::start);
    let arms = [postgres.endpoint(), servers[0].endpoint(), servers[1].endpoint()];
    for server in [&postgres, &servers[0], &servers[1]] {
        prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    }
    let suite = Suite::sysbench();
    for (test, statements) in [("read-only_range=10", 16), ("point-query", 1), ("scan", 1), ("insert", 1)] {
        let trial = Trial { threads: 2, ..trial(&suite, test, &arms, 3) };
        for arm in run(&trial, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap() {
            assert_eq!(arm.failure, None, "{test}");
            assert!(arm.accounting.is_balanced() && arm.accounting.failed == 0, "{:?}", arm.accounting);
            assert_eq!(arm.operations, arm.accounting.succeeded * statements, "{test}");
            assert!(arm.slices.operations.iter().all(|operations| *operations > 0), "{test}");
        }
    }
    // A server that dies takes only its own arm along.
    servers[0].kill();
    let ended = run(&trial(&suite, "point-query", &arms, 2), &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap();
    let failed: Vec<bool> = ended.iter().map(|arm| arm.failure.is_some()).collect();
    assert_eq!(failed, [false, true, false]);
}

#[test]
fn every_statement_has_its_plan() {
    let suite = Suite::sysbench();
    for product in Product::ALL {
        let server = product.start();
        prepare_data(&server.target(), SMALL, 7, 2).unwrap();
        let mut chosen: BTreeMap<String, String> = BTreeMap::new();
        for test in &suite.tests {
            let plans = plan_capture(&server.target(), test, SMALL).unwrap();
            assert_eq!(plans.len(), test.kinds.len());
            for (plan, kind) in plans.iter().zip(&test.kinds) {
                assert_eq!(plan.statement, kind.kind);
                assert!(plan.plan.starts_with("sbtest1: type=") || plan.plan.starts_with("no table"), "{plan:?}");
                assert!(plan.plan.contains("\njson:\n{") && !plan.plan.contains("not told"), "{plan:?}");
                chosen.entry(kind.kind.clone()).or_insert_with(|| plan.plan.lines().next().unwrap().to_owned());
            }
            assert_eq!(plans, plan_capture(&server.target(), test, SMALL).unwrap());
        }
        let chosen = |kind: &str| chosen[kind].as_str();
        assert_eq!(chosen("point-select"), "sbtest1: type=const key=PRIMARY key_len=4 ref=const", "{product:?}");
        assert!(chosen("scan").starts_with("sbtest1: type=ALL extra=Using where"), "{}", chosen("scan"));
        assert!(chosen("points-covered-si").contains("key=k_1"), "{}", chosen("points-covered-si"));
        assert!(chosen("distinct-range").contains("Using filesort"), "{}", chosen("distinct-range"));
        assert!(chosen("update-index").contains("type=range key=PRIMARY"), "{}", chosen("update-index"));
    }
}
