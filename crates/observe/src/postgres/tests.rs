//! Recorded view rows of several versions, and every real server found on this machine.
//!
//! In: rows as those versions gave them. Out: that they are read as what they are, and that servers count what was
//! done.

use super::*;
use crate::counters::changes;
use rqps_testkit::{LiveServer, PATIENCE, Wanted};
use std::time::Instant;

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

#[test]
fn real_servers_tell_what_was_done() {
    for wanted in Wanted::every_postgres() {
        tells_what_was_done(&LiveServer::start(&wanted));
    }
}

fn tells_what_was_done(server: &LiveServer) {
    let build = &server.build().name;
    let mut reader = server.session();
    let major: u32 = {
        let number = reader.query("show server_version_num").expect("a version");
        number.single().expect("a value").parse::<u32>().expect("a number") / 10_000
    };
    reader.execute("create table t (id int primary key, pad text)").expect("created");
    let before = read(&mut reader).expect("counters");
    let mut writer = server.session();
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
        assert!(begun.elapsed() < PATIENCE, "{build}: {changed:#?}");
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
