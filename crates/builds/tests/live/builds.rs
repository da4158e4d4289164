//! Builds: installed once, refused when not as in the catalog, checked, removed; and what two of the same do.

use crate::scene::build;
use rqps_builds::installation::{self, Progress};
use rqps_builds::{BuildError, Catalog};
use rqps_machine::Cache;
use rqps_model::Engine;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The compiled-in catalog with one thing of 16.15 replaced.
fn catalog_with(from: &str, to: &str) -> Catalog {
    let text = include_str!("../../../../catalog/postgres.toml");
    assert!(text.contains(from));
    let mut catalog = Catalog::default();
    catalog.add("test", &text.replace(from, to)).expect("read");
    catalog
}

fn install(catalog: &Catalog, cache: &Cache) -> (Result<String, BuildError>, Vec<Progress>) {
    let mut steps = Vec::new();
    let spec = "postgres:16.15".parse().expect("a build");
    let result = installation::install(&spec, catalog, cache, &mut |step| steps.push(step));
    (result.map(|facts| facts.name), steps)
}

fn is_empty(cache: &Cache) -> bool {
    let entries = fs::read_dir(cache.root().join("builds")).expect("listed").flatten();
    entries.filter(|e| e.file_name() != ".lock").count() == 0
}

fn own_cache() -> (tempfile::TempDir, Cache) {
    let root = tempfile::tempdir().expect("a folder");
    // The server's account inspects the build.
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    let cache = Cache::at(root.path()).expect("a cache");
    (root, cache)
}

#[test]
fn is_installed_once_checked_and_removed() {
    let (_root, cache) = own_cache();
    let catalog = Catalog::built_in();
    let (name, steps) = install(&catalog, &cache);
    assert_eq!(name.expect("installed"), "pg1615_zonky");
    assert!(matches!(steps[0], Progress::Fetching { .. }) && steps.len() == 5, "{steps:?}");
    let (again, steps) = install(&catalog, &cache);
    assert_eq!((again.expect("there").as_str(), steps), ("pg1615_zonky", Vec::new()));
    assert_eq!(installation::list(&cache).expect("listed").len(), 1);

    let facts = installation::show(&cache, "pg1615_zonky").expect("there");
    assert_eq!((facts.engine, facts.version.to_string().as_str()), (Engine::Postgres, "16.15"));
    assert!(facts.compiler.starts_with("gcc") && facts.compiler.contains("7.5"), "{}", facts.compiler);
    assert!(facts.flags.contains("-Os") && facts.configure.contains("--with-icu"), "{facts:?}");
    assert!(facts.extensions.iter().any(|e| e == "pg_stat_statements") && facts.extensions.len() > 30);
    assert!(
        facts.symbols.starts_with("symbol table") && facts.symbols.ends_with("no frame pointers"),
        "{}",
        facts.symbols
    );
    assert!((50 << 20..80 << 20).contains(&facts.size_bytes), "{}", facts.size_bytes);
    assert!(facts.folder.join("bin/postgres").is_file() && facts.origin.ends_with(":16.15.0:jar"));

    installation::verify(&cache, "pg1615_zonky").expect("as installed");
    fs::write(facts.folder.join("bin/extra"), "x").expect("written");
    fs::remove_file(facts.folder.join("share/postgresql/postgres.bki")).expect("removed");
    let error = installation::verify(&cache, "pg1615_zonky").expect_err("damaged").to_string();
    assert!(error.contains("share/postgresql/postgres.bki is missing; bin/extra was added"), "{error}");
    for wrong in ["pg9_zonky", "../leases", ""] {
        assert!(matches!(installation::show(&cache, wrong), Err(BuildError::NotInstalled { .. })), "{wrong}");
        assert!(matches!(installation::remove(&cache, wrong), Err(BuildError::NotInstalled { .. })), "{wrong}");
    }
    installation::remove(&cache, "pg1615_zonky").expect("removed");
    assert!(is_empty(&cache));
}

