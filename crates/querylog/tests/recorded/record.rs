//! Records what servers log, for the tests of this folder:
//!
//!     cargo test -p rqps-querylog --test recorded -- --ignored record
//!
//! Each server gets the same small load, in words of its own; what it wrote goes into this folder, with the folders of
//! this machine taken out. Times differ from one recording to the next, and no test depends on them.

use rqps_testkit::{LiveServer, PATIENCE, Wanted, on_each};
use rqps_wire::{AnyValue, ParameterType, Session};
use std::fs;
use std::path::{Path, PathBuf};

const TABLES: &str = "CREATE TABLE customers (id int PRIMARY KEY, email varchar(80), credit numeric(10,2))
CREATE TABLE orders (id int PRIMARY KEY, customer int, placed date, state varchar(9), total numeric(10,2))
CREATE INDEX orders_by_customer ON orders (customer)
INSERT INTO customers VALUES (1, 'ann@example.org', 5), (2, 'o''neil@example.org', 7.5)
INSERT INTO orders VALUES (10, 1, '2025-01-02', 'new', 9.99), (11, 2, '2025-02-03', 'paid', 19.5)";

/// What every server is asked as text.
const LOAD: [&str; 13] = [
    "SELECT * FROM orders WHERE id = 10",
    "select *  from orders where id = 11",
    "SELECT id, total FROM orders WHERE customer = 1 AND state IN ('new', 'paid') ORDER BY 1 DESC LIMIT 10",
    "SELECT id, total FROM orders WHERE customer = 2 AND state IN ('new', 'paid') ORDER BY 1 DESC LIMIT 10",
    "SELECT id, total FROM orders WHERE customer = 2 AND state IN ('paid') ORDER BY 1 DESC LIMIT 10",
    "SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer -- the buyer\nWHERE c.email = 'o''neil@example.org'\n  AND o.placed >= '2025-01-01'",
    "SELECT id FROM customers WHERE email = 'a;\n# Time: 1\n# User@Host: b;\n# c'",
    "BEGIN",
    "UPDATE customers SET credit = credit - 0.25 WHERE id = 1",
    "INSERT INTO orders (id, customer, placed, state, total) VALUES (12, 1, NULL, 'new', -1.5)",
    "INSERT INTO orders (id, customer, placed, state, total) VALUES (13, 2, '2025-03-04', 'new', 3), (14, 2, NULL, 'new', 4)",
    "COMMIT",
    "SELECT count(*) FROM information_schema.tables",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

/// Runs statements one after the other.
fn run(session: &mut Session, statements: impl IntoIterator<Item = impl AsRef<str>>) {
    for statement in statements {
        let statement = statement.as_ref();
        session.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Runs a prepared statement with each of these values.
fn run_prepared(session: &mut Session, sql: &str, rows: &[&[AnyValue<'_>]]) {
    let mut statement = session.prepare(sql, &vec![ParameterType::Any; rows[0].len()]).unwrap();
    for row in rows {
        statement.set_any(|slot| row[slot]);
        session.run(&statement).unwrap();
    }
}

fn connect(server: &LiveServer) -> Session {
    Session::connect(&server.endpoint(), PATIENCE).unwrap()
}

/// Writes a recording without what is of this machine.
fn keep(name: &str, text: &str, server: &LiveServer) {
    let own = [(server.build().folder.clone(), "/usr"), (server.folder().to_owned(), "/srv")];
    let text = own.iter().fold(text.to_owned(), |text, (path, other)| text.replace(&path.display().to_string(), other));
    fs::write(folder().join(name), text).unwrap();
}

#[test]
#[ignore = "records anew what the other tests read, from seven servers that are fetched"]
fn record() {
    on_each(&[("postgres:12.22", 12), ("postgres:15.19", 15), ("postgres:18.6", 18)], |(word, major)| {
        record_postgres(word, major);
    });
    let servers = [
        ("mysql:5.6.24", "mysql56", ""),
        ("mysql:5.7.22", "mysql57", ""),
        ("mysql:8.0.15", "mysql80", "log-slow-extra=ON"),
        ("mariadb:10.11.18", "mariadb1011", "log-slow-verbosity=query_plan,innodb,explain"),
    ];
    on_each(&servers, |(word, name, option)| record_mysql(word, name, option));
}

fn record_postgres(word: &str, major: u32) {
    let json = if major < 15 { "csvlog" } else { "csvlog,jsonlog" };
    let mut wanted = Wanted::of(word).with(&format!("log_destination={json}"));
    for option in [
        "shared_preload_libraries=pg_stat_statements",
        "logging_collector=on",
        "log_directory=log",
        "log_filename=pg",
        "log_min_duration_statement=0",
        "log_timezone=UTC",
        "lc_messages=C",
    ] {
        wanted = wanted.with(option);
    }
    let server = LiveServer::start(&wanted);
    let mut session = connect(&server);
    run(&mut session, TABLES.lines());
    run(&mut session, ["CREATE EXTENSION pg_stat_statements", "SELECT pg_stat_statements_reset()"]);
    run(&mut session, LOAD);
    run(&mut session, ["SET work_mem = '8MB'", "SHOW work_mem"]);
    run(&mut session, ["PREPARE look (int) AS SELECT email FROM customers WHERE id = $1", "EXECUTE look (2)"]);
    let sql = "SELECT id FROM orders WHERE customer = $1 AND placed >= $2 AND state <> 'gone'";
    let date = AnyValue::Text(b"2025-01-01");
    run_prepared(&mut session, sql, &[&[AnyValue::Text(b"1"), date], &[AnyValue::Text(b"2"), AnyValue::Null]]);
    let long = "x".repeat(40) + "'s";
    if major > 12 {
        run(&mut session, ["SET log_parameter_max_length = 20"]);
    }
    run_prepared(&mut session, "SELECT id FROM customers WHERE email = $1", &[&[AnyValue::Text(long.as_bytes())]]);
    if major > 12 {
        run(&mut session, ["RESET log_parameter_max_length"]);
    }
    let csv = server.folder().join("data/statements.csv");
    let export = format!(
        "COPY (SELECT * FROM pg_stat_statements ORDER BY calls DESC, queryid) TO '{}' CSV HEADER",
        csv.display()
    );
    run(&mut session, [&export]);
    keep(&format!("pg{major}-statements.csv"), &fs::read_to_string(&csv).unwrap(), &server);
    if major == 15 {
        let role = "CREATE ROLE reporter; GRANT pg_write_server_files TO reporter; SET ROLE reporter";
        run(&mut session, role.split("; ").chain([export.as_str()]));
        keep("pg15-other-role.csv", &fs::read_to_string(&csv).unwrap(), &server);
    }
    session.close();
    for ending in if major < 15 { &["csv"][..] } else { &["csv", "json"] } {
        let log = server.data_dir().join(format!("log/pg.{ending}"));
        let text = settled(|| fs::read_to_string(&log).unwrap_or_default(), |text| text.contains("statements.csv"));
        keep(&format!("pg{major}-log.{ending}"), &text, &server);
    }
}

fn record_mysql(word: &str, name: &str, option: &str) {
    let mut wanted = Wanted::of(word).with("slow-query-log=1").with("long-query-time=0");
    wanted = wanted.with("slow-query-log-file=slow.log").with("log-output=FILE");
    if !option.is_empty() {
        wanted = wanted.with(option);
    }
    let server = LiveServer::start(&wanted);
    let mut session = connect(&server);
    run(&mut session, ["SET GLOBAL slow_query_log = OFF"]);
    run(&mut session, TABLES.lines());
    let routine =
        "CREATE PROCEDURE pay (IN who int) BEGIN UPDATE customers SET credit = credit + 1 WHERE id = who; END";
    run(&mut session, [routine, "SET GLOBAL slow_query_log = ON"]);
    run(&mut session, LOAD);
    run(
        &mut session,
        [
            r#"SELECT id FROM customers WHERE email = "say \"hi\"; it's" AND credit > 0x10"#,
            "SELECT id FROM orders WHERE customer = 1 LIMIT 5, 10",
            "SELECT `id` FROM orders # by hand\nWHERE placed < DATE '2025-02-01'",
            "CALL pay(2)",
            "SET @a = 1",
            "ANALYZE TABLE orders",
            "USE mysql",
            "SELECT count(*) FROM user",
        ],
    );
    let mut session = connect(&server);
    let sql = "SELECT id FROM orders WHERE customer = ? AND placed >= ? AND total > ?";
    let date = AnyValue::Text(b"2025-01-01");
    run_prepared(
        &mut session,
        sql,
        &[
            &[AnyValue::Integer(1), date, AnyValue::Float(1.5)],
            &[AnyValue::Integer(2), AnyValue::Null, AnyValue::Float(2.5)],
        ],
    );
    session.close();
    let log = server.data_dir().join("slow.log");
    let text =
        settled(|| String::from_utf8(fs::read(&log).unwrap()).unwrap(), |text| text.matches("total >").count() >= 2);
    keep(&format!("{name}-slow.log"), &text, &server);
}

/// What a server wrote, once it is all there.
fn settled(read: impl Fn() -> String, is_whole: impl Fn(&str) -> bool) -> String {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let text = read();
        if is_whole(&text) && text.ends_with('\n') {
            return text;
        }
        assert!(std::time::Instant::now() < deadline, "{text}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
