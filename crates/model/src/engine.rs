//! The closed set of database systems that rqps compares, their storage engines, and their short names in result files.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A database system whose builds can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MySQL.
    Mysql,
    /// MariaDB.
    Mariadb,
}

impl Engine {
    /// All engines, in the order in which they are listed.
    pub const ALL: [Engine; 3] = [Engine::Postgres, Engine::Mysql, Engine::Mariadb];

    /// The word used in `--build postgres:17.11`.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Postgres => "postgres",
            Engine::Mysql => "mysql",
            Engine::Mariadb => "mariadb",
        }
    }

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

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`; expected one of: postgres, mysql, mariadb")]
pub struct UnknownEngine(pub String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Engine::ALL.into_iter().find(|engine| engine.name() == text).ok_or_else(|| UnknownEngine(text.to_owned()))
    }
}

/// What stores the tables inside MySQL and MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageEngine {
    /// B-trees with undo and redo logs.
    Innodb,
    /// Log-structured merge trees (MyRocks).
    Rocksdb,
}

impl StorageEngine {
    /// All storage engines.
    pub const ALL: [StorageEngine; 2] = [StorageEngine::Innodb, StorageEngine::Rocksdb];

    /// The word used by `--storage-engine` and by `ENGINE=` in SQL.
    pub const fn name(self) -> &'static str {
        match self {
            StorageEngine::Innodb => "innodb",
            StorageEngine::Rocksdb => "rocksdb",
        }
    }

    /// The name as its makers write it.
    pub const fn title(self) -> &'static str {
        match self {
            StorageEngine::Innodb => "InnoDB",
            StorageEngine::Rocksdb => "RocksDB",
        }
    }
}

impl fmt::Display for StorageEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no storage engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown storage engine `{0}`; expected innodb or rocksdb")]
pub struct UnknownStorageEngine(pub String);

impl FromStr for StorageEngine {
    type Err = UnknownStorageEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = StorageEngine::ALL.into_iter().find(|storage| storage.name() == text);
        found.ok_or_else(|| UnknownStorageEngine(text.to_owned()))
    }
}
