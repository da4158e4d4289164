//! Recorded view rows of several versions, and every real server found on this machine.
//!
//! Servers are looked for in the folders named in `RQPS_TEST_POSTGRES` (separated by colons), else in
//! `/usr/lib/postgresql`.

use super::*;
use crate::counters::changes;
use rqps_wire::{Endpoint, Protocol, Transport};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn table(columns: &[&str], rows: &[&[Option<&str>]]) -> Table {
    let text = |value: &Option<&str>| value.map(str::to_owned);
    Table {
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        rows: rows.iter().map(|row| row.iter().map(text).collect()).collect(),
    }
}

fn summed(view: &str, table: &Table) -> Vec<(String, f64)> {
    let mut counters = Counters::new();
    sum_columns(view, table, &mut counters);
    counters.into_iter().collect()
}

#[test]
fn rows_are_summed_and_what_is_no_count_left_out() {
    // pg_stat_io of 16: op_bytes is a size, NULL means that the operation does not happen in this row.
    let io = table(
        &["backend_type", "object", "reads", "op_bytes", "hits", "stats_reset"],
        &[
            &[
                Some("client backend"),
                Some("relation"),
                Some("7"),
                Some("8192"),
                Some("100"),
                Some("2026-11-20 05:14:00+00"),
            ],
            &[Some("checkpointer"), Some("relation"), None, Some("8192"), None, Some("2026-11-20 05:14:00+00")],
            &[Some("walwriter"), Some("wal"), Some("2"), Some("8192"), None, Some("2026-11-20 05:14:00+00")],
        ],
    );
    assert_eq!(summed("pg_stat_io", &io), [("pg_stat_io.hits".into(), 100.0), ("pg_stat_io.reads".into(), 9.0)]);

    // pg_stat_database of 12: no session times; times with a fraction; a name that is a number.
    let database = table(
        &["datid", "datname", "xact_commit", "blk_read_time", "conflicts"],
        &[&[Some("16384"), Some("sbtest"), Some("12"), Some("0.25"), None]],
    );
    let expected = [("pg_stat_database.blk_read_time".into(), 0.25), ("pg_stat_database.xact_commit".into(), 12.0)];
    assert_eq!(summed("pg_stat_database", &database), expected);

    assert_eq!(summed("x", &table(&["n"], &[])), []);
    assert_eq!(summed("x", &table(&["n", "m"], &[&[Some("NaN")], &[]])), []);
}

/// A server in a folder of its own, stopped with the test.
struct Server {
    build: PathBuf,
    folder: tempfile::TempDir,
}

impl Server {
    fn start(build: &Path) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server { build: build.to_owned(), folder };
        if is_root() {
            // The server refuses to run as root.
            std::os::unix::fs::chown(server.folder.path(), Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        let data = server.folder.path().join("data");
        let data = data.to_str().expect("a plain path");
        let socket = server.folder.path().display();
        server.run("initdb", &["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let options = format!("-c listen_addresses='' -c unix_socket_directories={socket} -c port={PORT}");
        server.run("pg_ctl", &["-D", data, "-l", &format!("{data}.log"), "-w", "-t", "30", "-o", &options, "start"]);
        server
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let program = self.build.join("bin").join(program);
        let mut command = if is_root() { Command::new("setpriv") } else { Command::new(&program) };
        if is_root() {
            let user = format!("--reuid={NOBODY}");
            command.args([&user, &format!("--regid={NOBODY}"), "--clear-groups"]).arg(&program);
        }
        let done = command.args(arguments).current_dir("/").stdout(Stdio::null()).status().expect("started");
        assert!(done.success(), "{} {arguments:?}: {done}", program.display());
    }

    fn connect(&self) -> Session {
        let endpoint = Endpoint {
            engine: Protocol::Postgres,
            transport: Transport::postgres_socket(self.folder.path(), PORT),
            user: "bench".into(),
            password: None,
            database: "postgres".into(),
            options: Vec::new(),
        };
        Session::connect(&endpoint, Duration::from_secs(10)).expect("a session")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        self.run("pg_ctl", &["-D", data.to_str().expect("a plain path"), "-m", "immediate", "-w", "stop"]);
    }
}

const NOBODY: u32 = 65534;
const PORT: u16 = 5499;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn builds() -> Vec<PathBuf> {
    if let Ok(folders) = std::env::var("RQPS_TEST_POSTGRES") {
        return folders.split(':').map(PathBuf::from).collect();
    }
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    installed.filter(|folder| folder.join("bin/initdb").is_file()).collect()
}

#[test]
fn real_servers_tell_what_was_done() {
    let builds = builds();
    if builds.is_empty() {
        println!("no PostgreSQL found; name folders in RQPS_TEST_POSTGRES to test against them");
    }
    for build in builds {
        tells_what_was_done(&Server::start(&build), &build.display().to_string());
    }
}

fn tells_what_was_done(server: &Server, build: &str) {
    let mut reader = server.connect();
    let major: u32 = {
        let number = reader.query("show server_version_num").expect("a version");
        number.single().expect("a value").parse::<u32>().expect("a number") / 10_000
    };
    reader.execute("create table t (id int primary key, pad text)").expect("created");
    let before = read(&mut reader).expect("counters");
    let mut writer = server.connect();
    writer.execute("insert into t select i, repeat('x', 100) from generate_series(1, 20000) i").expect("inserted");
    writer.execute("vacuum analyze t").expect("vacuumed");
    for _ in 0..20 {
        writer.execute("select count(*) from t where pad like 'y%'").expect("counted");
    }
    drop(writer);

    let begun = Instant::now();
    let changed = loop {
        let changed = changes(&before, &read(&mut reader).expect("counters"));
        let at_least = |name: &str, least: f64| changed.get(name).is_some_and(|change| *change >= least);
        let arrived = at_least("pg_stat_user_tables.seq_tup_read", 400_000.0)
            && at_least("pg_stat_user_tables.n_tup_ins", 20_000.0)
            && at_least("pg_stat_database.xact_commit", 20.0)
            && (major < 16 || at_least("pg_stat_io.hits", 1000.0))
            && (major < 14 || at_least("pg_stat_wal.wal_bytes", 1e6));
        if arrived {
            break changed;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{build}: {changed:#?}");
        std::thread::yield_now();
    };
    for (name, least) in [
        ("pg_class.relpages", 300.0),
        ("pg_class.relallvisible", 300.0),
        ("pg_class.reltuples", 20_000.0),
        ("relations.table_bytes", 2e6),
        ("relations.index_bytes", 3e5),
        ("relations.database_bytes", 2e6),
        ("wal.lsn_bytes", 2e6),
        ("pg_statio_user_tables.heap_blks_hit", 1000.0),
    ] {
        assert!(changed.get(name).is_some_and(|change| *change >= least), "{build}: {name}: {changed:#?}");
    }
    let now = read(&mut reader).expect("counters");
    assert_eq!(now.contains_key("pg_stat_checkpointer.num_timed"), major >= 17, "{build}");
    assert_eq!(now.contains_key("pg_stat_bgwriter.checkpoints_timed"), major < 17, "{build}");
    assert!(now.keys().all(|name| !name.ends_with("relid") && !name.ends_with(".datid")), "{build}: {now:#?}");
}
