//! Counters of real servers of MySQL and MariaDB: they tell what was done, on every version, and nothing else.
//!
//! PostgreSQL's are read beside its own reader.

use crate::server::start;
use rqps_model::StorageEngine;
use rqps_observe::counters::{Counters, changes, drop_idle};
use rqps_observe::engine::{read_counters, storage_engine};
use rqps_wire::Protocol;

/// Inserts 8192 rows between two readings, and checks that they are counted: `names` by at least so much.
fn check(spec: &str, storage: StorageEngine, names: &[(&str, f64)]) {
    let server = start(spec, Some(storage));
    let (mut reader, mut writer) = (server.session(), server.session());
    let mut run = |sql: &str| _ = writer.execute(sql).unwrap_or_else(|error| panic!("{spec}: {error}"));
    run(&format!("create table t (id int primary key auto_increment, pad varchar(200)) engine={storage}"));
    run("insert into t (pad) values (repeat('x', 200))");
    assert_eq!(storage_engine(&mut reader, Protocol::Mysql).expect("told"), storage.name(), "{spec}");
    let mut before = read_counters(&mut reader, Protocol::Mysql).expect("counters");
    for _ in 0..13 {
        run("insert into t (pad) select pad from t");
    }
    run("analyze table t");
    run("select count(*) from t where pad like 'y%'");
    let mut after = read_counters(&mut reader, Protocol::Mysql).expect("counters");
    let changed = changes(&before, &after);
    let common =
        [("status.Handler_write", 8000.0), ("status.Com_insert_select", 13.0), ("tables.estimated_rows", 4000.0)];
    for (name, least) in common.iter().chain(names) {
        assert!(changed.get(*name).is_some_and(|change| change >= least), "{spec}: {name}: {changed:#?}");
    }
    assert!(!after.contains_key("status.Uptime") && after.values().all(|value| value.is_finite()), "{spec}");
    assert_views(spec, storage, &after);
    let is_on = reader.query("select @@performance_schema").expect("told").rows[0][0].as_deref() == Some("1");
    let waited = changed.iter().any(|(name, us)| name.starts_with("wait_micros.io/file/") && *us > 0.0);
    assert_eq!(waited, is_on, "{spec}: {changed:#?}");
    drop_idle(&mut before, &mut after);
    assert_eq!(changes(&before, &after), changed, "{spec}");
    assert!(after.len() < 300, "{spec}: {} counters in use", after.len());
}

/// Every source of numbers that a server has was read.
fn assert_views(spec: &str, storage: StorageEngine, counters: &Counters) {
    let is_old = spec.contains(":5.5");
    let has_sizes = !is_old && !spec.contains(":5.6");
    let has = |name: &str, expected: bool| assert_eq!(counters.contains_key(name), expected, "{spec}: {name}");
    has("innodb_status.history_list_length", true);
    has("innodb_status.checkpoint_age_bytes", true);
    has("innodb_metrics.trx_rseg_history_len", !is_old);
    has("tablespaces.file_bytes", has_sizes && storage == StorageEngine::Innodb);
    let rocksdb = storage == StorageEngine::Rocksdb;
    has("status.Rocksdb_rows_inserted", rocksdb);
    has("rocksdb_cfstats.CUR_SIZE_ACTIVE_MEM_TABLE", rocksdb);
    has("rocksdb_dbstats.DB_BLOCK_CACHE_USAGE", rocksdb);
}

/// What InnoDB tells of the rows on every version.
const INNODB: [(&str, f64); 3] = [
    ("status.Innodb_buffer_pool_write_requests", 8000.0),
    ("innodb_status.log_sequence_number", 1e6),
    ("tables.data_bytes", 1e6),
];

#[test]
fn the_smallest_builds_tell_what_was_done() {
    for spec in ["mysql:5.7.22", "mariadb:10.2.11"] {
        check(spec, StorageEngine::Innodb, &[&INNODB[..], &[("tablespaces.file_bytes", 1e6)]].concat());
    }
}

#[test]
fn rocksdb_tells_what_was_done() {
    let names = [("status.Rocksdb_rows_inserted", 8000.0), ("status.Rocksdb_bytes_written", 1e6)];
    check("mariadb:10.11.18", StorageEngine::Rocksdb, &names);
}

#[test]
#[ignore = "these builds are 1.4 GB"]
fn every_other_release_tells_what_was_done() {
    let large = ["mysql:5.5.34", "mysql:5.6.14", "mysql:8.0.15", "mysql:8.0.33", "mariadb:10.11.5", "mariadb:11.4.5"];
    for spec in large {
        check(spec, StorageEngine::Innodb, &INNODB);
    }
}
