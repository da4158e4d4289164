//! The user's own data on real servers: dumps of both families, rows that are drawn, what is refused, and values of
//! every kind on their way.

use crate::servers::{ENGINES, MYSQL_AND_MARIADB, Product};
use rqps_load::data_set::load;
use rqps_model::Engine;
use rqps_model::own::{InputFile, OwnData, OwnTable};
use rqps_model::plan::DataSet;
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::{AnyValue, ParameterType};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn file(path: &Path) -> InputFile {
    let bytes = fs::metadata(path).unwrap().len();
    InputFile { path: path.to_owned(), bytes, sha256: String::new(), archive: None }
}

fn shop(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name)
}

pub(crate) fn text(folder: &tempfile::TempDir, name: &str, text: &str) -> InputFile {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    file(&path)
}

pub(crate) fn of_files(files: &[InputFile]) -> OwnData {
    OwnData { files: Engine::ALL.into_iter().map(|engine| (engine, files.to_vec())).collect(), ..OwnData::default() }
}

/// SQL of an archive, by the program that it names.
pub(crate) fn restore_with(file: &InputFile, sql: &mut Vec<u8>) -> std::io::Result<()> {
    let archive = file.archive.as_ref().expect("only archives are asked for");
    let mut command = Command::new(&archive.pg_restore);
    let output = command.args(["-f", "-", "--no-owner", "--no-privileges"]).arg(&file.path).output()?;
    sql.extend_from_slice(&output.stdout);
    match output.status.success() {
        true => Ok(()),
        false => Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr))),
    }
}

fn restore(file: &InputFile) -> std::io::Result<Box<dyn Read>> {
    let mut sql = Vec::new();
    restore_with(file, &mut sql)?;
    Ok(Box::new(std::io::Cursor::new(sql)))
}

pub(crate) fn try_load(server: &LiveServer, data: &OwnData) -> Result<rqps_load::prepare_data::LoadReport, String> {
    load(&server.target(), &DataSet::Own(Box::new(data.clone())), 7, 1, &restore, &|_| ())
        .map_err(|error| error.to_string())
}

#[test]
fn a_dump_gives_the_rows_that_it_holds() {
    on_each(&ENGINES, |product| {
        let server = product.start();
        let dump = if server.engine() == Engine::Postgres { "shop-postgres.sql.gz" } else { "shop-mysql.sql.gz" };
        let report = try_load(&server, &of_files(&[file(&shop(dump))])).unwrap();
        let counts = ["customers", "products", "stock", "orders", "order_items", "reviews"]
            .map(|table| server.number(&format!("SELECT count(*) FROM {table}")));
        assert_eq!(counts, [2000, 500, 500, 6000, 12_000, 1500], "{product:?}");
        assert!(report.rows > 20_000, "{product:?}: {report:?}");
        // The same money on every engine.
        let sums = server.ask("SELECT sum(total) FROM orders");
        assert_eq!(sums, ["3622190.84"], "{product:?}");
        if server.engine() == Engine::Postgres {
            assert!(report.left.is_some_and(|left| left.contains("ALTER ... OWNER TO")));
        }
    });
}

