//! What cannot be the same on every engine: the forms of statements, tables and loading that an engine forces, with the
//! reason.
//!
//! In: the entries `forced` of a workload file. Out: a form for an engine, for plan and report, so that a comparison
//! across engines says in what it isn't like with like. It decides nothing. It is the only file of the crate that asks
//! which engine it is.

use rqps_model::{Engine, StorageEngine};
use serde::Deserialize;

/// One difference that engines or storage engines force on work that is otherwise the same.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forced {
    /// What differs, such as `load` or `statement insert`.
    pub what: String,
    /// The tests in which it does; all where none is named.
    #[serde(default)]
    pub tests: Vec<String>,
    /// The form on PostgreSQL.
    pub postgres: String,
    /// The form on MySQL and MariaDB, where it is the same for every storage engine.
    pub mysql: Option<String>,
    /// The form of InnoDB's tables, where storage engines differ.
    pub innodb: Option<String>,
    /// The form of RocksDB's tables, where storage engines differ.
    pub rocksdb: Option<String>,
    /// Why.
    pub because: String,
}

impl Forced {
    /// The form on an engine with its tables in a storage engine.
    pub fn form(&self, engine: Engine, storage: Option<StorageEngine>) -> Option<&str> {
        let of_storage = match storage.unwrap_or(StorageEngine::Innodb) {
            StorageEngine::Innodb => &self.innodb,
            StorageEngine::Rocksdb => &self.rocksdb,
        };
        of_engine(engine, Some(&self.postgres), of_storage.as_ref().or(self.mysql.as_ref())).map(String::as_str)
    }
}

/// The form for an engine, of the two that there can be: MySQL and MariaDB share one.
pub(crate) const fn of_engine<T: Copy>(engine: Engine, postgres: T, mysql: T) -> T {
    match engine {
        Engine::Postgres => postgres,
        Engine::Mysql | Engine::Mariadb => mysql,
    }
}
