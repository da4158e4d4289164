//! Real servers while they are watched: numbers grow with the work, and a server that is frozen or killed leaves rows
//! without numbers and no gap.
//!
//! Rows come by the clock, so that these tests last some seconds. They wait for what must come rather than for a while:
//! a busy machine, or a server at work on one, may be late.

use crate::server::start;
use rqps_model::StorageEngine;
use rqps_model::sample::{DiskUse, MonitorRow};
use rqps_observe::{Monitor, MonitorSink, disk_use};
use rqps_testkit::{LiveServer, PATIENCE};
use rustix::process::Signal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const POSTGRES: [&str; 9] = [
    "checkpoints",
    "dead_rows",
    "live_rows",
    "log_bytes",
    "planning_us_oldest",
    "vacuums",
    "vacuums_running",
    "wal_bytes_kept",
    "wal_files",
];
const INNODB: [&str; 6] =
    ["checkpoint_age_bytes", "dirty_pages", "free_pages", "history_list_length", "log_bytes", "pages_flushed"];
const ROCKSDB: [&str; 5] = ["compactions_pending", "l0_files", "log_bytes", "memtable_bytes", "stall_micros"];

/// Whose planning is timed; MySQL and MariaDB tell no such time.
fn planned() -> [(&'static str, String); 1] {
    [("oldest", "select min(id) from t".to_owned())]
}

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

/// A monitor, and the rows that it has given away: all but the last, into which the server's answer may still come.
struct Watcher {
    monitor: Monitor,
    rows: Arc<Mutex<Vec<MonitorRow>>>,
}

impl Watcher {
    fn begin(server: &LiveServer, storage: Option<StorageEngine>) -> Watcher {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let given = Arc::clone(&rows);
        let sink = MonitorSink::to(move |row: &MonitorRow| given.lock().expect("whole").push(row.clone()));
        Watcher { monitor: Monitor::begin(&server.endpoint(), storage, &server.data_dir(), &planned(), sink), rows }
    }

    fn rows(&self) -> Vec<MonitorRow> {
        self.rows.lock().expect("whole").clone()
    }

    /// All rows.
    fn end(self) -> Vec<MonitorRow> {
        self.monitor.end();
        std::mem::take(&mut *self.rows.lock().expect("whole"))
    }
}

/// Inserts and deletes rows, cleaning up now and then, until the rows so far are as wanted.
fn work(
    server: &LiveServer,
    storage: Option<StorageEngine>,
    watcher: &Watcher,
    wanted: impl Fn(&[MonitorRow]) -> bool,
) {
    let mut session = server.session();
    let mut run = |sql: &str| _ = session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let values = vec!["(repeat('x', 200))"; 500].join(", ");
    until(watcher, wanted, || {
        for _ in 0..10 {
            run(&format!("insert into t (pad) values {values}"));
        }
        run("delete from t where id % 2 = 0");
        run(expected(storage).clean);
        if storage.is_none() {
            run("checkpoint");
        }
    });
}

/// Waits for so many more rows.
fn wait_for_rows(watcher: &Watcher, more: usize) {
    let enough = watcher.rows().len() + more;
    until(watcher, |rows| rows.len() >= enough, || std::thread::sleep(Duration::from_millis(10)));
}

/// Does something, again and again, until the rows so far are as wanted.
fn until(watcher: &Watcher, wanted: impl Fn(&[MonitorRow]) -> bool, mut meanwhile: impl FnMut()) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        meanwhile();
        let rows = watcher.rows();
        if wanted(&rows) {
            return;
        }
        assert!(Instant::now() < deadline, "waited in vain: {rows:#?}");
    }
}

