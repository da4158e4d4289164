//! The servers of these tests, by product, and what the general log of MySQL and MariaDB saw.
//!
//! In: which product. Out: a server with what the tests look at: statistics of statements and quick deadlock checks in
//! PostgreSQL, binary and general log in the others. A test that ends or freezes a server, reads its log or brings it
//! to rest, which changes settings of the whole server on MySQL, starts its own; the others share one.

use rqps_model::StorageEngine;
use rqps_testkit::{LiveServer, Wanted};

/// Which product, and in MariaDB what stores its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    Postgres,
    Mysql,
    Mariadb,
    Rocksdb,
}

/// One of each engine.
pub(crate) const ENGINES: [Product; 3] = [Product::Postgres, Product::Mysql, Product::Mariadb];

/// Those that speak MySQL's protocol. Tests that take long run on PostgreSQL, and on these in `scripts/nightly`.
pub(crate) const MYSQL_AND_MARIADB: [Product; 2] = [Product::Mysql, Product::Mariadb];

impl Product {
    /// A server of its own.
    pub(crate) fn start(self) -> LiveServer {
        LiveServer::start(&self.wanted())
    }

    /// A database of its own on the server of all tests.
    pub(crate) fn shared(self) -> LiveServer {
        LiveServer::shared(&self.wanted())
    }

    /// For tests that want more options.
    pub(crate) fn wanted(self) -> Wanted {
        const POSTGRES: [&str; 4] = [
            "shared_preload_libraries=pg_stat_statements",
            "pg_stat_statements.track=all",
            "deadlock_timeout=5ms",
            "max_connections=300",
        ];
        const MYSQL: [&str; 6] = [
            "character-set-server=latin1",
            "log-bin=binlog",
            "server-id=1",
            "sync-binlog=0",
            "general-log-file=general.log",
            "innodb-lock-wait-timeout=1",
        ];
        let with = |wanted: Wanted, options: &[&str]| options.iter().fold(wanted, |wanted, option| wanted.with(option));
        match self {
            Product::Postgres => with(Wanted::postgres(), &POSTGRES),
            Product::Mysql => with(Wanted::mysql(), &MYSQL),
            Product::Mariadb => with(Wanted::mariadb(), &MYSQL),
            Product::Rocksdb => with(Wanted::rocksdb(), &MYSQL).with("rocksdb-deadlock-detect=ON"),
        }
    }

    /// What its tables are stored in, where the engine leaves a choice.
    pub(crate) fn storage(self) -> Option<StorageEngine> {
        match self {
            Product::Postgres => None,
            Product::Mysql | Product::Mariadb => Some(StorageEngine::Innodb),
            Product::Rocksdb => Some(StorageEngine::Rocksdb),
        }
    }

    /// What differs between PostgreSQL on the one hand, MySQL and MariaDB on the other.
    pub(crate) fn either<T>(self, postgres: T, mysql: T) -> T {
        if self == Product::Postgres { postgres } else { mysql }
    }
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
