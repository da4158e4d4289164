//! What the loop sends, as the servers count it and as their logs have it; what it allocates; and the plans of its
//! statements.

use crate::servers::Product::{self, Mariadb, Mysql, Postgres};
use crate::servers::{ENGINES, executed};
use crate::{SMALL, Trial, run_events, trial};
use rqps_load::plan_capture::plan_capture;
use rqps_load::prepare_data::prepare_data;
use rqps_load::program::sysbench::statement_work;
use rqps_load::random::derive_seed;
use rqps_model::statement_work::StatementWork;
use rqps_suites::{Suite, Test};
use rqps_testkit::{LiveServer, on_each};
use std::collections::BTreeMap;

/// A server of its own with the tables of the suite.
fn with_rows(product: Product) -> LiveServer {
    let server = product.start();
    prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    server
}

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
    let server = with_rows(Postgres);
    server.session().execute("CREATE EXTENSION pg_stat_statements").unwrap();
    let suite = Suite::sysbench();
    // BEGIN and COMMIT are counted in the log: pg_stat_statements up to 16 sees a prepared one only the first time.
    let arms = [server.endpoint_with("log_statement", "all")];
    for test in &suite.tests {
        server.ask("SELECT pg_stat_statements_reset()");
        let logged = server.log().len();
        let arm = run_events(&trial(&suite, &test.name, &arms, CLIENTS), EVENTS).remove(0);
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
    let [postgres, mysql, mariadb] = [Postgres, Mysql, Mariadb].map(Product::start);
    let arms = [postgres.endpoint_with("log_statement", "all"), mysql.endpoint(), mariadb.endpoint()];
    for server in [&postgres, &mysql, &mariadb] {
        prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    }
    let suite = Suite::sysbench();
    for test in &suite.tests {
        let logged = postgres.log().len();
        let mut runs = Vec::new();
        let mut on_mysql = Vec::new();
        let on_mariadb = executed(&mariadb, || {
            on_mysql = executed(&mysql, || {
                // A seed of its own for each test, as in a campaign: MySQL counts no row that is set to what it was.
                let trial = Trial { seed: derive_seed(11, &test.name), ..trial(&suite, &test.name, &arms, 1) };
                runs = run_events(&trial, EVENTS);
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
        for server in [&mysql, &mariadb] {
            assert_eq!(trimmed(server.ask(&sums(table))), trimmed(postgres.ask(&sums(table))));
        }
    }
}

#[test]
fn more_events_allocate_no_more() {
    let suite = Suite::sysbench();
    on_each(&ENGINES, |product| {
        let server = with_rows(product);
        let arms = [server.endpoint()];
        let allocations = |test: &Test, clients, events| {
            let measured = allocation_counter::measure(|| {
                let arm = run_events(&trial(&suite, &test.name, &arms, clients), events).remove(0);
                assert_eq!(arm.accounting.succeeded, u64::from(clients * events), "{}", test.name);
            });
            measured.count_total
        };
        for test in suite.tests.iter().filter(|test| !test.name.contains(".pre")) {
            // Clients that write may meet, and errors do allocate.
            for clients in if test.writes { 1..=1 } else { 1..=3 }.step_by(2) {
                // Everything around the events is the same in both, so any difference comes from them. A session's
                // first replies that arrive in pieces, early or late, make it keep a buffer, of 8, 16, 32 bytes, from
                // then on.
                let (few, many) = (allocations(test, clients, 20), allocations(test, clients, 60));
                assert!(
                    many.abs_diff(few) <= u64::from(4 * clients),
                    "{} with {clients} clients: {few}, {many}",
                    test.name
                );
            }
        }
    });
}

#[test]
fn every_statement_has_its_plan() {
    let suite = Suite::sysbench();
    on_each(&ENGINES, |product| {
        let server = with_rows(product);
        let plans = |test: &Test| {
            let mut found = plan_capture(&server.target(), test, SMALL).unwrap();
            // What planning took differs each time.
            for plan in &mut found {
                assert_eq!(plan.planning_us.take().is_some(), product.either(true, false), "{plan:?}");
            }
            found
        };
        for test in &suite.tests {
            let found = plans(test);
            assert_eq!(found.len(), test.kinds.len());
            for (plan, kind) in found.iter().zip(&test.kinds) {
                assert_eq!(plan.statement, kind.kind);
                let is_whole = product.either(
                    plan.plan.contains("sbtest1") && plan.plan.contains("cost="),
                    (plan.plan.starts_with("sbtest1: type=") || plan.plan.starts_with("no table"))
                        && plan.plan.contains("\njson:\n{")
                        && !plan.plan.contains("not told"),
                );
                assert!(is_whole, "{plan:?}");
            }
            assert_eq!(found, plans(test));
        }
        // In PostgreSQL after five custom plans a point query settles on the generic one, which shows the parameter.
        let expected = product.either(
            &[
                ("point-query", 0, "Index Cond: (id = $1)"),
                ("read-only-distinct", 1, "Unique"),
                ("scan", 0, "Seq Scan"),
            ][..],
            &[
                ("point-query", 0, "sbtest1: type=const key=PRIMARY key_len=4 ref=const\n"),
                ("scan", 0, "sbtest1: type=ALL extra=Using where"),
                ("points-covered-si", 0, "key=k_1"),
                ("read-only-distinct", 1, "Using filesort"),
                ("update-index", 0, "type=range key=PRIMARY"),
            ],
        );
        for (name, statement, words) in expected {
            let found = plans(suite.test(name).unwrap()).remove(*statement).plan;
            assert!(found.contains(words), "{name}: {found}");
        }
    });
}

#[test]
fn the_work_of_each_statement_is_counted_and_leaves_the_rows_as_they_are() {
    let suite = Suite::sysbench();
    on_each(&ENGINES, |product| {
        let server = with_rows(product);
        let sums = "SELECT count(*), sum(id), sum(k), min(c), max(c) FROM sbtest1";
        let before = server.ask(sums);
        let test = suite.test("read-write_range=10").unwrap();
        let counted = || statement_work(&server.target(), test, SMALL).unwrap();
        let found = counted();
        let expected = test.kinds.iter().map(|kind| {
            let in_event = test.sequence.iter().filter(|index| test.kinds[**index].kind == kind.kind).count() as u32;
            (kind.kind.as_str(), 20 * in_event)
        });
        let executed: Vec<(&str, u32)> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
        assert_eq!(executed, expected.collect::<Vec<_>>(), "{product:?}");
        let per_execution = |statement: &str, count: &str| {
            let one = found.iter().find(|one| one.statement == statement).unwrap();
            let amount = one.counts.get(count).unwrap_or_else(|| panic!("{count} in {one:?}"));
            amount / f64::from(one.executions)
        };
        let expected = product.either(
            [
                ("point-select", "Rows Scanned", 1.0),
                ("point-select", "WAL Records", 0.0),
                ("sum-range", "Actual Rows", 1.0),
                ("update-index", "Rows Scanned", 1.0),
            ],
            [
                ("point-select", "status.Handler_read_key", 1.0),
                ("point-select", "status.Handler_update", 0.0),
                ("update-index", "status.Handler_update", 1.0),
                ("delete", "status.Handler_delete", 1.0),
            ],
        );
        for (statement, count, amount) in expected {
            assert_eq!(per_execution(statement, count), amount, "{statement}: {count} on {product:?}");
        }
        if product == Product::Postgres {
            assert!(per_execution("insert-deleted", "WAL Bytes") > 200.0, "a row of 200 bytes and its index entries");
            assert!(per_execution("sum-range", "Rows Scanned") > 8.0, "ten rows, but at the end of the table");
        }
        assert_eq!(server.ask(sums), before, "{product:?}");
        // In another session it is the same, but for pages and WAL, where dead rows lie in the way now.
        let lasting = |found: Vec<StatementWork>| -> Vec<(String, BTreeMap<String, f64>)> {
            let is_lasting = |name: &String| product != Product::Postgres || name.contains("Rows");
            let counts = |one: StatementWork| one.counts.into_iter().filter(|(name, _)| is_lasting(name)).collect();
            found.into_iter().map(|one| (one.statement.clone(), counts(one))).collect()
        };
        assert_eq!(lasting(counted()), lasting(found.clone()), "{product:?}");
    });
}