#[test]
fn drawn_rows_are_the_same_on_every_engine() {
    let spec = |text: &str| serde_json::from_str(text).unwrap();
    let columns = [
        ("id", r#"{"sequence": 1}"#),
        ("place", r#"{"zipfian": [1, 100], "shuffle": true}"#),
        ("price", r#"{"decimal": [-5, 99.99]}"#),
        ("day", r#"{"dates": ["2024-01-01", "2024-12-31"]}"#),
        ("words", r#"{"pick": ["it's", "back\\slash", "tab\there", "ü"], "nulls": 0.2}"#),
    ];
    let table = OwnTable {
        name: "t".to_owned(),
        rows: 1200,
        columns: columns.iter().map(|(name, text)| ((*name).to_owned(), spec(text))).collect(),
    };
    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE t (id int PRIMARY KEY, place int, price decimal(8,2), day date, words varchar(20));";
    let data = OwnData { tables: vec![table], ..of_files(&[text(&folder, "t.sql", sql)]) };
    let asked = "SELECT concat_ws('|', id, place, price, day, coalesce(words, 'NULL')) FROM t ORDER BY id";
    let expected = {
        let server = Product::Postgres.start();
        try_load(&server, &data).unwrap();
        server.ask(asked)
    };
    assert_eq!(expected.len(), 1200);
    for words in ["it's", "back\\slash", "tab\there", "ü", "NULL"] {
        assert!(expected.iter().any(|row| row.ends_with(words)), "{words}");
    }
    // In digits, whatever the character set of the session is that asks.
    let hex = |row: &String| row.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    let expected: Vec<String> = expected.iter().map(hex).collect();
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        try_load(&server, &data).unwrap();
        let asked = asked.replacen("SELECT ", "SELECT hex(", 1).replacen(" FROM", ") FROM", 1);
        assert_eq!(server.ask(&asked), expected, "{product:?}");
    });
}

#[test]
fn what_a_server_refuses_is_told_with_its_line_or_ignored_by_its_number() {
    let server = Product::Postgres.start();
    let folder = tempfile::tempdir().unwrap();
    let sql = "SET no_such_setting = 1;\nCREATE TABLE t (id int);\n\n-- next\nCREATE INDEX i ON missing (id);\n\
               CREATE TABLE u (id int);\n";
    let mut data = of_files(&[text(&folder, "wrong.sql", sql)]);
    let told = try_load(&server, &data).unwrap_err();
    assert!(told.contains("wrong.sql:5: ") && told.contains("missing"), "{told}");
    data.ignore = vec!["42P01".to_owned()];
    let left = try_load(&server, &data).unwrap().left.unwrap();
    for told in [
        "1 × error 42704: unrecognized configuration parameter \"no_such_setting\" (first in line 1)",
        "1 × error 42P01: relation \"missing\" does not exist (first in line 5)",
    ] {
        assert!(left.contains(told), "{told} in {left}");
    }
    assert_eq!(server.number("SELECT count(*) FROM u"), 0);
    let broken = of_files(&[text(&folder, "rows.sql", "CREATE TABLE c (id int);\nCOPY c FROM stdin;\n1\n2\n")]);
    let told = try_load(&server, &broken).unwrap_err();
    assert!(told.contains("no end"), "{told}");
    let mut words = of_files(&[text(&folder, "words.sql", "CREATE TABLE w (a oldtype DEFAULT 'oldtype');")]);
    words.replace.insert(Engine::Postgres, [("oldtype".to_owned(), "text".to_owned())].into());
    let left = try_load(&server, &words).unwrap().left.unwrap();
    assert!(left.contains("words.sql: 1 × oldtype by text"), "{left}");
    assert_eq!(server.ask("INSERT INTO w DEFAULT VALUES RETURNING a"), ["oldtype"]);
    let made = "CREATE DATABASE shop WITH TEMPLATE = template0 ENCODING = 'UTF8' LC_COLLATE = 'C';\n\\connect shop\n";
    let left = try_load(&server, &of_files(&[text(&folder, "made.sql", made)])).unwrap().left.unwrap();
    assert!(
        left.contains("made.sql: CREATE DATABASE says LC_COLLATE C, which is not taken over: say locale"),
        "{left}"
    );
}

#[test]
fn sessions_have_the_collation_that_the_user_names() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        let folder = tempfile::tempdir().unwrap();
        // The sessions that load are told the same as those that are measured.
        let sql = "CREATE TABLE c AS SELECT @@collation_connection AS connection, @@collation_database AS base;";
        let name = "utf8mb4_german2_ci".to_owned();
        let data =
            OwnData { collation: [(server.engine(), name.clone())].into(), ..of_files(&[text(&folder, "c.sql", sql)]) };
        try_load(&server, &data).unwrap();
        assert_eq!(
            server.ask("SELECT concat(connection, ' ', base) FROM c"),
            [format!("{name} {name}")],
            "{product:?}"
        );
    });
}

#[test]
fn values_of_every_kind_arrive_as_they_were_sent() {
    on_each(&ENGINES, |product| {
        let server = product.start();
        let mut session = server.session();
        let is_postgres = server.engine() == Engine::Postgres;
        if !is_postgres {
            session.execute("SET NAMES utf8mb4").unwrap();
        }
        let (create, insert) = match is_postgres {
            true => ("CREATE TABLE v (n bigint, f float8, s text)", "INSERT INTO v VALUES ($1, $2, $3)"),
            false => (
                "CREATE TABLE v (n bigint, f double, s mediumtext CHARACTER SET utf8mb4)",
                "INSERT INTO v VALUES (?, ?, ?)",
            ),
        };
        session.execute(create).unwrap();
        let mut statement = session.prepare(insert, &[ParameterType::Any; 3]).unwrap();
        let long = "x".repeat(70_000);
        let values = [
            (AnyValue::Integer(i64::MIN), AnyValue::Float(0.1), "it's \"quoted\" \\ and 🎈"),
            (AnyValue::Integer(i64::MAX), AnyValue::Float(-1.5e300), ""),
            (AnyValue::Null, AnyValue::Null, long.as_str()),
            (AnyValue::Text(b"42"), AnyValue::Integer(7), "short again"),
        ];
        for (number, float, string) in values {
            let row = [number, float, AnyValue::Text(string.as_bytes())];
            statement.set_any(|slot| row[slot]);
            assert_eq!(session.run(&statement).unwrap().affected, 1, "{product:?}");
        }
        let count = |condition: &str| server.number(&format!("SELECT count(*) FROM v WHERE {condition}"));
        for condition in [
            "n = -9223372036854775808 AND f = 0.1e0 AND s LIKE 'it''s%'",
            "n = 9223372036854775807 AND f < -1e300 AND s = ''",
            "n IS NULL AND f IS NULL AND char_length(s) = 70000",
            "n = 42 AND f = 7 AND s = 'short again'",
        ] {
            assert_eq!(count(condition), 1, "{product:?}: {condition}");
        }
        let balloon = if is_postgres { "octet_length(s) = 24" } else { "length(s) = 24" };
        assert_eq!(count(balloon), 1, "{product:?}: {:?}", server.ask("SELECT char_length(s) FROM v"));
    });
}
