//! The servers of these tests, and what the general log of MySQL and MariaDB saw.
//!
//! In: which product. Out: a server with what the tests look at: statistics of statements and quick deadlock checks in
//! PostgreSQL, binary and general log in the others.

use rqps_testkit::{LiveServer, Wanted};

/// A PostgreSQL.
pub(crate) fn postgres() -> LiveServer {
    let options =
        ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track=all", "deadlock_timeout=5ms"];
    LiveServer::start(&options.into_iter().fold(Wanted::postgres(), Wanted::with))
}

/// Which product of those that speak MySQL's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    Mysql,
    Mariadb,
}

impl Product {
    pub(crate) const ALL: [Product; 2] = [Product::Mysql, Product::Mariadb];

    pub(crate) fn start(self) -> LiveServer {
        LiveServer::start(&self.wanted())
    }

    /// For those who want more options.
    pub(crate) fn wanted(self) -> Wanted {
        match self {
            Product::Mysql => with_logs(Wanted::mysql()),
            Product::Mariadb => with_logs(Wanted::mariadb()),
        }
    }
}

/// A MariaDB with its RocksDB plugin.
pub(crate) fn rocksdb() -> LiveServer {
    LiveServer::start(&with_logs(Wanted::rocksdb()).with("rocksdb-deadlock-detect=ON"))
}

fn with_logs(wanted: Wanted) -> Wanted {
    let options = [
        "character-set-server=latin1",
        "log-bin=binlog",
        "server-id=1",
        "sync-binlog=0",
        "general-log-file=general.log",
        "innodb-lock-wait-timeout=1",
    ];
    options.into_iter().fold(wanted, Wanted::with)
}

/// Does `act` and returns what the server says it executed meanwhile, prepared or as text, in order.
pub(crate) fn executed(server: &LiveServer, act: impl FnOnce()) -> Vec<String> {
    let path = server.folder().join("data/general.log");
    server.ask("SET GLOBAL general_log = 1");
    let before = std::fs::read(&path).unwrap().len();
    act();
    server.ask("SET GLOBAL general_log = 0");
    let log = String::from_utf8(std::fs::read(&path).unwrap().split_off(before)).unwrap();
    // A line is time, number of the session, and then the command and its text after a tab.
    let executed = log.lines().filter_map(|line| {
        let (head, sql) = line.rsplit_once('\t')?;
        let command = head.split_whitespace().last()?;
        (matches!(command, "Execute" | "Query") && !sql.starts_with("SET ")).then(|| sql.to_owned())
    });
    executed.collect()
}
