//! A server as those who work on it need to know it: the way to it, its version, and what stores its tables.
//!
//! In: what was started. Out: the same, in one piece, so that the server is not asked again. It stands beside
//! [`Endpoint`], since those who load and observe know this crate and not the one that starts servers.

use crate::Endpoint;
use rqps_model::{Engine, StorageEngine, Version};

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The way to it.
    pub endpoint: Endpoint,
    /// Its version.
    pub version: Version,
    /// What stores its tables, where the engine leaves a choice.
    pub storage: Option<StorageEngine>,
}

impl Target {
    /// The database system that it is.
    pub const fn engine(&self) -> Engine {
        self.endpoint.engine
    }

    /// What stores the tables of MySQL and MariaDB: InnoDB where nothing else was chosen.
    pub fn mysql_storage(&self) -> StorageEngine {
        self.storage.unwrap_or(StorageEngine::Innodb)
    }

    /// Whether it is a MySQL from `mysql` on or a MariaDB from `mariadb` on; `None` is never.
    pub fn is_since(&self, mysql: Option<[u32; 3]>, mariadb: Option<[u32; 3]>) -> bool {
        let since = match self.engine() {
            Engine::Postgres => None,
            Engine::Mysql => mysql,
            Engine::Mariadb => mariadb,
        };
        let own = [self.version.part(0), self.version.part(1), self.version.part(2)];
        since.is_some_and(|since| own >= since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;

    #[test]
    fn versions_are_compared_within_their_own_line() {
        let check = |engine: Engine, version: &str, is_since: bool| {
            let endpoint = Endpoint {
                engine,
                transport: Transport::Unix { path: "/run/s".into() },
                user: "u".into(),
                password: None,
                database: "d".into(),
                options: Vec::new(),
            };
            let target = Target { endpoint, version: version.parse().unwrap(), storage: None };
            assert_eq!(target.is_since(Some([8, 0, 16]), Some([10, 6, 0])), is_since, "{engine} {version}");
            assert!(!target.is_since(None, None));
        };
        check(Engine::Mysql, "5.7.22", false);
        check(Engine::Mysql, "8.0.15", false);
        check(Engine::Mysql, "8.0.33", true);
        check(Engine::Mysql, "9.4.0", true);
        check(Engine::Mariadb, "10.2.11", false);
        check(Engine::Mariadb, "10.11.19", true);
        check(Engine::Mariadb, "12.3.1", true);
        check(Engine::Postgres, "17.11", false);
    }
}
