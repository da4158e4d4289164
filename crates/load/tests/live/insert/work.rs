//! What the insert, the delete and each query of a step make a server do: counted exactly, and taken back.

use super::{bench, run_up_to, shape, shared, start, step};
use crate::servers::Product::{self, Mariadb, Mysql, Postgres, Rocksdb};
use rqps_load::insert::{Bench, statement_work};
use rqps_model::insert::Shape;
use rqps_model::statement_work::StatementWork;
use rqps_testkit::{LiveServer, on_each};

#[test]
fn the_work_of_inserts_deletes_and_queries_is_counted_and_taken_back() {
    on_each(&[Postgres, Mysql, Mariadb], |product| check_work(product, &shared(product)));
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_rocksdb_too_the_work_of_each_statement_is_counted_and_taken_back() {
    check_work(Rocksdb, &start(Rocksdb));
}

fn check_work(product: Product, server: &LiveServer) {
    let endpoint = server.endpoint();
    let shape = Shape { clients: 1, ..shape() };
    let bench = Bench { storage: product.storage(), ..bench(&endpoint, &shape) };
    run_up_to(&bench, "l.x");
    let before = held(product, server);
    let counted = |name: &str| statement_work(&server.target(), &shape, &step(&shape, name)).unwrap();
    assert_eq!(counted("l.i0"), [], "{product:?}: it sends inserts alone");
    let churn = counted("l.i1");
    assert_eq!(executed(&churn), [("insert", 20), ("delete", 20)], "{product:?}");
    // A batch of each.
    let written = |work, name| per_execution(work, product.either("Rows Written", name));
    assert_eq!(written(&churn[0], "status.Handler_write"), 50.0, "{product:?}");
    assert_eq!(written(&churn[1], "status.Handler_delete"), 50.0, "{product:?}");
    // PostgreSQL looks for the rows, then for each by its id, or in so small a table for all.
    let read = |work: &StatementWork| rows_read(product, work);
    assert_eq!(read(&churn[0]), 0.0, "{product:?}: {churn:?}");
    let of_delete = read(&churn[1]);
    assert!(product.either(of_delete >= 100.0, of_delete == 50.0), "{product:?}: {churn:?}");

    let queries = counted("qr500");
    let names = ["query-marketsegment", "query-registersegment", "query-pdc", "insert", "delete"];
    assert_eq!(executed(&queries), names.map(|name| (name, 20)), "{product:?}");
    // Ten rows of a range, fewer at the end of the table.
    for query in &queries[..3] {
        assert!((9.0..=10.0).contains(&read(query)), "{product:?}: {query:?}");
        assert_eq!(written(query, "status.Handler_write"), 0.0, "{product:?}: {query:?}");
    }
    assert_eq!(written(&queries[3], "status.Handler_write"), 50.0, "{product:?}");

    let point = counted("qp20");
    assert_eq!(executed(&point), [("query-point", 20), ("insert", 20), ("delete", 20)], "{product:?}");
    let found = read(&point[0]);
    assert!(found > 2.0 && found <= 10.0, "ten ids, some of them gaps: {found} on {product:?}");
    assert_eq!(written(&point[2], "status.Handler_delete"), 20.0, "{product:?}: of a batch of this rate");

    assert_eq!(held(product, server), before, "{product:?}");
    let rows = |found: &[StatementWork]| -> Vec<f64> { found.iter().map(read).collect() };
    assert_eq!(rows(&counted("qr500")), rows(&queries), "{product:?}: the same once more");
}

fn executed(found: &[StatementWork]) -> Vec<(&str, u32)> {
    found.iter().map(|one| (one.statement.as_str(), one.executions)).collect()
}

fn per_execution(work: &StatementWork, name: &str) -> f64 {
    work.counts.get(name).copied().unwrap_or(0.0) / f64::from(work.executions)
}

/// Rows that an execution reads: on MySQL and MariaDB found by a key or next to one that was.
fn rows_read(product: Product, work: &StatementWork) -> f64 {
    let names = product.either(&["Rows Scanned"][..], &["status.Handler_read_key", "status.Handler_read_next"]);
    names.iter().map(|name| per_execution(work, name)).sum()
}

/// The rows of the table, and which id comes next.
fn held(product: Product, server: &LiveServer) -> [Vec<String>; 2] {
    let sums = "SELECT count(*), sum(transactionid), sum(customerid), sum(price), min(data), max(data) FROM pi1";
    let next = product.either("SELECT last_value, is_called FROM pi1_transactionid_seq", "SHOW CREATE TABLE pi1");
    [server.ask(sums), server.ask(next)]
}
