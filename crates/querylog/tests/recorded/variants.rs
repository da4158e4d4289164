//! Variants of slow logs that no server of the catalog writes. Written by hand after the manuals and the sources of
//! these servers, not recorded.

use rqps_querylog::{Choice, Dialect, Filter, Log, choose, read_slow_log};

fn read(text: &str) -> (Choice, Log) {
    let mut log = Log::new(Dialect::Mysql, Filter::default());
    read_slow_log("slow.log", text.as_bytes(), &mut log).unwrap_or_else(|faults| panic!("{faults:?}"));
    (choose(&log, 20), log)
}

/// Name, calls and milliseconds of each statement.
fn told(choice: &Choice) -> Vec<String> {
    let told = |one: &rqps_querylog::Statement| format!("{} {} {:.3}", one.name, one.calls, one.milliseconds);
    choice.statements.iter().map(told).collect()
}

#[test]
fn mysql_5_0_has_whole_seconds_and_the_user_on_the_line_of_the_time() {
    let (choice, log) = read(
        "/usr/sbin/mysqld, Version: 5.0.38-Ubuntu_0ubuntu1.1-log (Ubuntu 7.04 distribution). started with:\n\
         Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n\
         Time                 Id Command    Argument\n\
         # Time: 071015 21:43:52 # User@Host: root[root] @ localhost []\n\
         # Query_time: 2  Lock_time: 0  Rows_sent: 1  Rows_examined: 0\n\
         use test;\n\
         select sleep(2) from n;\n\
         # Time: 071015  9:45:10\n\
         # User@Host: root[root] @ localhost []\n\
         # Query_time: 3  Lock_time: 0  Rows_sent: 1  Rows_examined: 0\n\
         SET last_insert_id=7,insert_id=8,timestamp=1192491910;\n\
         select sleep(3) from n;\n\
         # User@Host: root[root] @ localhost []\n\
         # Query_time: 1  Lock_time: 0  Rows_sent: 0  Rows_examined: 0\n\
         # administrator command: Quit;\n",
    );
    assert_eq!(told(&choice), ["n 2 5000.000"]);
    assert_eq!(choice.left_out.iter().map(|left| left.calls).collect::<Vec<_>>(), [1.0]);
    assert_eq!(log.seconds(), None, "one time alone is no span");
}

#[test]
fn percona_says_for_how_many_a_statement_stands() {
    let (choice, _) = read(
        "# Time: 160122 13:30:09.123456\n\
         # User@Host: app[app] @ web1 [10.0.0.1]  Id:    12\n\
         # Schema: shop  Last_errno: 0  Killed: 0\n\
         # Query_time: 0.000500  Lock_time: 0.000004  Rows_sent: 1  Rows_examined: 0  Rows_affected: 0\n\
         # Bytes_sent: 85  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n\
         # InnoDB_trx_id: A1B2\n\
         # QC_Hit: No  Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n\
         # Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n\
         #   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0  InnoDB_IO_r_wait: 0.000000\n\
         # No InnoDB statistics available for this query\n\
         # Log_slow_rate_type: query  Log_slow_rate_limit: 100\n\
         SET timestamp=1453469409;\n\
         SELECT total FROM orders WHERE id = 7;\n\
         # User@Host: app[app] @ web1 [10.0.0.1]\n\
         # Thread_id: 12  Schema:   Last_errno: 0  Killed: 0\n\
         # Query_time: 0.001000  Lock_time: 0.000004  Rows_sent: 1  Rows_examined: 0\n\
         SET timestamp=1453469499;\n\
         SELECT total FROM orders WHERE id = 8;\n\
         # User@Host: [SQL_SLAVE] @  []\n\
         # Query_time: 0.001000  Lock_time: 0.000004  Rows_sent: 1  Rows_examined: 0\n\
         SET timestamp=1453469499;\n\
         INSERT INTO orders VALUES (1);\n",
    );
    assert_eq!(told(&choice), ["orders-by-id 101 51.000"]);
    assert_eq!(choice.statements[0].rows, [[Some("7".to_owned())], [Some("8".to_owned())]]);
    assert_eq!(choice.left_out.len(), 1, "what a replica applied");
    assert_eq!(choice.seconds, Some(90.0));
}

#[test]
fn mariadb_logs_statements_of_routines_beside_their_call() {
    let (choice, _) = read(
        "# Time: 260101 10:00:00\n\
         # User@Host: app[app] @ localhost []\n\
         # Thread_id: 5  Schema: shop  QC_hit: No\n\
         # Query_time: 0.001000  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
         # Stored_routine: shop.pay\n\
         SET timestamp=1;\n\
         UPDATE customers SET credit = credit + 1 WHERE id = who@0;\n\
         # User@Host: app[app] @ localhost []\n\
         # Query_time: 0.002000  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
         SET timestamp=1;\n\
         CALL pay(2);\n",
    );
    assert_eq!(told(&choice), ["call-pay 1 2.000"]);
    assert_eq!(choice.left_out.len(), 1, "what its call has already");
}
