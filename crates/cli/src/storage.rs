//! What a build's tables can be stored by.
//!
//! In: an installed build, or a release of the catalog. Out: its storage engines, as far as it tells without being started.

use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, StorageEngine};
use rqps_server::Release;
use rqps_server::fetch::Package;

/// The plugin of MariaDB that brings RocksDB tables, as its file is called.
const ROCKSDB_PLUGIN: &str = "ha_rocksdb";

/// The package of Debian that brings the plugin.
const ROCKSDB_PACKAGE: &str = "mariadb-plugin-rocksdb";

/// The storage engines of an installed build.
pub(crate) fn of_build(facts: &BuildFacts) -> Vec<StorageEngine> {
    brought(facts.engine, facts.extensions.iter().any(|plugin| plugin == ROCKSDB_PLUGIN))
}

/// The storage engines of a release; `None` where its package tells only when it is unpacked.
pub(crate) fn of_release(release: &Release) -> Option<Vec<StorageEngine>> {
    let optional = release.engine.storage_engines().contains(&StorageEngine::Rocksdb);
    match &release.package {
        Package::Apt { debs, .. } => Some(brought(release.engine, debs.iter().any(|deb| deb.name == ROCKSDB_PACKAGE))),
        _ => (!optional).then(|| brought(release.engine, false)),
    }
}

fn brought(engine: Engine, has_rocksdb: bool) -> Vec<StorageEngine> {
    let all = engine.storage_engines().iter().copied();
    all.filter(|storage| *storage != StorageEngine::Rocksdb || has_rocksdb).collect()
}

/// Storage engines as a list names them; nothing where there is no choice.
pub(crate) fn told(storage: &[StorageEngine]) -> String {
    storage.iter().map(|storage| storage.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_server::Catalog;

    #[test]
    fn a_release_tells_its_storage_engines_by_its_packages() {
        let catalog = Catalog::built_in();
        let of = |engine: Engine, version: &str| {
            let release = catalog.find(engine, &version.parse().expect("a version")).expect("in the catalog");
            of_release(release).map(|storage| told(&storage))
        };
        for version in ["10.5.23", "10.11.18", "11.8.6"] {
            assert_eq!(of(Engine::Mariadb, version).as_deref(), Some("innodb, rocksdb"), "{version}");
        }
        assert_eq!(of(Engine::Mariadb, "11.4.5"), None);
        assert_eq!(of(Engine::Mysql, "8.0.33").as_deref(), Some("innodb"));
        assert_eq!(of(Engine::Postgres, "17.11").as_deref(), Some(""));
    }
}
