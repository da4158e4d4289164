//! The built-in suite against the published facts, and what a bad workload file is told.

use super::*;
use crate::{SYSBENCH, Suite};
use std::collections::BTreeSet;

fn names(set: &str) -> Vec<String> {
    let is_in = |test: &Test| set == "all" || test.sets.iter().any(|name| name == set);
    Suite::sysbench().tests.into_iter().filter(is_in).map(|test| test.name).collect()
}

#[test]
fn the_sets_have_the_published_sizes() {
    for (set, size) in [("27", 27), ("32", 32), ("42", 42), ("all", 47)] {
        assert_eq!(names(set).len(), size, "{set}");
    }
    let without_pre: BTreeSet<_> = names("42").into_iter().filter(|name| !name.contains(".pre")).collect();
    assert_eq!(without_pre, names("27").into_iter().collect());
    let aggregates: Vec<_> = names("32").into_iter().filter(|name| !without_pre.contains(name)).collect();
    let expected = ["read-only-simple", "read-only-sum", "read-only-order", "read-only-distinct", "read-only-count"];
    assert_eq!(aggregates, expected);
}

#[test]
fn tests_run_in_the_published_order() {
    expect_test::expect![[r#"
        update-inlist
        update-index
        update-nonindex
        update-one
        update-zipf
        write-only
        read-write_range=10
        read-write_range=100
        scan
        read-only_range=10
        read-only_range=100
        read-only_range=10000
        read-only-simple
        read-only-sum
        read-only-order
        read-only-distinct
        read-only-count
        point-query
        random-points_range=10
        random-points_range=100
        random-points_range=1000
        hot-points
        points-covered-pk
        points-notcovered-pk
        range-covered-pk
        range-notcovered-pk
        points-covered-si
        points-notcovered-si
        range-covered-si
        range-notcovered-si
        delete
        insert"#]]
    .assert_eq(&names("32").join("\n"));
    let all = names("all");
    let place = |name: &str| all.iter().position(|known| known == name).unwrap();
    assert_eq!((place("point-query.pre"), place("range-notcovered-si.pre"), place("update-inlist")), (0, 14, 15));
}

#[test]
fn groups_are_reported_in_the_published_order() {
    let suite = Suite::sysbench();
    let mut lines = String::new();
    for group in Group::ALL {
        let mut tests: Vec<&Test> = suite.tests.iter().filter(|test| test.group == group).collect();
        tests.sort_by_key(|test| test.rank);
        let ranks: Vec<u32> = tests.iter().map(|test| test.rank).collect();
        assert_eq!(ranks, (1..=tests.len() as u32).collect::<Vec<_>>(), "{group}");
        let reported = tests.iter().filter(|test| test.sets.iter().any(|set| set == "32"));
        let names: Vec<&str> = reported.map(|test| test.name.as_str()).collect();
        lines.push_str(&format!("{group}: {}\n", names.join(" ")));
    }
    expect_test::expect![[r#"
        point: hot-points point-query points-covered-pk points-covered-si points-notcovered-pk points-notcovered-si random-points_range=1000 random-points_range=100 random-points_range=10
        range: range-covered-pk range-covered-si range-notcovered-pk range-notcovered-si scan
        range-agg: read-only-count read-only-distinct read-only-order read-only_range=10000 read-only_range=100 read-only_range=10 read-only-simple read-only-sum
        write: delete insert read-write_range=100 read-write_range=10 update-index update-inlist update-nonindex update-one update-zipf write-only
        transaction: 
        own: 
    "#]].assert_eq(&lines);
}

#[test]
fn labels_are_those_of_raw_files() {
    let suite = Suite::sysbench();
    let check = |name: &str, label: &str| assert_eq!(suite.test(name).unwrap().label, label);
    check("hot-points", "hot-points_range=100");
    check("write-only", "write-only_range=10000");
    check("read-only-count", "read-only-count_range=1000");
    check("random-points.pre_range=10", "random-points.pre_range=10");
    let labels: BTreeSet<&str> = suite.tests.iter().map(|test| test.label.as_str()).collect();
    assert_eq!(labels.len(), suite.tests.len());
}

#[test]
fn writes_are_told_from_reads() {
    let suite = Suite::sysbench();
    for test in &suite.tests {
        assert_eq!(test.writes, test.group == Group::Write, "{}", test.name);
        assert_eq!(test.seconds == SecondsClass::Write, test.writes, "{}", test.name);
        let sends_text = test.kinds.iter().any(|kind| kind.text);
        assert_eq!(sends_text, ["scan", "insert"].contains(&test.name.as_str()), "{}", test.name);
    }
    let scan = suite.test("scan").unwrap();
    assert_eq!(scan.unit_per_operation(DataShape { tables: 8, rows: 10_000_000 }, 4), 2500.0);
    assert_eq!(suite.test("insert").unwrap().unit_per_operation(DataShape { tables: 1, rows: 5 }, 4), 1.0);
}

#[test]
fn events_have_the_published_statements() {
    let check = |name: &str, statements: usize, transaction: bool| {
        let suite = Suite::sysbench();
        let test = suite.test(name).unwrap();
        assert_eq!((test.statements_per_event(), test.transaction), (statements, transaction), "{name}");
    };
    check("point-query", 1, false);
    check("read-only_range=10000", 16, true);
    check("read-only-sum", 13, true);
    check("read-only-count", 1, false);
    check("write-only", 6, true);
    check("read-write_range=10", 20, true);
    check("update-inlist", 1, false);
    check("scan", 1, false);
}

#[test]
fn what_engines_force_is_listed_once_with_its_tests() {
    let suite = Suite::sysbench();
    let line = |form: &Forced| {
        let mysql = form.form(rqps_model::Engine::Mysql, None).unwrap();
        format!("{}, {} tests: {mysql}", form.what, form.tests.len())
    };
    let lines: Vec<String> = suite.forced.iter().map(line).collect();
    expect_test::expect![[r#"
        column id, 0 tests: id INTEGER NOT NULL AUTO_INCREMENT
        primary key, 0 tests: declared with the table, which it holds
        column c, ORDER BY, 0 tests: CHARSET=latin1 COLLATE=latin1_swedish_ci
        columns c and pad, as sent, 0 tests: 119 and 59 bytes, without it
        load, 0 tests: LOAD DATA LOCAL INFILE, a transaction for each 100,000 rows
        statement begin, 13 tests: BEGIN, as text
        statement insert, 1 tests: INSERT INTO {table} (id, k, c, pad) VALUES (0, $1, $2, $3)"#]]
    .assert_eq(&lines.join("\n"));
    let begin = suite.forced.iter().find(|form| form.what == "statement begin").unwrap();
    let transactions = suite.tests.iter().filter(|test| test.transaction).map(|test| &test.name);
    assert!(begin.tests.iter().eq(transactions));
}

#[test]
fn bad_workload_files_are_refused_with_the_reason() {
    let check = |edit: (&str, &str), expected: &str| {
        let text = SYSBENCH.replacen(edit.0, edit.1, 1);
        assert_ne!(text, SYSBENCH, "{edit:?}");
        let error = Suite::parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(("format = 1", "format = 2"), "reads format 1");
    check(("format = 1", "format ="), "workload file");
    check(("rank = 2", "rnak = 2"), "rnak");
    check(("parameters = [\"id\"]", "parameters = [\"identity\"]"), "names parameter `identity`");
    check(
        ("event = \"point-select\"", "event = \"point-selekt\""),
        "test `point-query.pre` names event `point-selekt`",
    );
    check(("kind = \"sum-range\"", "kind = \"sum\""), "names statement `sum`");
    check(("WHERE id=$1", "WHERE id=$2"), "lacks $1");
    check(("WHERE id=$1", "WHERE id=$1 OR id=$2"), "only 1 parameters are generated");
    check(("({list})", "($1)"), "{list}");
    check(("FROM {table}", "FROM sbtest"), "lacks {table}");
    check(
        ("parameters = [\"id\", \"last-of-range\"]", "parameters = [\"last-of-range\", \"id\"]"),
        "refers to one before",
    );
    check(("table = \"delete\"", "table = \"insert\""), "earlier statement");
    check(("before = [\"warm\"]", "before = [\"warn\"]"), "unknown work `warn`");
    check(("range = 1000\n", "range = 70000\n"), "65535");
    check(("range = 100\n", "range = 0\n"), "at least 1");
    check(("name = \"hot-points\"", "name = \"scan\""), "stands there twice");
}