/// The numbers of the rows that the server has told some of.
fn told(rows: &[MonitorRow]) -> Vec<usize> {
    (0..rows.len()).filter(|&at| !rows[at].server.is_empty()).collect()
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

/// Ends a watcher, and checks that its rows have no gap: each is of a second of its own, with all that the host did
/// since the last.
fn ended(watcher: Watcher, spec: &str) -> Vec<MonitorRow> {
    let rows = watcher.end();
    let mut last = 0.0;
    for (at, MonitorRow { second, host, .. }) in rows.iter().enumerate() {
        assert!(second.floor() > last && host.cpu_idle_s >= 0.0, "{spec}: {rows:#?}");
        // The thread that reads begins a little after the watcher.
        let since_last = second - if at == 0 { second - host.seconds } else { last };
        assert!((host.seconds - since_last).abs() < 1e-6 && host.seconds <= *second, "{spec}: {rows:#?}");
        // A second is left out only where the machine had next to no time for us.
        assert!(host.seconds < 2.0 || host.cpu_idle_s < host.seconds, "{spec}: {rows:#?}");
        last = *second;
    }
    rows
}

/// Watches a server at work: all names are there in every row that it told, and what should grow does.
fn check_numbers(server: &LiveServer, storage: Option<StorageEngine>, spec: &str) {
    let Expected { names, grown, .. } = expected(storage);
    let level = match storage {
        None => "live_rows",
        Some(StorageEngine::Innodb) => "checkpoint_age_bytes",
        Some(StorageEngine::Rocksdb) => "memtable_bytes",
    };
    let number = |row: &MonitorRow, name: &str| row.server.get(name).copied().unwrap_or(f64::NAN);
    let watcher = Watcher::begin(server, storage);
    work(server, storage, &watcher, |rows| {
        let told = told(rows);
        let [first, .., last] = told[..] else { return false };
        let has_grown = |(name, least): &(&str, f64)| number(&rows[last], name) - number(&rows[first], name) >= *least;
        grown.iter().all(has_grown) && rows.iter().any(|row| number(row, level) > 0.0)
    });
    let rows = ended(watcher, spec);
    for at in told(&rows) {
        let mut told = rows[at].server.clone();
        let size = told.remove("database_bytes");
        // Asked with the first row, whose answer may have come too late for it, and with each tenth after.
        let is_asked = storage.is_none() && at % 10 == 0;
        assert!(size.is_none() || storage.is_none(), "{spec}: {rows:#?}");
        assert!(at > 9 || size.is_some() == is_asked, "{spec}: {rows:#?}");
        assert_eq!(told.keys().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>(), "{spec}: row {at}");
    }
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
    let is_told = |rows: &[MonitorRow]| !told(rows).is_empty();

    let watcher = Watcher::begin(server, storage);
    work(server, storage, &watcher, is_told);
    server.signal_all(Signal::STOP);
    wait_for_rows(&watcher, 4);
    let thawed = watcher.rows().len();
    server.signal_all(Signal::CONT);
    work(server, storage, &watcher, |rows| is_told(&rows[thawed..]));
    server.signal_all(Signal::STOP);
    wait_for_rows(&watcher, 2);
    // Its answer cannot be waited for.
    let rows = ended(watcher, spec);
    server.signal_all(Signal::CONT);
    // What was on its way when it froze may have come into the next row, and what it answered to that came too late.
    let told_rows = told(&rows);
    assert!(told_rows.iter().all(|at| !(thawed - 2..thawed).contains(at)), "{spec}: {told_rows:?}, thawed at {thawed}");
    assert!(!told_rows.contains(&(rows.len() - 1)), "{spec}: {told_rows:?} of {}", rows.len());

    let watcher = Watcher::begin(server, storage);
    work(server, storage, &watcher, is_told);
    server.kill_all();
    wait_for_rows(&watcher, 2);
    let rows = ended(watcher, spec);
    assert!(is_told(&rows) && rows[rows.len() - 1].server.is_empty(), "{spec}: {rows:#?}");
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

#[test]
#[ignore = "temporary"]
fn temporary_memory() {
    let server = start("postgres:17.11", None);
    create_table(&server, None);
    let sink = MonitorSink::to(|row: &MonitorRow| drop(rqps_model::Part::lines("x", std::slice::from_ref(row))));
    let _monitor = Monitor::begin(&server.endpoint(), None, &server.data_dir(), &[], sink);
    for minute in 0..40 {
        std::thread::sleep(Duration::from_secs(30));
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("read");
        let mut anonymous = 0;
        for line in smaps.lines().filter(|line| line.starts_with("Anonymous:")) {
            anonymous += line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0);
        }
        println!("{minute} {anonymous}");
    }
}
