//! Statements that make pgbench's tables, and rows of them.

use rqps_pgbench::{Partitions, Table, Tables, Work, steps};

/// Our statements as the server would log them. Branches and tellers, which pgbench fills by INSERT until 16, are left
/// out on both sides.
fn made(tables: &Tables, letters: &str) -> Vec<String> {
    let steps = steps(letters).expect("steps").into_iter();
    let work = steps.flat_map(|step| tables.work(step)).filter_map(|work| match work {
        Work::Sql(sql) | Work::Copy { sql, table: Table::Accounts } => Some(sql.replace('\n', "\n\t")),
        Work::Copy { .. } => None,
    });
    work.flat_map(|sql| sql.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[track_caller]
fn check(tables: &Tables, letters: &str, recorded: &str) {
    let is_row = |line: &&str| line.starts_with("insert into") && line.contains(" values");
    let recorded: Vec<&str> = recorded.lines().filter(|line| !is_row(line)).collect();
    assert_eq!(made(tables, letters), recorded);
}

#[test]
fn tables_are_made_as_pgbench_made_them() {
    check(&Tables::new(1), "dtgvp", include_str!("tables-plain.txt"));
    check(&Tables::new(1), "dtgvpf", include_str!("tables.txt"));
    let server = Tables { fillfactor: 90, unlogged: true, ..Tables::new(1) };
    check(&server, "dtGvp", include_str!("tables-server.txt"));
    let range = Tables { fillfactor: 80, partitions: Some(Partitions::Range(3)), ..Tables::new(2) };
    check(&range, "dtgp", include_str!("tables-range.txt"));
    let hash = Tables { partitions: Some(Partitions::Hash(2)), ..Tables::new(1) };
    check(&hash, "dtg", include_str!("tables-hash.txt"));
}

#[test]
fn rows_are_those_that_pgbench_made() {
    let tables = Tables::new(1);
    let mut rows = Vec::new();
    for (table, wanted) in [(Table::Branches, 0..1), (Table::Tellers, 0..10), (Table::Accounts, 0..3)] {
        wanted.for_each(|row| tables.write_row(table, row, &mut rows));
    }
    (99_998..100_000).for_each(|row| tables.write_row(Table::Accounts, row, &mut rows));
    let rows = String::from_utf8(rows).expect("text");
    // The server pads what is of fixed length.
    let recorded: Vec<String> =
        include_str!("rows.txt").lines().map(|line| line.trim_end_matches(' ').to_owned()).collect();
    assert_eq!(rows.lines().collect::<Vec<_>>(), recorded);
    assert_eq!(rows.lines().count(), 16);
    assert_eq!(
        [Table::Branches, Table::Tellers, Table::Accounts, Table::History].map(|table| tables.rows(table)),
        [1, 10, 100_000, 0]
    );
}
