//! Which server a test wants: its build, its options, files that must be there before it starts.
//!
//! In: what the test says, and the environment, which may name another build. Out: the word of a build, such as
//! `mysql:5.7.22`. It must not install anything.

use rqps_builds::storage::ROCKSDB_PLUGIN;
use std::env::VarError;
use std::path::Path;

/// Where a distribution installs PostgreSQL, one folder a major version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// The variable that names other PostgreSQLs than these.
const POSTGRES: &str = "RQPS_TEST_POSTGRES";

/// The smallest that the catalog has of each, and the one of those whose plugin stores tables in RocksDB.
const MYSQL: &str = "mysql:5.7.22";
const MARIADB: &str = "mariadb:10.2.11";
const ROCKSDB: &str = "mariadb:10.11.18";

/// A server as a test wants it.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// None is the newest PostgreSQL that a distribution has installed.
    build: Option<String>,
    /// The variable of the environment that names another.
    variable: Option<&'static str>,
    pub(crate) options: Vec<String>,
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) is_on_loopback: bool,
}

impl Wanted {
    /// The newest PostgreSQL that a distribution has installed, or the build or folder that `RQPS_TEST_POSTGRES` names.
    pub fn postgres() -> Wanted {
        Wanted { variable: Some(POSTGRES), ..Wanted::default() }
    }

    /// Every PostgreSQL that a distribution has installed, or those that the variable names, as folders with a colon
    /// between.
    pub fn every_postgres() -> Vec<Wanted> {
        let words = Wanted::postgres().named().map_or_else(|| installed(Path::new(INSTALLED)), |named| words(&named));
        words.iter().map(|word| Wanted::of(word)).collect()
    }

    /// The smallest MySQL of the catalog, or the build that `RQPS_TEST_MYSQL` names.
    pub fn mysql() -> Wanted {
        Wanted { variable: Some("RQPS_TEST_MYSQL"), ..Wanted::of(MYSQL) }
    }

    /// The smallest MariaDB of the catalog, or the build that `RQPS_TEST_MARIADB` names.
    pub fn mariadb() -> Wanted {
        Wanted { variable: Some("RQPS_TEST_MARIADB"), ..Wanted::of(MARIADB) }
    }

    /// A MariaDB with its RocksDB plugin, or the build that `RQPS_TEST_ROCKSDB` names.
    pub fn rocksdb() -> Wanted {
        Wanted { variable: Some("RQPS_TEST_ROCKSDB"), ..Wanted::of(ROCKSDB) }.with_rocksdb()
    }

    /// This build, in the words of `--build`, whatever the environment says.
    pub fn of(word: &str) -> Wanted {
        Wanted { build: Some(word.to_owned()), ..Wanted::default() }
    }

    /// This build instead of the usual one, where the environment names none.
    pub fn build(self, word: &str) -> Wanted {
        Wanted { build: Some(word.to_owned()), ..self }
    }

    /// An option as `name=value`, or `name` alone where the engine allows it; the last of the same name counts.
    pub fn with(mut self, option: &str) -> Wanted {
        self.options.push(option.to_owned());
        self
    }

    /// With the plugin that stores tables in RocksDB.
    pub fn with_rocksdb(self) -> Wanted {
        self.with(&format!("plugin-load-add={ROCKSDB_PLUGIN}")).with("plugin-maturity=unknown")
    }

    /// A file in the server's folder, put there before it starts; `data/` is its data folder.
    pub fn with_file(mut self, path: &'static str, text: &str) -> Wanted {
        self.files.push((path, text.to_owned()));
        self
    }

    /// Listening on a free port of 127.0.0.1 too.
    pub fn on_loopback(self) -> Wanted {
        Wanted { is_on_loopback: true, ..self }
    }

    /// The word of the build.
    pub(crate) fn word(&self) -> String {
        match self.named().or_else(|| self.build.clone()) {
            Some(word) => words(&word).remove(0),
            None => installed(Path::new(INSTALLED)).pop().expect("at least one"),
        }
    }

    /// What the environment names.
    fn named(&self) -> Option<String> {
        let variable = self.variable?;
        match std::env::var(variable) {
            Err(VarError::NotPresent) => None,
            named => Some(named.unwrap_or_else(|error| panic!("{variable}: {error}"))),
        }
    }
}

/// What is named, as words of builds: folders of PostgreSQL, with a colon between them, be it the installation or its
/// programs; anything else is one word already.
fn words(named: &str) -> Vec<String> {
    if !named.starts_with('/') {
        return vec![named.to_owned()];
    }
    let folder = |path: &str| {
        let path = path.strip_suffix('/').unwrap_or(path);
        format!("postgres:{}", path.strip_suffix("/bin").unwrap_or(path))
    };
    named.split(':').map(folder).collect()
}

/// Every PostgreSQL that is installed there, the newest last, as words of builds.
fn installed(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let majors = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut majors: Vec<u32> =
        majors.filter(|major| folder.join(major.to_string()).join("bin/postgres").is_file()).collect();
    assert!(
        !majors.is_empty(),
        "no PostgreSQL in {}: these tests run against a real server; install one with `apt-get install postgresql`, or set \
         {POSTGRES} to a build such as postgres:17.11 or to a folder",
        folder.display()
    );
    majors.sort_unstable();
    majors.iter().map(|major| format!("postgres:{}", folder.join(major.to_string()).display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_words_are_builds() {
        for (named, expected) in [
            ("postgres:17.11", &["postgres:17.11"][..]),
            ("/usr/lib/postgresql/15/bin", &["postgres:/usr/lib/postgresql/15"]),
            ("/opt/pg17/:/opt/pg18/bin/", &["postgres:/opt/pg17", "postgres:/opt/pg18"]),
            ("mysql:/opt/my", &["mysql:/opt/my"]),
            ("my8033", &["my8033"]),
        ] {
            assert_eq!(words(named), expected);
        }
    }

    #[test]
    fn every_one_that_has_a_server_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["15/bin/postgres", "9/bin/postgres", "17/bin/psql", "common/bin/postgres"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let expected = ["9", "15"].map(|major| format!("postgres:{}", folder.path().join(major).display()));
        assert_eq!(installed(folder.path()), expected);
    }

    #[test]
    fn what_is_named_outright_does_not_depend_on_the_environment() {
        assert_eq!(Wanted::of("mysql:8.0.33").word(), "mysql:8.0.33");
        let wanted = Wanted { variable: Some("RQPS_TEST_NEVER_SET"), ..Wanted::of("x") };
        assert_eq!(wanted.build("mysql:8.0.15").word(), "mysql:8.0.15");
        // Set in every process.
        assert_ne!(Wanted { variable: Some("PATH"), ..Wanted::of("x") }.word(), "x");
    }
}
