//! What each type of transaction makes a server do: counted exactly, the same in every form, and taken back.

use super::{WAREHOUSES, forms, loaded, play, shape};
use crate::servers::{MYSQL_AND_MARIADB, Product};
use crate::warehouses::digests;
use rqps_load::program::tproc_c::statement_work;
use rqps_model::statement_work::StatementWork;
use rqps_model::tproc_c::{Form, Profile, Quirk};
use rqps_testkit::{LiveServer, on_each};

/// The types, in their order.
const TYPES: [&str; 5] = ["new-order", "payment", "delivery", "order-status", "stock-level"];

/// The lines of the orders that wait longest in the first warehouse.
const WAITING: &str = "SELECT count(*) FROM order_line JOIN \
                       (SELECT no_d_id AS d, min(no_o_id) AS o FROM new_order WHERE no_w_id = 1 GROUP BY no_d_id) w \
                       ON ol_w_id = 1 AND ol_d_id = d AND ol_o_id = o";

#[test]
fn the_work_of_each_transaction_is_counted_and_taken_back() {
    check_work(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_and_mariadb_too_the_work_of_each_transaction_is_counted_and_taken_back() {
    on_each(&MYSQL_AND_MARIADB, check_work);
}

fn check_work(product: Product) {
    let server = loaded(product, &[]);
    let before = digests(&server);
    let waiting = server.number(WAITING) as f64;
    let mut by_form = Vec::new();
    for form in forms(server.engine()) {
        let found = counted(&server, form, &[]);
        let of = |name: &str| found.iter().find(|one| one.statement == name).unwrap_or_else(|| panic!("{name} {form}"));
        let types: Vec<(&str, u32)> = found[..5].iter().map(|one| (one.statement.as_str(), one.executions)).collect();
        assert_eq!(types, TYPES.map(|name| (name, 20)), "{product:?} {form}");
        let written = TYPES.map(|name| written(product, of(name)));
        // A payment adds to warehouse, district and customer and notes it. A delivery takes ten orders from the queue,
        // and writes to each, to its lines and to its customer.
        assert_eq!(written[1..], [4.0, 30.0 + waiting, 0.0, 0.0], "{product:?} {form}: {found:?}");
        if form == Form::ClientSql {
            check_statements(product, &found, written[0], waiting);
        } else {
            assert_eq!(found.len(), 5, "a routine is one statement");
        }
        let read: f64 = read(product, of("stock-level"));
        assert!(read > 200.0, "the lines of twenty orders, and the stock of each: {read} on {product:?} {form}");
        by_form.push((form, written));
    }
    let (first, rest) = by_form.split_first().unwrap();
    for (form, written) in rest {
        assert_eq!(written[1..], first.1[1..], "{product:?}: {form} and {}", first.0);
        // The client writes an order before its lines, a routine behind them: where an item is not there, not at all.
        assert!((first.1[0] - 2.0..=first.1[0]).contains(&written[0]), "{product:?} {form}: {written:?}");
    }
    // Who draws on the server is given what the client draws, so that builds do the same.
    let routine = rest[0].0;
    let drawn = counted(&server, routine, &[Quirk::ServerDraws]);
    assert_eq!(written(product, &drawn[0]), rest[0].1[0], "{product:?}");
    assert_eq!(digests(&server), before, "{product:?}");
    let left = "SELECT count(*) FROM information_schema.routines WHERE lower(specific_name) LIKE 'rqps_work%' \
                OR lower(routine_schema) = 'rqps_work'";
    assert_eq!(server.number(left), 0, "{product:?}");
    // Routines of a run are there and end their transactions as ever.
    let shape = shape(Profile::Tpcc, server.engine(), routine, &[]);
    play(&server, &shape, 2, 23, 7).assert_counted("after counting");
    what_is_refused_is_told(&server);
}

fn counted(server: &LiveServer, form: Form, quirks: &[Quirk]) -> Vec<StatementWork> {
    statement_work(&server.target(), &shape(Profile::Tpcc, server.engine(), form, quirks), WAREHOUSES).unwrap()
}

/// Rows that an execution writes.
fn written(product: Product, work: &StatementWork) -> f64 {
    let names = product
        .either(&["Rows Written"][..], &["status.Handler_write", "status.Handler_update", "status.Handler_delete"]);
    per_execution(work, names)
}

/// Rows that an execution reads from tables.
fn read(product: Product, work: &StatementWork) -> f64 {
    let names = product.either(&["Rows Scanned"][..], &["status.Handler_read_key", "status.Handler_read_next"]);
    per_execution(work, names)
}

fn per_execution(work: &StatementWork, names: &[&str]) -> f64 {
    // Of what reads alone PostgreSQL is not asked what it wrote.
    let count = |name: &&str| work.counts.get(*name).copied().unwrap_or(0.0);
    names.iter().map(count).sum::<f64>() / f64::from(work.executions)
}

/// What the client sends is told statement by statement.
fn check_statements(product: Product, found: &[StatementWork], of_new_order: f64, waiting: f64) {
    let of = |name: &str| found.iter().find(|one| one.statement == name).unwrap_or_else(|| panic!("no {name}"));
    let lines = of("insert-line").executions;
    assert_eq!(of("update-stock").executions, lines);
    // Order, queue and district, and for each line itself and its stock.
    assert!((of_new_order - (3.0 + 2.0 * f64::from(lines) / 20.0)).abs() < 1e-9, "{product:?}");
    let executions = ["select-next-order", "insert-history", "delete-new-order", "select-low-stock"];
    assert_eq!(executions.map(|name| of(name).executions), [20, 20, 200, 20], "{product:?}");
    assert_eq!(written(product, of("update-lines")), waiting / 10.0, "{product:?}");
    assert_eq!(written(product, of("select-low-stock")), 0.0, "{product:?}");
    let by_key = |name: &str| per_execution(of(name), &[product.either("Rows Scanned", "status.Handler_read_key")]);
    for name in ["select-stock", "select-customer", "update-stock"] {
        assert_eq!(by_key(name), 1.0, "{product:?} {name}");
    }
    // One order in a hundred has an item that is not there: PostgreSQL counts the rows found, MySQL the looks.
    let there = f64::from(lines) / f64::from(of("select-item").executions);
    assert!(there <= 1.0, "{product:?}: a line needs its item: {there}");
    assert!((by_key("select-item") - product.either(there, 1.0)).abs() < 1e-9, "{product:?}: {there}");
    let borders = ["begin", "commit", "rollback", "set", "call", "results"];
    assert!(!found.iter().any(|one| borders.contains(&one.statement.as_str())), "{product:?}: {found:?}");
}

/// A type that the server refuses is told with its words; the others are counted.
fn what_is_refused_is_told(server: &LiveServer) {
    server.ask("DROP TABLE history");
    for form in forms(server.engine()) {
        let found = counted(server, form, &[]);
        let payment = found.iter().find(|one| one.statement == "payment").unwrap();
        let why = payment.untold.as_deref().unwrap_or_default();
        assert!(payment.executions == 0 && why.contains("history"), "{form}: {payment:?}");
        let others = found[..5].iter().filter(|one| one.untold.is_none() && one.executions == 20);
        assert_eq!(others.count(), 4, "{form}: {found:?}");
    }
}
