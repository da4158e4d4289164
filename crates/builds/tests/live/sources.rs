//! PostgreSQL from source, as a whole: minutes of compiling.

use rqps_builds::installation::{self, Progress};
use rqps_builds::{Catalog, verify};
use rqps_machine::Cache;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;

fn install(word: &str) -> (BuildFacts, Vec<Progress>) {
    let mut steps = Vec::new();
    let spec = word.parse().expect("a build");
    let cache = Cache::open().expect("the user's cache");
    let facts = installation::install(&spec, &Catalog::built_in(), &cache, &mut |step| steps.push(step));
    (facts.expect("installed"), steps)
}

#[test]
fn a_source_package_is_fetched_and_is_the_one_of_the_catalog() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = Catalog::built_in();
    let package = catalog.find_source(Engine::Postgres, &"15.18".parse().expect("a version")).expect("there");
    let archive = package.fetch(folder.path()).expect("fetched");
    verify::check_package(&archive, &package.to_string(), &package.archive.sha256).expect("the same");
    assert_eq!(std::fs::metadata(&archive).expect("there").len(), package.size_bytes.expect("known"));

    let mut gone = package.clone();
    (gone.archive.version, gone.archive.file) = ("15.17-0+deb12u1".to_owned(), "pool/main/p/gone.tar.bz2".to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let error = gone.fetch(folder.path()).expect_err("gone").to_string();
    assert!(error.contains("bookworm no longer offers postgresql-15 15.17-0+deb12u1; it has 15."), "{error}");
}

/// In the user's cache: the other tests that want it compile it no more.
#[test]
#[ignore = "compiles PostgreSQL for minutes; scripts/nightly runs it"]
fn postgres_is_compiled_from_its_source_package_with_the_flags_of_its_flavour() {
    let (facts, _) = install("postgres:src:15.18");
    assert_eq!((facts.version.to_string().as_str(), facts.origin.as_str()), ("15.18", "src:15.18+o2nofp"));
    assert!(facts.name.starts_with("pg1518_o2nofp_"), "{}", facts.name);
    assert!(facts.compiler.starts_with("gcc"), "{}", facts.compiler);
    assert!(facts.flags.contains("CFLAGS=") && facts.flags.contains("-O2 -fno-omit-frame-pointer"), "{}", facts.flags);
    assert!(facts.configure.contains("--without-icu") && !facts.flags.contains("ccache"), "{facts:?}");
    assert!(facts.symbols.contains("debug information") && !facts.symbols.contains("no frame"), "{}", facts.symbols);
    for extension in ["pg_prewarm", "pg_stat_statements", "pgstattuple", "amcheck"] {
        assert!(facts.extensions.iter().any(|known| known == extension), "{extension} of {:?}", facts.extensions);
    }
    assert!(facts.folder.with_file_name("build.log").is_file());
    let (again, steps) = install("postgres:src:15.18+o2nofp");
    assert_eq!((again, steps), (facts, Vec::new()), "found, not compiled again");
}
