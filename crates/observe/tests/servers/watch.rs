//! Real servers while they are watched: numbers grow with the work, and a server that is frozen or killed leaves rows without
//! numbers and no gap.
//!
//! Rows come by the clock, so that these tests last some seconds; all they expect of time is that rows come at all.

use crate::server::start;
use rqps_live::LiveServer;
use rqps_model::StorageEngine;
use rqps_model::sample::{DiskUse, WatchRow};
use rqps_observe::{Watcher, disk_use};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const POSTGRES: [&str; 8] =
    ["checkpoints", "dead_rows", "live_rows", "log_bytes", "vacuums", "vacuums_running", "wal_bytes_kept", "wal_files"];
const INNODB: [&str; 6] =
    ["checkpoint_age_bytes", "dirty_pages", "free_pages", "history_list_length", "log_bytes", "pages_flushed"];
const ROCKSDB: [&str; 5] = ["compactions_pending", "l0_files", "log_bytes", "memtable_bytes", "stall_micros"];

/// What is expected of an engine.
struct Expected {
    names: &'static [&'static str],
    /// What makes dirty things clean.
    clean: &'static str,
    /// Names that grow from the first row to the last, and by how much at least.
    grown: &'static [(&'static str, f64)],
}

fn expected(storage: Option<StorageEngine>) -> Expected {
    match storage {
        None => Expected {
            names: &POSTGRES,
            clean: "vacuum t",
            grown: &[("log_bytes", 1e6), ("vacuums", 1.0), ("checkpoints", 1.0)],
        },
        Some(StorageEngine::Innodb) => Expected { names: &INNODB, clean: "do 0", grown: &[("log_bytes", 1e6)] },
        Some(StorageEngine::Rocksdb) => Expected {
            names: &ROCKSDB,
            clean: "set global rocksdb_force_flush_memtable_now = 1",
            grown: &[("log_bytes", 1e6)],
        },
    }
}

/// Inserts and deletes rows for so long, cleaning up now and then.
fn work(server: &LiveServer, storage: Option<StorageEngine>, seconds: f64) {
    let mut session = server.session();
    let mut run = |sql: &str| _ = session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let begun = Instant::now();
    let values = vec!["(repeat('x', 200))"; 500].join(", ");
    while begun.elapsed().as_secs_f64() < seconds {
        for _ in 0..10 {
            run(&format!("insert into t (pad) values {values}"));
        }
        run("delete from t where id % 2 = 0");
        run(expected(storage).clean);
        if storage.is_none() {
            run("checkpoint");
        }
    }
}

fn create_table(server: &LiveServer, storage: Option<StorageEngine>) {
    let sql = match storage {
        None => "create table t (id serial primary key, pad text) with (autovacuum_enabled = off)".to_owned(),
        Some(storage) => {
            format!("create table t (id int primary key auto_increment, pad varchar(200)) engine={storage}")
        }
    };
    server.session().execute(&sql).expect("created");
}

/// Ends a watcher in time, and checks that its rows have no gap.
fn ended(watcher: Watcher, spec: &str) -> Vec<WatchRow> {
    let ending = Instant::now();
    let rows = watcher.end();
    assert!(ending.elapsed() < Duration::from_millis(600), "{spec}: {:?}", ending.elapsed());
    let mut last = 0.0;
    for WatchRow { second, host, .. } in &rows {
        assert!((0.2..1.8).contains(&(second - last)), "{spec}: {rows:#?}");
        assert!((host.seconds - (second - last)).abs() < 0.2 && host.cpu_idle_s >= 0.0, "{spec}: {rows:#?}");
        last = *second;
    }
    rows
}

/// Watches a server at work: all names are there in every row, and what should grow does.
fn check_numbers(server: &LiveServer, storage: Option<StorageEngine>, spec: &str) {
    let Expected { names, grown, .. } = expected(storage);
    let watcher = Watcher::begin(&server.endpoint(), storage, &server.data_dir());
    work(server, storage, 2.3);
    let rows = ended(watcher, spec);
    assert!(rows.len() >= 2, "{spec}: {rows:#?}");
    for (at, row) in rows.iter().enumerate() {
        let mut told = row.server.clone();
        let size = told.remove("database_bytes");
        assert_eq!(size.is_some(), storage.is_none() && at == 0, "{spec}: {rows:#?}");
        assert_eq!(told.keys().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>(), "{spec}: row {at}");
    }
    let (first, last) = (&rows[0].server, &rows[rows.len() - 1].server);
    for (name, least) in grown {
        assert!(last[*name] - first[*name] >= *least, "{spec}: {name}: {rows:#?}");
    }
    let level = match storage {
        None => "live_rows",
        Some(StorageEngine::Innodb) => "checkpoint_age_bytes",
        Some(StorageEngine::Rocksdb) => "memtable_bytes",
    };
    assert!(rows.iter().any(|row| row.server[level] > 0.0), "{spec}: {rows:#?}");
}

