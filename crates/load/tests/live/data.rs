//! What a load leaves behind: schema, rows, order, visibility, and the work between tests.

use crate::SMALL;
use crate::servers::Product::Postgres;
use rqps_load::rows::Row;
use rqps_load::{prepare_data, work};
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_testkit::LiveServer;

const DATA: DataShape = DataShape { tables: 3, rows: 5000 };

/// A fingerprint of every table, rows in physical order.
fn fingerprint(server: &LiveServer) -> Vec<String> {
    (1..=DATA.tables)
        .flat_map(|table| {
            server.ask(&format!("SELECT md5(string_agg(t::text, '|' ORDER BY ctid)), count(*) FROM sbtest{table} t"))
        })
        .collect()
}

#[test]
fn tables_are_as_published_and_the_same_however_they_are_loaded() {
    let server = Postgres.shared();
    let report = prepare_data::prepare_data(&server.target(), DATA, 42, 1).unwrap();
    assert_eq!(report.rows, 15_000);
    let alone = fingerprint(&server);
    prepare_data::prepare_data(&server.target(), DATA, 42, 3).unwrap();
    assert_eq!(fingerprint(&server), alone);

    let columns = server.ask(
        "SELECT column_name, data_type, character_maximum_length, is_nullable, column_default \
         FROM information_schema.columns WHERE table_name = 'sbtest2' ORDER BY ordinal_position",
    );
    assert_eq!(
        columns,
        [
            "id integer NULL NO nextval('sbtest2_id_seq'::regclass)",
            "k integer NULL NO 0",
            "c character 120 NO ''::bpchar",
            "pad character 60 NO ''::bpchar"
        ]
    );
    let indexes = server.ask("SELECT indexdef FROM pg_indexes WHERE tablename = 'sbtest2' ORDER BY indexname");
    assert_eq!(
        indexes,
        [
            "CREATE INDEX k_2 ON public.sbtest2 USING btree (k)",
            "CREATE UNIQUE INDEX sbtest2_pkey ON public.sbtest2 USING btree (id)"
        ]
    );
    assert_eq!(server.ask("SELECT last_value, is_called FROM sbtest2_id_seq"), ["5000 t"]);

    for id in [1, 2500, 5000] {
        let Row { k, c, pad } = Row::generate(42, 2, id, 5000);
        let expected = format!("{id} {k} {} {}", String::from_utf8_lossy(&c), String::from_utf8_lossy(&pad));
        let row = server.ask(&format!("SELECT id, k, rtrim(c), rtrim(pad) FROM sbtest2 WHERE id = {id}"));
        assert_eq!(row, [expected]);
    }
    assert_eq!(
        server.ask("SELECT count(*) FROM sbtest1 WHERE k NOT BETWEEN 1 AND 5000 OR id NOT BETWEEN 1 AND 5000"),
        ["0"]
    );
    let out_of_order =
        "SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY ctid) AS place FROM sbtest1) t WHERE id <> place";
    assert_eq!(server.ask(out_of_order), ["0"]);
}

#[test]
fn every_page_is_visible_and_every_row_frozen() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    server.session().execute("CREATE EXTENSION pg_visibility").unwrap();
    let open_pages = "SELECT count(*) FROM pg_visibility_map('sbtest1') WHERE NOT (all_visible AND all_frozen)";
    assert_eq!(server.ask(open_pages), ["0"]);
    let statistics = server.ask("SELECT reltuples, relallvisible = relpages FROM pg_class WHERE relname = 'sbtest1'");
    assert_eq!(statistics, ["2000 t"]);
    assert_eq!(server.ask("SELECT count(*) FROM pg_stats WHERE tablename = 'sbtest2'"), ["4"]);
}

#[test]
fn works_do_what_they_say() {
    // A server of its own: VACUUM keeps rows that a session still connecting may see, and what that may see depends on
    // the transactions that other tests have open in other databases.
    // And a log that is flushed in its own time, as the published settings have it.
    let late = Postgres.wanted().with("synchronous_commit=off").with("wal_writer_delay=10s");
    let server = LiveServer::start(&late);
    let target = server.target();
    prepare_data::prepare_data(&target, SMALL, 1, 2).unwrap();
    let mut session = server.session();
    session.execute("CREATE EXTENSION pg_visibility").unwrap();
    let not_visible = "SELECT count(*) > 0 FROM pg_class c, pg_visibility_map(c.oid) \
                       WHERE relname IN ('sbtest1', 'sbtest2') AND NOT all_visible";
    session.execute("DELETE FROM sbtest1 WHERE id <= 500; DELETE FROM sbtest2 WHERE id <= 500").unwrap();
    // More than once, since tables are vacuumed side by side, in any order: each must be marked whatever the statistics
    // of the other have committed meanwhile.
    for _ in 0..10 {
        session.execute("UPDATE sbtest1 SET k = k + 1 WHERE id > 1900").unwrap();
        session.execute("UPDATE sbtest2 SET k = k + 1 WHERE id > 1900").unwrap();
        assert_eq!(server.ask(not_visible), ["t"]);
        assert!(work::work(Work::Postwrite, &target, SMALL).unwrap().seconds > 0.0);
        assert_eq!(server.ask(not_visible), ["f"]);
    }
    for name in Work::ALL {
        work::work(name, &target, SMALL).unwrap();
    }
    assert_eq!(server.ask("SELECT count(*) FROM pg_extension WHERE extname = 'pg_prewarm'"), ["1"]);
    // Statistics arrive in the server's own time.
    let worked = "SELECT min(vacuum_count) >= 3 AND min(analyze_count) >= 4 FROM pg_stat_user_tables";
    let deadline = std::time::Instant::now() + rqps_testkit::PATIENCE;
    while server.ask(worked) != ["t"] {
        assert!(std::time::Instant::now() < deadline, "{:?}", server.ask("TABLE pg_stat_user_tables"));
    }
}

#[test]
fn impossible_shapes_are_refused_before_anything_is_touched() {
    let server = Postgres.shared();
    for (tables, rows) in [(0, 10), (1, 0), (1, 1 << 31)] {
        assert!(prepare_data::prepare_data(&server.target(), DataShape { tables, rows }, 1, 1).is_err());
    }
    assert_eq!(server.ask("SELECT count(*) FROM pg_class WHERE relname LIKE 'sbtest%'"), ["0"]);
}
