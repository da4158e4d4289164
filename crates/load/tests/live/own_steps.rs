//! The user's tests of several steps, of which some keep columns of their answers for those behind them.

use crate::servers::{ENGINES, MYSQL_AND_MARIADB, Product};
use rqps_load::suite::Inputs;
use rqps_load::{own_plans, own_statement_work};
use rqps_model::Engine;
use rqps_model::own::{AnswersCheck, Own, OwnData, OwnStep, OwnTest, Protocol, Steps, Values, Work};
use rqps_testkit::{LiveServer, PATIENCE, on_each};
use std::time::Instant;

/// A test of these steps: name, statement, and what is kept.
fn own(steps: &[(&str, &str, &[&str])], protocol: Protocol) -> Own {
    let step = |(name, sql, keep): &(&str, &str, &[&str])| OwnStep {
        name: (*name).to_owned(),
        sql: Engine::ALL.into_iter().map(|engine| (engine, (*sql).to_owned())).collect(),
        keep: keep.iter().map(|column| (*column).to_owned()).collect(),
        rows: None,
    };
    let steps = Steps { steps: steps.iter().map(step).collect(), transaction: true };
    let customer = serde_json::from_str(r#"{"constant": 7}"#).unwrap();
    Own {
        name: "steps".to_owned(),
        data: OwnData::default(),
        values: [("customer".to_owned(), Values::Drawn(Box::new(customer)))].into(),
        tests: vec![OwnTest { writes: true, ..OwnTest::new("buy", Work::Steps(steps), protocol) }],
        answers: AnswersCheck::OFF,
    }
}

/// A server with customers, each of which names the next, and no orders.
fn server(product: Product) -> LiveServer {
    let server = product.start();
    let mut session = server.session();
    let id = product.either("serial", "int AUTO_INCREMENT");
    session.execute("CREATE TABLE customers (id int PRIMARY KEY, next int NOT NULL, credit int NOT NULL)").unwrap();
    let orders = format!("CREATE TABLE orders (id {id} PRIMARY KEY, customer int NOT NULL, total int NOT NULL)");
    session.execute(&orders).unwrap();
    let rows: Vec<String> = (1..=5000).map(|id| format!("({id}, {}, 100)", id + 1)).collect();
    session.execute(&format!("INSERT INTO customers VALUES {}", rows.join(", "))).unwrap();
    session.execute(product.either("ANALYZE customers", "ANALYZE TABLE customers")).unwrap();
    server
}

const FIND: (&str, &str, &[&str]) =
    ("find", "SELECT next, credit FROM customers WHERE id = :customer FOR UPDATE", &["credit", "next"]);
const PUT: (&str, &str) = ("put", "INSERT INTO orders (customer, total) VALUES (:customer, :find.credit)");

/// Kinds and plans of the statements, or why there are none.
fn plans(server: &LiveServer, own: &Own) -> Result<Vec<(String, String)>, String> {
    let found = own_plans(&server.target(), own, &own.tests[0], &Inputs::default());
    let told =
        |found: Vec<_>| found.into_iter().map(|plan: rqps_model::facts::StatementPlan| (plan.statement, plan.plan));
    found.map(|found| told(found).collect()).map_err(|error| error.to_string())
}

#[test]
fn a_step_that_keeps_may_need_what_steps_before_it_did_and_returned() {
    on_each(&ENGINES, |product| {
        let server = server(product);
        let returning = format!("{} RETURNING id", PUT.1);
        let (put, keeps): (&str, &[&str]) = product.either((&returning, &["id"]), (PUT.1, &[]));
        let last = product.either("SELECT lastval() AS id", "SELECT last_insert_id() AS id");
        // MariaDB of this age returns no other rows than deleted ones.
        let take = match server.engine() {
            Engine::Mysql => ("take", "SELECT 4000 AS was", &["was"][..]),
            _ => ("take", "DELETE FROM customers WHERE id = :customer + 1 RETURNING id, id AS was", &["was"][..]),
        };
        let raise = "UPDATE customers SET credit = credit - 1 WHERE id = :last.id OR id = :take.was";
        let steps = [FIND, (PUT.0, put, keeps), ("last", last, &["id"]), take, ("raise", raise, &[])];
        for protocol in Protocol::ALL {
            if protocol == Protocol::Extended && product != Product::Postgres {
                continue;
            }
            let found = plans(&server, &own(&steps, protocol)).unwrap();
            let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
            assert_eq!(kinds, ["find", "put", "last", "take", "raise"], "{product:?} {protocol}");
        }
        assert_eq!(server.number("SELECT count(*) FROM orders"), 0, "{product:?}");
        assert_eq!(server.number("SELECT sum(credit) FROM customers"), 500_000, "{product:?}");
        let wrong = own(&[(FIND.0, FIND.1, &["region"])], Protocol::Prepared);
        let told = plans(&server, &wrong).unwrap_err();
        assert!(told.contains("`find` keeps `region`, and its answer has only next, credit"), "{product:?}: {told}");
        let wrong = own(&[(PUT.0, "DELETE FROM orders", &["id"])], Protocol::Prepared);
        let told = plans(&server, &wrong).unwrap_err();
        assert!(told.contains("`put` keeps `id`, and its answer has no columns"), "{product:?}: {told}");
    });
}

#[test]
fn asking_for_columns_waits_for_locks_no_longer_than_a_statement_may() {
    on_each(&ENGINES, |product| {
        let server = server(product);
        let mut other = server.session();
        let lock = product.either("BEGIN; LOCK TABLE customers", "LOCK TABLES customers WRITE");
        other.execute(lock).unwrap();
        let mut own = own(&[FIND], Protocol::Prepared);
        own.tests[0].timeout_seconds = 1.0;
        let begun = Instant::now();
        let told = plans(&server, &own);
        assert!(told.is_err() || product != Product::Postgres, "{product:?}: {told:?}");
        assert!(begun.elapsed() < PATIENCE, "{product:?}: {:?}", begun.elapsed());
    });
}

#[test]
fn a_step_is_planned_with_what_those_before_it_returned() {
    on_each(&ENGINES, |product| {
        let server = server(product);
        let next = "SELECT credit FROM customers WHERE id = :find.next";
        let later = "SELECT credit FROM customers WHERE id = :next.credit";
        let steps = [FIND, ("next", next, &["credit"]), (PUT.0, PUT.1, &[]), ("later", later, &[])];
        let by_key = product.either("Index Scan using customers_pkey", "PRIMARY");
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let found = plans(&server, &own(&steps, protocol)).unwrap();
            for (kind, plan) in [&found[0], &found[1], &found[3]] {
                assert!(plan.contains(by_key), "{product:?} {protocol}: {kind}: {plan}");
            }
        }
        let nobody = ("find", "SELECT next FROM customers WHERE id = -:customer", &["next"][..]);
        let found = plans(&server, &own(&[nobody, ("next", next, &[])], Protocol::Simple)).unwrap();
        let lacks = "not told: what it needs of an earlier statement is NULL with the values that were drawn";
        assert_eq!(found[1].1, lacks, "{product:?}");
        let refused = ("find", "SELECT next FROM customers WHERE id = (SELECT id FROM customers)", &["next"][..]);
        let steps = [refused, ("next", next, &[]), ("good", "SELECT credit FROM customers WHERE id = 1", &[])];
        let found = plans(&server, &own(&steps, Protocol::Simple)).unwrap();
        assert!(found[1].1.starts_with("not told: it needs what is known after `find`, which failed: "), "{found:?}");
        assert!(found[2].1.contains(by_key), "{product:?}: {found:?}");
        assert_eq!(server.number("SELECT count(*) FROM orders"), 0, "{product:?}");
    });
}

