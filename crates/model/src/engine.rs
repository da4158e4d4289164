//! The closed set of database systems that rqps compares, their storage engines, and their short names in result files.

use crate::words;

words! {
    /// A database system whose builds can be compared; its word is that of `--build postgres:17.11`.
    Engine {
        /// PostgreSQL.
        Postgres = "postgres",
        /// MySQL.
        Mysql = "mysql",
        /// MariaDB.
        Mariadb = "mariadb",
    }
}

impl Engine {
    /// The prefix of a build's name, as in `pg1711`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Engine::Postgres => "pg",
            Engine::Mysql => "my",
            Engine::Mariadb => "ma",
        }
    }

    /// The name as its makers write it.
    pub const fn title(self) -> &'static str {
        match self {
            Engine::Postgres => "PostgreSQL",
            Engine::Mysql => "MySQL",
            Engine::Mariadb => "MariaDB",
        }
    }

    /// Names of its server program, the present one first.
    pub const fn server_programs(self) -> &'static [&'static str] {
        match self {
            Engine::Postgres => &["postgres"],
            Engine::Mysql => &["mysqld"],
            Engine::Mariadb => &["mariadbd", "mysqld"],
        }
    }

    /// The storage engines that its tables can have, the default first; none where there is no choice.
    pub const fn storage_engines(self) -> &'static [StorageEngine] {
        match self {
            Engine::Postgres => &[],
            Engine::Mysql => &[StorageEngine::Innodb],
            Engine::Mariadb => &StorageEngine::ALL,
        }
    }
}

words! {
    /// What stores the tables inside MySQL and MariaDB; its word is that of `--storage-engine` and of `ENGINE=` in SQL.
    StorageEngine {
        /// B-trees with undo and redo logs.
        Innodb = "innodb",
        /// Log-structured merge trees (MyRocks).
        Rocksdb = "rocksdb",
    }
}

impl StorageEngine {
    /// The name as its makers write it.
    pub const fn title(self) -> &'static str {
        match self {
            StorageEngine::Innodb => "InnoDB",
            StorageEngine::Rocksdb => "RocksDB",
        }
    }
}
