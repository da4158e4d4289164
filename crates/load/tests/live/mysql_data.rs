//! What a load leaves behind on MySQL and MariaDB, and the work between tests there.

use crate::SMALL;
use crate::servers::{MYSQL_AND_MARIADB, Product};
use rqps_load::LoadError;
use rqps_load::prepare_data::prepare_data;
use rqps_load::work::{between_tests, work};
use rqps_model::StorageEngine;
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::Target;
use std::os::unix::fs::PermissionsExt;

/// More than one transaction of the load.
const DATA: DataShape = DataShape { tables: 2, rows: 101_000 };

/// Variables that are changed while a server is brought to rest, and others like them.
const FLUSHING: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name RLIKE \
                        'innodb_(max_dirty|io_capacity|idle_flush|purge_rseg_truncate)'";

fn dirty_pages(server: &LiveServer) -> u64 {
    let status = server.ask("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
    status[0].rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn tables_hold_the_same_rows_as_those_of_postgresql() {
    let postgres = Product::Postgres.shared();
    prepare_data(&postgres.target(), DATA, 42, 2).unwrap();
    let rows = |table: u32| format!("SELECT id, k, rtrim(c), rtrim(pad) FROM sbtest{table} ORDER BY id");
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        let report = prepare_data(&server.target(), DATA, 42, 2).unwrap();
        assert_eq!((report.rows, report.left), (202_000, None));
        assert!(dirty_pages(&server) <= 16);
        for table in 1..=2 {
            assert_eq!(server.ask(&rows(table)), postgres.ask(&rows(table)), "{product:?} sbtest{table}");
        }
        let created = server.ask("SHOW CREATE TABLE sbtest2").remove(0).replace("int(11)", "int");
        // MariaDB shows a number without quotes from 10.2.2 on.
        let created = created.replace("DEFAULT 0", "DEFAULT '0'").replace(" COLLATE=latin1_swedish_ci", "");
        assert_eq!(
            created.split_whitespace().collect::<Vec<_>>().join(" "),
            "sbtest2 CREATE TABLE `sbtest2` ( `id` int NOT NULL AUTO_INCREMENT, `k` int NOT NULL DEFAULT '0', \
             `c` char(120) NOT NULL DEFAULT '', `pad` char(60) NOT NULL DEFAULT '', PRIMARY KEY (`id`), \
             KEY `k_2` (`k`) ) ENGINE=InnoDB AUTO_INCREMENT=101001 DEFAULT CHARSET=latin1"
        );
        // The load is not in the binary log.
        let logs = server.ask("SHOW BINARY LOGS");
        let bytes: u64 = logs.iter().map(|log| log.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
        assert!(bytes < 10_000, "{logs:?}");
    });
}

#[test]
fn works_do_what_they_say() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        let target = server.target();
        prepare_data(&target, SMALL, 1, 2).unwrap();
        let flushing = server.ask(FLUSHING);
        let mut session = server.session();
        session.execute("UPDATE sbtest1 SET c = pad").unwrap();
        session.execute("DELETE FROM sbtest2 WHERE id <= 500").unwrap();
        let done = work(Work::Postwrite, &target, SMALL).unwrap();
        assert!(done.left.is_none() && done.seconds > 0.0, "{done:?}");
        assert!(dirty_pages(&server) <= 16, "{product:?}");
        assert_eq!(server.ask(FLUSHING), flushing);
        for name in Work::ALL {
            work(name, &target, SMALL).unwrap();
        }
        let rows = server.ask("SELECT n_rows FROM mysql.innodb_table_stats WHERE table_name = 'sbtest2'");
        assert!((1300..1700).contains(&rows[0].parse::<u32>().unwrap()), "an estimate of 1500: {rows:?}");

        session.execute("FLUSH LOGS").unwrap();
        assert!(server.ask("SHOW BINARY LOGS").len() > 1);
        between_tests(&target).unwrap();
        assert_eq!(server.ask("SHOW BINARY LOGS").len(), 1);
    });
}

#[test]
fn binary_logs_outside_the_data_folder_are_not_begun_anew() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let elsewhere = tempfile::Builder::new().prefix("rqps-logs-").tempdir().unwrap();
        std::fs::set_permissions(elsewhere.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let logs = elsewhere.path().join("binlog");
        let server = LiveServer::start(&product.wanted().with(&format!("log-bin={}", logs.display())));
        server.session().execute("FLUSH LOGS").unwrap();
        let before = server.ask("SHOW BINARY LOGS");
        let refused = between_tests(&server.target());
        let place = logs.display().to_string();
        assert!(matches!(&refused, Err(LoadError::Mismatch { found, .. }) if *found == place), "{refused:?}");
        assert_eq!(server.ask("SHOW BINARY LOGS"), before, "{product:?}");
    });
}

#[test]
fn what_was_changed_meanwhile_is_put_back_also_when_the_work_fails() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = product.start();
        let target = server.target();
        prepare_data(&target, SMALL, 1, 2).unwrap();
        let flushing = server.ask(FLUSHING);
        // As long as this reader looks at the past, nothing can be purged.
        let mut reader = server.session();
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
        let mut writer = server.session();
        for id in 1..=100 {
            writer.execute(&format!("UPDATE sbtest1 SET c = pad WHERE id = {id}")).unwrap();
        }
        let (reader_id, writer_id) = (reader.backend_pid(), writer.backend_pid());
        let failed = std::thread::scope(|scope| {
            let worker = scope.spawn(|| work(Work::Vacuum, &target, SMALL));
            let deadline = std::time::Instant::now() + rqps_testkit::PATIENCE;
            while server.ask(FLUSHING) == flushing {
                assert!(std::time::Instant::now() < deadline, "nothing was changed");
            }
            let others = format!(
                "SELECT ID FROM information_schema.PROCESSLIST \
                 WHERE USER = 'bench' AND ID NOT IN (CONNECTION_ID(), {reader_id}, {writer_id})"
            );
            for id in server.ask(&others) {
                // One that asked before may be on its way out still.
                let _ = writer.execute(&format!("KILL {id}"));
            }
            worker.join().unwrap().unwrap_err()
        });
        assert!(matches!(failed, LoadError::Wire { .. }), "{failed}");
        assert_eq!(server.ask(FLUSHING), flushing, "{product:?}");
    });
}

#[test]
fn another_character_set_is_refused_with_its_place() {
    on_each(&MYSQL_AND_MARIADB, |product| {
        let server = LiveServer::start(&product.wanted().with("character-set-server=utf8").with("skip-log-bin"));
        for storage in [StorageEngine::Innodb, StorageEngine::Rocksdb] {
            let target = Target { storage: Some(storage), ..server.target() };
            match prepare_data(&target, SMALL, 1, 1) {
                Err(LoadError::Mismatch { place, what, found, .. }) => assert_eq!(
                    (place.as_str(), what, found.as_str()),
                    ("the server (character_set_server)", "character set", "utf8")
                ),
                other => panic!("{other:?}"),
            }
        }
        // Nothing to begin anew.
        between_tests(&server.target()).unwrap();
    });
}
