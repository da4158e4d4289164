//! The tables of TPROC-C as they are loaded, and the consistency conditions: each is broken by hand once.

use crate::servers::{ENGINES, MYSQL_AND_MARIADB, Product};
use rqps_load::warehouses::{Broken, Expectation, check, count, load, load_with_progress};
use rqps_model::Engine;
use rqps_model::tproc_c::{Check, Quirk, Warehouses};
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::Target;
use std::collections::BTreeSet;
use std::sync::Mutex;

const TABLES: [&str; 9] =
    ["customer", "district", "history", "item", "new_order", "order_line", "orders", "stock", "warehouse"];

const SEED: u64 = 42;

fn data(warehouses: u32, partitions: u32, quirks: &[Quirk]) -> Warehouses {
    Warehouses { warehouses, partitions, quirks: quirks.iter().copied().collect() }
}

fn one() -> Warehouses {
    data(1, 1, &[])
}

/// Rows of a table, and a sum over a hash of each of them that any engine can compute; dates as they were loaded.
fn digest(server: &LiveServer, table: &str) -> String {
    let is_postgres = server.engine() == Engine::Postgres;
    let schema = if is_postgres { "current_schema()" } else { "DATABASE()" };
    let mut columns = server.ask(&format!(
        "SELECT column_name FROM information_schema.columns \
         WHERE table_schema = {schema} AND table_name = '{table}'"
    ));
    columns.sort_unstable();
    let as_text = |column: &String| match (
        is_postgres,
        column.contains("date") || column.contains("since") || column.ends_with("_d"),
    ) {
        (true, true) => format!("coalesce(to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), 'NULL')"),
        (true, false) => format!("coalesce({column}::text, 'NULL')"),
        (false, _) => format!("coalesce({column}, 'NULL')"),
    };
    let row = format!("md5(concat_ws('|', {}))", columns.iter().map(as_text).collect::<Vec<_>>().join(", "));
    let number = match is_postgres {
        true => format!("('x' || substr({row}, 1, 8))::bit(32)::bigint"),
        false => format!("CAST(CONV(SUBSTR({row}, 1, 8), 16, 10) AS UNSIGNED)"),
    };
    server.ask(&format!("SELECT count(*), sum({number}) FROM {table}")).remove(0)
}

pub(crate) fn digests(server: &LiveServer) -> Vec<String> {
    TABLES.iter().map(|table| format!("{table} {}", digest(server, table))).collect()
}

/// What a full check finds after a run without quirks.
fn broken(server: &LiveServer, data: &Warehouses) -> Vec<Broken> {
    check(&server.target(), data, &BTreeSet::new(), Check::Full, SEED).unwrap()
}

#[test]
fn every_engine_gets_the_same_rows_whatever_the_threads_and_all_conditions_hold() {
    let postgres = Product::Postgres.start();
    let report = load(&postgres.target(), &one(), SEED, 1).unwrap();
    let expected = digests(&postgres);
    let counts: u64 = TABLES.iter().map(|table| postgres.number(&format!("SELECT count(*) FROM {table}"))).sum();
    assert_eq!(report.rows, counts);
    assert!(report.index_seconds > 0.0 && report.load_seconds > report.index_seconds && report.settle_seconds > 0.0);
    on_each(&ENGINES, |product| {
        let server = product.start();
        let report = load(&server.target(), &one(), SEED, 4).unwrap();
        assert_eq!((report.rows, report.left), (counts, None));
        if MYSQL_AND_MARIADB.contains(&product) {
            assert_at_rest_and_in_latin1(&server);
        }
        assert_eq!(digests(&server), expected, "{product:?}");
        assert_eq!(broken(&server, &one()), [], "{product:?}");
        let counted = count(&server.target()).unwrap();
        assert_eq!((counted.next_orders, counted.payments, counted.undelivered), (30_010, 30_000, 9000));
    });
    let told = Mutex::new(Vec::new());
    load_with_progress(&postgres.target(), &one(), SEED + 1, 2, &|share| told.lock().unwrap().push(share)).unwrap();
    let told = told.into_inner().unwrap();
    assert!(told.len() > 50 && told.iter().all(|share| (0.0..=1.0).contains(share)));
    assert!(told.iter().any(|share| *share > 0.99), "{told:?}");
    let other = digests(&postgres);
    // Which orders are new is the same in every warehouse.
    let same: Vec<&String> = other.iter().filter(|digest| expected.contains(digest)).collect();
    assert!(matches!(&same[..], [only] if only.starts_with("new_order ")), "{same:?}");
}