#[test]
fn what_cannot_be_taken_back_is_not_executed_for_plans() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = server(product);
        let empty = ("empty", "TRUNCATE TABLE customers", &[][..]);
        let found = plans(&server, &own(&[empty, FIND, (PUT.0, PUT.1, &[])], Protocol::Simple)).unwrap();
        assert_eq!(found[2].1, "not told: it needs what is known after a TRUNCATE, which could not be taken back");
        assert_eq!(server.number("SELECT count(*) FROM customers"), 5000, "{product:?}");
    });
}

#[test]
fn a_step_that_takes_too_long_leaves_later_plans_untold() {
    on_each(&ENGINES, |product| {
        let server = server(product);
        // MySQL keeps no time-out of writes: rqps does.
        let hang = "UPDATE customers SET credit = credit + SLEEP(600) WHERE id = 1";
        let slow = ("slow", product.either("SELECT pg_sleep(600)", hang), &[][..]);
        let next = ("next", "SELECT credit FROM customers WHERE id = :find.next", &[][..]);
        let mut own = own(&[slow, FIND, next], Protocol::Simple);
        own.tests[0].timeout_seconds = 1.0;
        let begun = Instant::now();
        let found = plans(&server, &own).unwrap();
        assert!(begun.elapsed() < PATIENCE, "{product:?}: {:?}", begun.elapsed());
        assert!(found[2].1.starts_with("not told: "), "{product:?}: {found:?}");
        assert!(found[1].1.contains(product.either("Index Scan", "PRIMARY")), "{product:?}: {found:?}");
        assert_eq!(server.number("SELECT sum(credit) FROM customers"), 500_000, "{product:?}");
    });
}

