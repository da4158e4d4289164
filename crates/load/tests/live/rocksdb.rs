//! Tables of RocksDB: loaded, settled, driven and explained like those of InnoDB on the same server.

use crate::servers::Product::Rocksdb;
use crate::{SMALL, Trial, run_events, trial};
use rqps_load::plan_capture::plan_capture;
use rqps_load::prepare_data::prepare_data;
use rqps_load::work::work;
use rqps_model::StorageEngine;
use rqps_model::plan::DataShape;
use rqps_suites::{Suite, Work};
use rqps_testkit::LiveServer;
use rqps_wire::Target;

/// More than one transaction of the load.
const DATA: DataShape = DataShape { tables: 2, rows: 101_000 };

const ROCKSDB: Option<StorageEngine> = Some(StorageEngine::Rocksdb);

fn rows(server: &LiveServer, table: u32) -> Vec<String> {
    server.ask(&format!("SELECT id, k, c, pad FROM sbtest{table} ORDER BY id"))
}

#[test]
fn rocksdb_tables_hold_the_rows_of_innodb_and_come_to_rest() {
    let server = Rocksdb.start();
    prepare_data(&server.target(), DATA, 42, 2).unwrap();
    let innodb = [rows(&server, 1), rows(&server, 2)];
    let target = Target { storage: ROCKSDB, ..server.target() };
    let report = prepare_data(&target, DATA, 42, 2).unwrap();
    assert_eq!(report.left, None);
    assert_eq!([rows(&server, 1), rows(&server, 2)], innodb);
    let engine = "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_NAME LIKE 'sbtest%'";
    assert_eq!(server.ask(engine), ["ROCKSDB", "ROCKSDB"]);
    let mut session = server.session();
    session.execute("UPDATE sbtest1 SET k = k + 1 WHERE id <= 20000").unwrap();
    session.execute("DELETE FROM sbtest2 WHERE id <= 500").unwrap();
    let entries = "SELECT SUM(VALUE) FROM information_schema.ROCKSDB_CFSTATS \
                   WHERE STAT_TYPE = 'NUM_ENTRIES_ACTIVE_MEM_TABLE'";
    assert_ne!(server.ask(entries), ["0"]);
    assert_eq!(work(Work::Postwrite, &target, DATA).unwrap().left, None);
    let left: u32 = server.ask(entries)[0].parse().unwrap();
    assert!(left < 100, "the memtable was flushed: {left} entries");
    for name in Work::ALL {
        assert_eq!(work(name, &target, DATA).unwrap().left, None, "{name}");
    }
}

#[test]
fn every_test_runs_on_rocksdb_as_on_innodb() {
    let server = Rocksdb.start();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let mut seen = Vec::new();
    for storage in StorageEngine::ALL {
        let target = Target { storage: Some(storage), ..server.target() };
        prepare_data(&target, SMALL, 7, 2).unwrap();
        let mut counts = Vec::new();
        for test in &suite.tests {
            let plans = plan_capture(&target, test, SMALL).unwrap();
            assert!(plans.iter().all(|plan| plan.plan.contains("\njson:\n{")), "{plans:?}");
            let run = run_events(&trial(&suite, &test.name, &arms, 1), 5).remove(0);
            assert_eq!((run.failure.as_deref(), run.errors.len()), (None, 0), "{} on {storage}", test.name);
            counts.push((test.name.clone(), run.operations, run.rows));
        }
        seen.push((counts, rows(&server, 1)));
    }
    assert_eq!(seen[0], seen[1]);
    // Clients that meet.
    let tiny = DataShape { tables: 1, rows: 12 };
    prepare_data(&Target { storage: ROCKSDB, ..server.target() }, tiny, 1, 1).unwrap();
    let trial = Trial { data: tiny, ..trial(&suite, "write-only", &arms, 4) };
    let run = run_events(&trial, 50).remove(0);
    assert_eq!(run.failure, None);
    let known = ["1213 (40001)", "1205 (HY000)", "1062 (23000)"];
    assert!(!run.errors.is_empty() && run.errors.iter().all(|e| known.contains(&e.code.as_str())), "{:?}", run.errors);
    let failed: u64 = run.errors.iter().filter(|error| error.code == known[2]).map(|error| error.count).sum();
    assert_eq!((run.accounting.scheduled, run.accounting.failed), (200, failed));
    assert_eq!(server.ask("SELECT count(*) FROM sbtest1"), ["12"]);
}

/// Unlike InnoDB after a deadlock, RocksDB keeps what was done before: only a ROLLBACK undoes it.
#[test]
fn a_row_that_changed_since_the_snapshot_is_refused_and_the_transaction_stays_open() {
    let server = Rocksdb.start();
    let (mut session, mut other) = (server.session(), server.session());
    session.execute("CREATE TABLE two (id INT PRIMARY KEY, v INT) ENGINE=ROCKSDB").unwrap();
    session.execute("INSERT INTO two VALUES (1, 0), (2, 0)").unwrap();
    session.execute("BEGIN").unwrap();
    session.execute("UPDATE two SET v = v + 1 WHERE id = 2").unwrap();
    other.execute("UPDATE two SET v = v + 1 WHERE id = 1").unwrap();
    let refused = session.execute("UPDATE two SET v = v + 1 WHERE id = 1").unwrap_err().to_string();
    assert!(refused.contains("1213") && refused.contains("snapshot conflict"), "{refused}");
    session.execute("COMMIT").unwrap();
    assert_eq!(server.ask("SELECT v FROM two ORDER BY id"), ["1", "1"]);
}