#[test]
fn tables_of_postgresql_are_at_rest() {
    let server = Product::Postgres.shared();
    load(&server.target(), &one(), SEED, 2).unwrap();
    server.session().execute("CREATE EXTENSION pg_visibility").unwrap();
    for table in TABLES {
        let open = format!("SELECT count(*) FROM pg_visibility_map('{table}') WHERE NOT (all_visible AND all_frozen)");
        assert_eq!(server.ask(&open), ["0"], "{table}");
        assert_ne!(server.ask(&format!("SELECT count(*) FROM pg_stats WHERE tablename = '{table}'")), ["0"]);
    }
    let indexes = server.ask("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname");
    let columns: Vec<&str> =
        indexes.iter().filter_map(|index| index.split_once("USING btree ")).map(|two| two.1).collect();
    assert_eq!(
        columns,
        [
            "(c_w_id, c_d_id, c_id)",
            "(c_w_id, c_d_id, c_last, c_first, c_id)",
            "(d_w_id, d_id)",
            "(i_id)",
            "(no_w_id, no_d_id, no_o_id)",
            "(ol_w_id, ol_d_id, ol_o_id, ol_number)",
            "(o_w_id, o_d_id, o_id)",
            "(o_w_id, o_d_id, o_c_id, o_id)",
            "(s_w_id, s_i_id)",
            "(w_id)",
        ]
    );
}

/// A condition that is caught: its name, rows that violate it, the key of the first.
type Caught = (&'static str, u64, &'static str);