#[test]
fn the_work_of_each_step_is_counted_and_leaves_the_rows_as_they_are() {
    on_each(&ENGINES, |product| {
        let server = server(product);
        let raise = ("raise", "UPDATE customers SET credit = credit - 1 WHERE id = :find.next", &[][..]);
        let steps = [FIND, (PUT.0, PUT.1, &[]), raise];
        let counted = |steps: &[(&str, &str, &[&str])], protocol| {
            let own = own(steps, protocol);
            own_statement_work(&server.target(), &own, &own.tests[0], &Inputs::default()).unwrap()
        };
        for protocol in Protocol::ALL {
            if protocol == Protocol::Extended && product != Product::Postgres {
                continue;
            }
            let found = counted(&steps, protocol);
            let executed: Vec<(&str, u32)> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
            assert_eq!(executed, [("find", 20), ("put", 20), ("raise", 20)], "{product:?} {protocol}");
            let count = product.either("Rows Scanned", "status.Handler_read_key");
            assert_eq!(
                (found[0].counts[count], found[2].counts[count]),
                (20.0, 20.0),
                "{product:?} {protocol}: {found:?}"
            );
            let written = product.either("WAL Records", "status.Handler_write");
            assert!(found[1].counts[written] >= 20.0, "{product:?} {protocol}: {found:?}");
        }
        assert_eq!(server.number("SELECT count(*) FROM orders"), 0, "{product:?}");
        assert_eq!(server.number("SELECT sum(credit) FROM customers"), 500_000, "{product:?}");
        // Borders of a transaction are not executed: each event is in one of its own.
        let found = counted(&[("begin", "BEGIN", &[]), FIND, steps[1], ("end", "COMMIT", &[])], Protocol::Prepared);
        let executed: Vec<(&str, u32)> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
        assert_eq!(executed, [("find", 20), ("put", 20)], "{product:?}");
        // What would stay is not executed, and said; PostgreSQL takes it back, and what has no plan is not counted.
        let no_plan = ("note", product.either("SET work_mem = '4MB'", "SET @noted = 1"), &[][..]);
        let found = counted(&[FIND, no_plan], Protocol::Prepared);
        let told: Vec<_> = found.iter().map(|one| (one.statement.as_str(), one.untold.as_deref())).collect();
        let stays = "`note` is not executed before the test: no ROLLBACK takes back SET";
        assert_eq!(told, [product.either(("find", None), ("buy", Some(stays)))], "{product:?}");
    });
}

#[test]
fn why_a_server_refuses_an_event_is_told_in_the_place_of_its_work() {
    let again = ("again", "INSERT INTO customers VALUES (:customer, 1, 1)", "uplicate ");
    let unknown = ("unknown", "SELECT region FROM customers WHERE id = :find.next", "region");
    on_each(&ENGINES, |product| {
        let server = server(product);
        let counted =
            |own: &Own, test: &OwnTest| own_statement_work(&server.target(), own, test, &Inputs::default()).unwrap();
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            for (name, sql, words) in [again, unknown] {
                let mut own = own(&[FIND, (name, sql, &[])], protocol);
                own.tests.extend(self::own(&[FIND, (PUT.0, PUT.1, &[])], protocol).tests);
                own.tests[1].name = "look".to_owned();
                let mix = ["buy", "look"].map(|name| (name.to_owned(), 1));
                let mix = OwnTest::new("mix", Work::Mix(mix.into()), protocol);
                let alone = (counted(&own, &own.tests[0]), name.to_owned(), &[("buy", 0)][..]);
                // Others are counted all the same.
                let others = &[("buy", 0), ("look.find", 20), ("look.put", 20)][..];
                let mixed = (counted(&own, &mix), format!("buy.{name}"), others);
                for (found, statement, expected) in [alone, mixed] {
                    let executed: Vec<_> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
                    assert_eq!(executed, expected, "{product:?} {protocol}");
                    let why = found[0].untold.as_deref().unwrap_or_default();
                    let is_named = why.starts_with(&format!("executing `{statement}`: ERROR "));
                    assert!(is_named && why.contains(words), "{product:?} {protocol}: {why}");
                }
            }
        }
        assert_eq!(server.number("SELECT count(*) FROM orders"), 0, "{product:?}");
    });
}
