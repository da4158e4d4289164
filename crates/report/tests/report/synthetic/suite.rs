//! The tests of the invented campaign: names, groups, usual throughput and statements.

use rqps_model::{Group, Unit};

/// A test and how fast an invented server does it.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) group: Group,
    pub(crate) unit: Unit,
    pub(crate) throughput: f64,
    pub(crate) statements: Vec<(String, String)>,
}

const POINT_COLUMNS: &str = "SELECT c FROM sbtest1 WHERE id=$1";

/// The first `count` tests of each group in turn, in published order.
pub(crate) fn tests(count: usize) -> Vec<Test> {
    let rows: &[(&str, Group, u32, f64, &str)] = &[
        ("hot-points", Group::Point, 100, 4812.0, "SELECT id, k, c, pad FROM sbtest1 WHERE id IN ($1, $2, $3, …)"),
        ("point-query", Group::Point, 100, 21640.0, POINT_COLUMNS),
        ("points-covered-pk", Group::Point, 100, 3120.0, "SELECT id FROM sbtest1 WHERE id IN ($1, $2, $3, …)"),
        ("points-covered-si", Group::Point, 100, 2988.0, "SELECT k FROM sbtest1 WHERE k IN ($1, $2, $3, …)"),
        ("points-notcovered-pk", Group::Point, 100, 2710.0, "SELECT id, c FROM sbtest1 WHERE id IN ($1, $2, …)"),
        ("points-notcovered-si", Group::Point, 100, 2544.0, "SELECT k, c FROM sbtest1 WHERE k IN ($1, $2, …)"),
        ("random-points_range=1000", Group::Point, 1000, 301.0, "SELECT id, k, c, pad FROM sbtest1 WHERE id IN (…)"),
        ("random-points_range=100", Group::Point, 100, 2703.0, "SELECT id, k, c, pad FROM sbtest1 WHERE id IN (…)"),
        ("random-points_range=10", Group::Point, 10, 12480.0, "SELECT id, k, c, pad FROM sbtest1 WHERE id IN (…)"),
        ("point-query.pre", Group::Point, 100, 21903.0, POINT_COLUMNS),
        ("points-covered-pk.pre", Group::Point, 100, 3170.0, "SELECT id FROM sbtest1 WHERE id IN ($1, $2, …)"),
        ("points-notcovered-pk.pre", Group::Point, 100, 2754.0, "SELECT id, c FROM sbtest1 WHERE id IN ($1, $2, …)"),
        ("points-covered-si.pre", Group::Point, 100, 3014.0, "SELECT k FROM sbtest1 WHERE k IN ($1, $2, …)"),
        ("points-notcovered-si.pre", Group::Point, 100, 2599.0, "SELECT k, c FROM sbtest1 WHERE k IN ($1, $2, …)"),
        ("range-covered-pk", Group::Range, 100, 12010.0, "SELECT id FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("range-covered-si", Group::Range, 100, 11874.0, "SELECT k FROM sbtest1 WHERE k BETWEEN $1 AND $2"),
        ("range-notcovered-pk", Group::Range, 100, 8820.0, "SELECT id, c FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("range-notcovered-si", Group::Range, 100, 4233.0, "SELECT k, c FROM sbtest1 WHERE k BETWEEN $1 AND $2"),
        ("range-covered-pk.pre", Group::Range, 100, 12190.0, "SELECT id FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("scan", Group::Range, 100, 5211.0, "SELECT * FROM sbtest1 WHERE LENGTH(c) < 0"),
        ("read-only-count", Group::RangeAgg, 1000, 2214.0, "SELECT count(c) FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        (
            "read-only-distinct",
            Group::RangeAgg,
            1000,
            6512.0,
            "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
        ),
        (
            "read-only-order",
            Group::RangeAgg,
            1000,
            7008.0,
            "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
        ),
        (
            "read-only_range=10000",
            Group::RangeAgg,
            10000,
            388.0,
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2",
        ),
        ("read-only_range=100", Group::RangeAgg, 100, 14230.0, "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("read-only_range=10", Group::RangeAgg, 10, 17802.0, "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("read-only-simple", Group::RangeAgg, 1000, 10110.0, "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        ("read-only-sum", Group::RangeAgg, 1000, 13422.0, "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2"),
        (
            "read-only.pre_range=10000",
            Group::RangeAgg,
            10000,
            394.0,
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2",
        ),
        (
            "read-only.pre_range=100",
            Group::RangeAgg,
            100,
            14502.0,
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2",
        ),
        (
            "read-only.pre_range=10",
            Group::RangeAgg,
            10,
            17990.0,
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2",
        ),
        ("delete", Group::Write, 100, 15402.0, "DELETE FROM sbtest1 WHERE id=$1"),
        ("insert", Group::Write, 100, 9021.0, "INSERT INTO sbtest1 (k, c, pad) VALUES (…)"),
        ("read-write_range=100", Group::Write, 100, 11330.0, "UPDATE sbtest1 SET k=k+1 WHERE id=$1"),
        ("read-write_range=10", Group::Write, 10, 13118.0, "UPDATE sbtest1 SET k=k+1 WHERE id=$1"),
        ("update-index", Group::Write, 100, 7790.0, "UPDATE sbtest1 SET k=k+1 WHERE id=$1"),
        ("update-inlist", Group::Write, 100, 4410.0, "UPDATE sbtest1 SET c=$1 WHERE id IN ($2, …)"),
        ("update-nonindex", Group::Write, 100, 9940.0, "UPDATE sbtest1 SET c=$1 WHERE id=$2"),
        ("update-one", Group::Write, 100, 10670.0, "UPDATE sbtest1 SET c=$1 WHERE id=$2"),
        ("update-zipf", Group::Write, 100, 9833.0, "UPDATE sbtest1 SET c=$1 WHERE id=$2"),
        ("write-only", Group::Write, 10000, 12601.0, "UPDATE sbtest1 SET k=k+1 WHERE id=$1"),
        ("range-notcovered-si.pre", Group::Range, 100, 4301.0, "SELECT k, c FROM sbtest1 WHERE k BETWEEN $1 AND $2"),
    ];
    assert!(count <= rows.len(), "the suite has {} tests", rows.len());
    // Fewer tests leave out those that run right after the load, as the usual sets do.
    let mut chosen: Vec<_> = rows.iter().filter(|row| !row.0.contains(".pre")).collect();
    chosen.extend(rows.iter().filter(|row| row.0.contains(".pre")));
    chosen.truncate(count);
    chosen.sort_by_key(|row| row.1);
    chosen.into_iter().map(test).collect()
}

fn test(&(name, group, range, throughput, sql): &(&'static str, Group, u32, f64, &str)) -> Test {
    let transaction = name.starts_with("read-") && name != "read-only-count" || name == "write-only";
    let mut statements = vec![("main".to_owned(), sql.to_owned())];
    if transaction {
        statements.insert(0, ("begin".to_owned(), "BEGIN".to_owned()));
        statements.insert(1, ("point".to_owned(), POINT_COLUMNS.to_owned()));
        statements.push(("commit".to_owned(), "COMMIT".to_owned()));
    }
    let label = if name.contains("_range=") { name.to_owned() } else { format!("{name}_range={range}") };
    let unit = if name == "scan" { Unit::KiloRowsPerSecond } else { Unit::QueriesPerSecond };
    Test { name, label, group, unit, throughput, statements }
}