/// What is done by hand, how it is undone, and the conditions that are broken in between, with their first example.
const BY_HAND: [(&str, &str, &[Caught]); 12] = [
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 1",
        "UPDATE warehouse SET w_ytd = w_ytd - 1",
        &[("C1", 1, "w_id 1"), ("C8", 1, "w_id 1")],
    ),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
        "UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_id = 3",
        &[("C2", 1, "d_w_id 1, d_id 3")],
    ),
    (
        "DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 2500",
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 4, 2500)",
        &[
            ("C3", 1, "no_w_id 1, no_d_id 4"),
            ("C5", 1, "o_w_id 1, o_d_id 4, o_id 2500"),
            ("C11", 1, "d_w_id 1, d_id 4"),
        ],
    ),
    (
        "UPDATE order_line SET ol_number = 99, ol_o_id = 9999 WHERE ol_d_id = 5 AND ol_o_id = 7 AND ol_number = 1",
        "UPDATE order_line SET ol_number = 1, ol_o_id = 7 WHERE ol_d_id = 5 AND ol_o_id = 9999",
        &[("C6", 1, "o_w_id 1, o_d_id 5, o_id 7")],
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 6 AND o_id = 8",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 6 AND o_id = 8",
        &[("C4", 1, "d_w_id 1, d_id 6"), ("C6", 1, "o_w_id 1, o_d_id 6, o_id 8")],
    ),
    (
        "UPDATE orders SET o_carrier_id = 7 WHERE o_d_id = 7 AND o_id = 3000",
        "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 7 AND o_id = 3000",
        &[("C5", 1, "o_w_id 1, o_d_id 7, o_id 3000"), ("C7", 11, "ol_w_id 1, ol_d_id 7, ol_o_id 3000, ol_number 1")],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 8 AND ol_o_id = 1 AND ol_number = 2",
        "UPDATE order_line SET ol_delivery_d = '2026-02-12 00:00:01' \
         WHERE ol_d_id = 8 AND ol_o_id = 1 AND ol_number = 2",
        &[("C7", 1, "ol_w_id 1, ol_d_id 8, ol_o_id 1, ol_number 2")],
    ),
    (
        "UPDATE history SET h_w_id = 2 WHERE h_d_id = 9 AND h_c_id = 5",
        "UPDATE history SET h_w_id = 1 WHERE h_d_id = 9 AND h_c_id = 5",
        &[("C8", 1, "w_id 1"), ("C9", 1, "d_w_id 1, d_id 9")],
    ),
    (
        "UPDATE history SET h_d_id = 10 WHERE h_d_id = 9 AND h_c_id = 5",
        "UPDATE history SET h_d_id = 9 WHERE h_c_d_id = 9 AND h_c_id = 5",
        &[("C9", 2, "d_w_id 1, d_id 9")],
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1 \
         WHERE c_d_id = 2 AND c_id = 11",
        "UPDATE customer SET c_balance = c_balance - 1, c_ytd_payment = c_ytd_payment + 1 \
         WHERE c_d_id = 2 AND c_id = 11",
        &[("C10", 1, "c_w_id 1, c_d_id 2, c_id 11")],
    ),
    (
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_d_id = 1 AND c_id = 1",
        "UPDATE customer SET c_delivery_cnt = 0 WHERE c_d_id = 1 AND c_id = 1",
        &[("C11", 1, "d_w_id 1, d_id 1")],
    ),
    (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 10",
        "UPDATE customer SET c_ytd_payment = c_ytd_payment - 1 WHERE c_d_id = 10",
        &[("C12", 3000, "c_w_id 1, c_d_id 10, c_id 1")],
    ),
];

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn each_condition_is_caught_when_it_is_broken_and_no_other() {
    break_each_condition(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_and_mariadb_too_each_condition_is_caught() {
    on_each(&MYSQL_AND_MARIADB, break_each_condition);
}

fn break_each_condition(product: Product) {
    let server = product.start();
    load(&server.target(), &one(), SEED, 2).unwrap();
    let mut session = server.session();
    let mut seen = BTreeSet::new();
    for (breaking, mending, expected) in BY_HAND {
        session.execute(breaking).unwrap();
        let found = broken(&server, &one());
        let expected: Vec<_> =
            expected.iter().map(|(name, rows, example)| (*name, *rows, (*example).to_owned())).collect();
        let caught: Vec<_> = found.iter().map(|one| (one.condition, one.rows, one.examples[0].clone())).collect();
        assert_eq!(caught, expected, "{product:?}: {breaking}");
        assert!(found.iter().all(|one| one.expectation == Expectation::Holds && one.examples.len() <= 3));
        let quick = check(&server.target(), &one(), &BTreeSet::new(), Check::Quick, SEED).unwrap();
        let of_quick = found.into_iter().filter(|one| ["C1", "C2", "C3", "C4"].contains(&one.condition));
        assert_eq!(quick, of_quick.collect::<Vec<_>>());
        seen.extend(caught.into_iter().map(|one| one.0));
        session.execute(mending).unwrap();
    }
    assert_eq!(broken(&server, &one()), [], "{product:?}: all is mended");
    assert_eq!(seen.len(), 12);
}

#[test]
fn data_of_hammerdb_depart_as_they_are_known_to() {
    check_data_of_hammerdb(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_and_mariadb_too_data_of_hammerdb_depart_as_they_are_known_to() {
    on_each(&MYSQL_AND_MARIADB, check_data_of_hammerdb);
}

fn check_data_of_hammerdb(product: Product) {
    let of_data: Vec<Quirk> = Quirk::ALL.into_iter().filter(|quirk| quirk.is_of_data()).collect();
    let data = data(1, 1, &of_data);
    let server = product.start();
    load(&server.target(), &data, SEED, 2).unwrap();
    let found = check(&server.target(), &data, &data.quirks, Check::Full, SEED).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.condition, one.expectation)).collect();
    assert_eq!(found, [("C10", Expectation::Breaks), ("C12", Expectation::Breaks)], "{product:?}");

    let share = |table: &str, what: &str| {
        let [of, all] = [format!("WHERE {what}"), String::new()]
            .map(|which| server.number(&format!("SELECT count(*) FROM {table} {which}")));
        of as f64 / all as f64
    };
    assert!((0.48..0.52).contains(&share("customer", "c_credit = 'BC'")));
    assert!((0.09..0.11).contains(&share("stock", "s_data LIKE '%original%'")));
    assert_eq!(share("district", "d_tax >= 0.1"), 1.0);
    // An amount below 0.50 is 0 as an integer.
    let least = product.either(1.0, 0.99);
    assert!(share("order_line", "(ol_amount > 0) = (ol_delivery_d IS NOT NULL)") >= least);
    let with_order = server.number("SELECT count(*) FROM (SELECT DISTINCT o_d_id, o_c_id FROM orders) o");
    assert!((14_000..16_000).contains(&with_order), "{with_order}");
    let amounts = server.ask("SELECT data_type FROM information_schema.columns WHERE column_name = 'ol_amount'");
    assert_eq!(amounts, [product.either("numeric", "int")]);
    let first = product.either(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'stock_i1'::regclass AND attnum = 1",
        "SELECT column_name FROM information_schema.statistics WHERE table_name = 'stock' AND seq_in_index = 1",
    );
    assert_eq!(server.ask(first), [product.either("s_i_id", "s_w_id")]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn lines_of_orders_are_partitioned_and_parts_of_tables_loaded_at_once() {
    check_partitions(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_too_lines_of_orders_are_partitioned() {
    check_partitions(Product::Mysql);
}

fn check_partitions(product: Product) {
    let data = data(3, 2, &[]);
    let whole = Product::Postgres.shared();
    load(&whole.target(), &Warehouses { partitions: 1, ..data.clone() }, SEED, 2).unwrap();
    let server = product.start();
    load(&server.target(), &data, SEED, 8).unwrap();
    assert_eq!(digests(&server), digests(&whole), "{product:?}");
    assert_eq!(broken(&server, &data), [], "{product:?}");
    let partitions = product.either(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'order_line'::regclass",
        "SELECT COUNT(*) FROM information_schema.partitions WHERE table_name = 'order_line'",
    );
    assert_eq!(server.number(partitions), 2);
}

/// MySQL and MariaDB have written all that was loaded, and have its text in one character set.
fn assert_at_rest_and_in_latin1(server: &LiveServer) {
    let dirty = server.ask("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
    assert!(dirty[0].rsplit_once(' ').unwrap().1.parse::<u64>().unwrap() <= 16, "{} {dirty:?}", server.engine());
    let collations = server.ask(
        "SELECT DISTINCT collation_name FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND collation_name IS NOT NULL",
    );
    assert_eq!(collations, ["latin1_bin"]);
    let indexes = server.ask(
        "SELECT table_name, GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM information_schema.statistics \
         WHERE table_schema = DATABASE() AND index_name LIKE '%_i2' GROUP BY table_name ORDER BY table_name",
    );
    assert_eq!(indexes, ["customer c_w_id,c_d_id,c_last,c_first,c_id", "orders o_w_id,o_d_id,o_c_id,o_id"]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn tables_of_rocksdb_hold_the_rows_of_innodb() {
    let server = Product::Rocksdb.start();
    let data = data(2, 2, &[]);
    load(&server.target(), &data, SEED, 2).unwrap();
    let innodb = digests(&server);
    let target = Target { storage: Product::Rocksdb.storage(), ..server.target() };
    let report = load(&target, &data, SEED, 8).unwrap();
    assert_eq!((report.left, digests(&server)), (None, innodb));
    assert_eq!(broken(&server, &data), []);
    let engines = "SELECT DISTINCT engine FROM information_schema.tables WHERE table_schema = DATABASE()";
    assert_eq!(server.ask(engines), ["ROCKSDB"]);
}