fn check_sizes(before: DiskUse, after: DiskUse, storage: Option<StorageEngine>, spec: &str) {
    assert!((1..after.folder_bytes).contains(&after.database_bytes), "{spec}: {after:?}");
    // RocksDB gives back what it had reserved for its log when it writes its tables.
    if storage != Some(StorageEngine::Rocksdb) {
        assert!(after.database_bytes > before.database_bytes + 400_000, "{spec}: {before:?} {after:?}");
        assert!(after.folder_bytes > before.folder_bytes, "{spec}: {before:?} {after:?}");
    }
}

/// Numbers and sizes of a build.
fn check(spec: &str, storage: Option<StorageEngine>) {
    watched(&start(spec, storage), spec, storage);
}

fn watched(server: &LiveServer, spec: &str, storage: Option<StorageEngine>) {
    create_table(server, storage);
    let size = || disk_use(&server.endpoint(), storage, &server.data_dir()).expect("a size");
    let before = size();
    check_numbers(server, storage, spec);
    check_sizes(before, size(), storage, spec);
}

/// Numbers and sizes, then a freeze, then death.
fn check_to_the_end(spec: &str, storage: Option<StorageEngine>) {
    let server = &start(spec, storage);
    watched(server, spec, storage);

    let watcher = Watcher::begin(&server.endpoint(), storage, &server.data_dir());
    work(server, storage, 1.2);
    server.signal_all(Signal::STOP);
    std::thread::sleep(Duration::from_millis(2500));
    server.signal_all(Signal::CONT);
    work(server, storage, 1.3);
    server.signal_all(Signal::STOP);
    std::thread::sleep(Duration::from_millis(1100));
    let rows = ended(watcher, spec);
    server.signal_all(Signal::CONT);
    let told: Vec<bool> = rows.iter().map(|row| !row.server.is_empty()).collect();
    let is_there = |at: usize| told.get(at) == Some(&true);
    assert!(is_there(0) && told.last() == Some(&false), "{spec}: {told:?}");
    let thawed = (1..told.len()).find(|&at| is_there(at) && !is_there(at - 1)).expect("told again");
    assert!(told[1..thawed].iter().filter(|told| !**told).count() >= 2, "{spec}: {told:?}");

    let watcher = Watcher::begin(&server.endpoint(), storage, &server.data_dir());
    work(server, storage, 1.2);
    server.kill_all();
    std::thread::sleep(Duration::from_millis(1200));
    let rows = ended(watcher, spec);
    assert!(!rows[0].server.is_empty() && rows[rows.len() - 1].server.is_empty(), "{spec}: {rows:#?}");
    let gone = disk_use(&server.endpoint(), storage, &server.data_dir());
    assert_eq!(gone.is_ok(), storage.is_some(), "{spec}: {gone:?}");
}

#[test]
fn postgres_is_watched_to_its_end() {
    check_to_the_end("postgres:17.11", None);
}

#[test]
fn mysql_is_watched_to_its_end() {
    check_to_the_end("mysql:8.0.15", Some(StorageEngine::Innodb));
}

#[test]
fn mariadb_and_rocksdb_tell_their_numbers() {
    check("mariadb:10.2.11", Some(StorageEngine::Innodb));
    check("mariadb:10.11.18", Some(StorageEngine::Rocksdb));
}

#[test]
#[ignore = "these builds are 2 GB"]
fn every_other_release_tells_its_numbers() {
    for version in ["12.22", "13.23", "14.24", "15.19", "16.15", "18.6"] {
        check(&format!("postgres:{version}"), None);
    }
    for version in ["5.5.34", "5.6.14", "5.7.22", "8.0.33"] {
        check(&format!("mysql:{version}"), Some(StorageEngine::Innodb));
    }
    for version in ["10.1.23", "10.5.23", "10.11.18", "11.4.5", "11.8.6"] {
        check(&format!("mariadb:{version}"), Some(StorageEngine::Innodb));
    }
}