#[test]
fn a_build_whose_server_was_changed_is_not_measured() {
    let (_root, cache) = own_cache();
    let catalog = Catalog::built_in();
    install(&catalog, &cache).0.expect("installed");
    let facts = installation::show(&cache, "pg1615_zonky").expect("there");
    // What `verify` would find elsewhere does not keep a build from being used.
    fs::write(facts.folder.join("share/postgresql/postgres.bki"), "x").expect("written");
    install(&catalog, &cache).0.expect("the server is as installed");
    let server = facts.folder.join("bin/postgres");
    let mut bytes = fs::read(&server).expect("read");
    *bytes.last_mut().expect("a byte") ^= 1;
    fs::write(&server, bytes).expect("written");
    let error = install(&catalog, &cache).0.expect_err("another server").to_string();
    for words in ["build pg1615_zonky is damaged: bin/postgres is not as installed", "rqps builds install pg1615_zonky"]
    {
        assert!(error.contains(words), "{words}: {error}");
    }
    installation::remove(&cache, "pg1615_zonky").expect("removed");
    install(&catalog, &cache).0.expect("installed again");
}

#[test]
fn a_package_that_does_not_match_is_not_installed() {
    let (_root, cache) = own_cache();
    let right =
        Catalog::built_in().find(Engine::Postgres, &"16.15".parse().expect("a version")).expect("there").sha256.clone();
    let (result, _) = install(&catalog_with(&right, &"0".repeat(64)), &cache);
    let error = result.expect_err("refused").to_string();
    assert!(error.contains(&right) && error.contains(&"0".repeat(64)) && error.contains("16.15.0:jar"), "{error}");
    assert!(is_empty(&cache));
    let (result, _) = install(&catalog_with("postgres-linux-x86_64.txz", "other.txz"), &cache);
    let error = result.expect_err("refused").to_string();
    assert!(error.contains("`other.txz`") && error.contains("it holds"), "{error}");
    assert!(is_empty(&cache));
    // A catalog that calls the package of 16.11 16.15, with its right checksum.
    let mislabelled =
        include_str!("../../../../catalog/postgres.toml").replace("version = \"16.11\"", "version = \"16.15\"");
    let mislabelled = mislabelled.split("[[release]]\nversion = \"16.15\"").collect::<Vec<_>>();
    let mut catalog = Catalog::default();
    let text = format!("{}[[release]]\nversion = \"16.15\"{}", mislabelled[0], mislabelled[1]);
    catalog.add("test", &text).expect("read");
    let (result, _) = install(&catalog, &cache);
    let error = result.expect_err("refused").to_string();
    assert!(error.contains("holds version 16.11, not 16.15"), "{error}");
    assert!(is_empty(&cache));
}

#[test]
fn an_unknown_package_is_reported_as_by_the_client() {
    let (_root, cache) = own_cache();
    let (result, _) = install(&catalog_with("package = \"16.15.0\"", "package = \"16.15.0-nowhere\""), &cache);
    match result {
        Err(error @ BuildError::Fetch { .. }) => assert!(error.to_string().contains("16.15.0-nowhere"), "{error}"),
        other => panic!("{other:?}"),
    }
    assert!(is_empty(&cache));
}

#[test]
fn two_at_once_install_it_once() {
    let (_root, cache) = own_cache();
    let catalog = Catalog::built_in();
    let fetched = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| install(&catalog, &cache)));
        both.map(|thread| {
            let (name, steps) = thread.join().expect("no panic");
            assert_eq!(name.expect("installed"), "pg1615_zonky");
            steps.iter().filter(|s| matches!(s, Progress::Fetching { .. })).count()
        })
    });
    assert_eq!(fetched.iter().sum::<usize>(), 1);
    assert_eq!(cache.build_names().expect("listed"), ["pg1615_zonky"]);
}

#[test]
fn a_folder_is_taken_as_it_is() {
    let facts = build("postgres:/usr/lib/postgresql/15");
    assert_eq!(facts.origin, "/usr/lib/postgresql/15");
    let installed = build("postgres:17.11");
    let by_folder = build(&format!("postgres:{}", installed.folder.display()));
    assert_eq!((by_folder.name.as_str(), by_folder.version), ("pg1711_local", installed.version));
    assert_eq!((by_folder.compiler, by_folder.flags), (installed.compiler, installed.flags));
    assert!(Path::new(&by_folder.origin).is_absolute());
}
