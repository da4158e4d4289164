//! Answers as servers give them. Real servers are asked in `tests/servers/counters.rs`.

use super::*;

fn table(columns: &[&str], rows: &[&[Option<&str>]]) -> Table {
    let text = |value: &Option<&str>| value.map(str::to_owned);
    Table {
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        rows: rows.iter().map(|row| row.iter().map(text).collect()).collect(),
    }
}

#[test]
fn numbers_are_taken_and_text_is_not() {
    let status = table(
        &["Variable_name", "Value"],
        &[
            &[Some("Innodb_rows_read"), Some("3146")],
            &[Some("Last_query_cost"), Some("0.000000")],
            &[Some("Compression"), Some("OFF")],
            &[Some("Innodb_buffer_pool_resize_status"), Some("")],
            &[Some("Odd"), Some("inf")],
            &[Some("Null"), None],
        ],
    );
    let mut counters = Counters::new();
    named_numbers("status", &status, "Variable_name", "Value", &mut counters);
    let expected = [("status.Innodb_rows_read".to_owned(), 3146.0), ("status.Last_query_cost".to_owned(), 0.0)];
    assert_eq!(counters.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn metrics_that_are_switched_off_are_not_told() {
    let rows: [&[Option<&str>]; 3] = [
        &[Some("lock_deadlocks"), Some("2"), Some("enabled")],
        &[Some("cpu_n"), Some("0"), Some("disabled")],
        &[Some("no_state"), Some("1"), None],
    ];
    let mysql = enabled(table(&["NAME", "COUNT", "STATUS"], &rows));
    assert_eq!(mysql.rows.len(), 1);
    let rows: [&[Option<&str>]; 2] =
        [&[Some("lock_deadlocks"), Some("2"), Some("1")], &[Some("cpu_n"), Some("0"), Some("0")]];
    let mut counters = Counters::new();
    named_numbers("m", &enabled(table(&["name", "count", "ENABLED"], &rows)), "NAME", "COUNT", &mut counters);
    assert_eq!(counters.into_iter().collect::<Vec<_>>(), [("m.lock_deadlocks".to_owned(), 2.0)]);
    assert!(enabled(table(&["NAME"], &[&[Some("x")]])).rows.is_empty());
}

#[test]
fn column_families_and_files_are_added_up() {
    let families = table(
        &["CF_NAME", "STAT_TYPE", "VALUE"],
        &[
            &[Some("default"), Some("NUM_IMMUTABLE_MEM_TABLE"), Some("1")],
            &[Some("__system__"), Some("NUM_IMMUTABLE_MEM_TABLE"), Some("2")],
        ],
    );
    let mut counters = Counters::new();
    named_numbers("rocksdb_cfstats", &families, "STAT_TYPE", "VALUE", &mut counters);
    assert_eq!(counters["rocksdb_cfstats.NUM_IMMUTABLE_MEM_TABLE"], 3.0);
    let files = table(&["NAME", "FILE_SIZE"], &[&[Some("a/b"), Some("10")], &[Some("a/c"), Some("5")]]);
    assert_eq!((sum(&files, "file_size"), sum(&files, "ALLOCATED_SIZE")), (Some(15.0), None));
}
