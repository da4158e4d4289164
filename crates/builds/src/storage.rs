//! What a build's tables can be stored by.
//!
//! In: an installed build, or a release of the catalog. Out: its storage engines, as far as is known without starting
//! it. This is the one place that knows what brings which of them: MariaDB has RocksDB as a plugin, in a package of its
//! own.

use crate::Release;
use crate::fetch::Package;
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, StorageEngine};

/// The plugin of MariaDB that brings RocksDB tables, as its file is called and as the server loads it.
pub const ROCKSDB_PLUGIN: &str = "ha_rocksdb";

/// The package of Debian that brings the plugin.
const ROCKSDB_PACKAGE: &str = "mariadb-plugin-rocksdb";

/// The storage engines of an installed build.
pub fn storage_engines(build: &BuildFacts) -> Vec<StorageEngine> {
    brought(build.engine, build.extensions.iter().any(|plugin| plugin == ROCKSDB_PLUGIN))
}

impl Release {
    /// Its storage engines, as the installed build tells, else its packages; `None` where those tell only when they are
    /// unpacked.
    pub fn storage_engines(&self, installed: Option<&BuildFacts>) -> Option<Vec<StorageEngine>> {
        match (installed, &self.package) {
            (Some(build), _) => Some(storage_engines(build)),
            (None, Package::Apt { debs, .. }) => {
                Some(brought(self.engine, debs.iter().any(|deb| deb.name == ROCKSDB_PACKAGE)))
            }
            (None, _) => {
                let has_choice = self.engine.storage_engines().contains(&StorageEngine::Rocksdb);
                (!has_choice).then(|| brought(self.engine, false))
            }
        }
    }
}

fn brought(engine: Engine, has_rocksdb: bool) -> Vec<StorageEngine> {
    let all = engine.storage_engines().iter().copied();
    all.filter(|storage| *storage != StorageEngine::Rocksdb || has_rocksdb).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    #[test]
    fn a_release_tells_its_storage_engines_by_its_packages() {
        let catalog = Catalog::built_in();
        let of = |engine: Engine, version: &str| {
            let release = catalog.find(engine, &version.parse().expect("a version")).expect("in the catalog");
            release.storage_engines(None)
        };
        for version in ["10.5.23", "10.11.18", "11.8.6"] {
            let both = vec![StorageEngine::Innodb, StorageEngine::Rocksdb];
            assert_eq!(of(Engine::Mariadb, version), Some(both), "{version}");
        }
        assert_eq!(of(Engine::Mariadb, "11.4.5"), None);
        assert_eq!(of(Engine::Mysql, "8.0.33"), Some(vec![StorageEngine::Innodb]));
        assert_eq!(of(Engine::Postgres, "17.11"), Some(Vec::new()));
    }
}
