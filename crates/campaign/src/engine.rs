//! What a campaign knows of the engines: defaults, how their settings and versions are named, and about what they cost.
//!
//! In: an engine, and what stores its tables. Out: words and rules of thumb. This is the one file of the crate that
//! asks which engine it is.

use rqps_model::{Engine, StorageEngine, Version};
use rqps_sql::Dialect;
use rqps_suites::Pace;
use serde::Deserialize;
use std::sync::LazyLock;

/// An engine and what stores its tables.
pub(crate) type Store = (Engine, Option<StorageEngine>);

/// What campaigns name differently by engine.
pub(crate) struct Words {
    /// The profile where none is given.
    pub(crate) default_profile: &'static str,
    /// What may stand in front of a setting that a server may not know; empty where nothing may.
    pub(crate) loose_prefix: &'static str,
    /// Whether extensions name settings of their own, with a dot.
    pub(crate) has_extensions: bool,
    /// How many numbers of a version, behind the first, make a release series; further ones count corrections.
    pub(crate) series_parts: usize,
}

const WORDS_OF_POSTGRES: Words =
    Words { default_profile: "x10a", loose_prefix: "", has_extensions: true, series_parts: 0 };
const WORDS_OF_MYSQL: Words =
    Words { default_profile: "z12a", loose_prefix: "loose_", has_extensions: false, series_parts: 1 };

/// The words of an engine.
pub(crate) const fn words(engine: Engine) -> &'static Words {
    match engine {
        Engine::Postgres => &WORDS_OF_POSTGRES,
        Engine::Mysql | Engine::Mariadb => &WORDS_OF_MYSQL,
    }
}

/// Whether its protocol has statements that are parsed at each execution with their values beside them, as pgbench
/// sends them.
pub(crate) const fn has_unnamed_statements(engine: Engine) -> bool {
    matches!(engine, Engine::Postgres)
}

/// The engine whose forms an engine takes where it has none of its own.
pub(crate) const fn falls_back_on(engine: Engine) -> Option<Engine> {
    match engine {
        Engine::Mariadb => Some(Engine::Mysql),
        Engine::Postgres | Engine::Mysql => None,
    }
}

/// How an engine reads SQL.
pub(crate) const fn dialect(engine: Engine) -> Dialect {
    match engine {
        Engine::Postgres => Dialect::Postgres,
        Engine::Mysql => Dialect::Mysql,
        Engine::Mariadb => Dialect::Mariadb,
    }
}

/// The engine that a release, a folder or an archive without one is likely to be of.
pub(crate) fn likely_engine(text: &str) -> Option<Engine> {
    /// The first MariaDB that was not numbered like MySQL, and the major versions that MySQL does not reach.
    const MARIADB_FROM: u32 = 10;
    if let Ok(version) = text.parse::<Version>() {
        // PostgreSQL has versions of two numbers, the others of three.
        return Some(match text.matches('.').count() {
            2.. if version.major() >= MARIADB_FROM => Engine::Mariadb,
            2.. => Engine::Mysql,
            _ => Engine::Postgres,
        });
    }
    let lower = text.to_lowercase();
    let named = [("maria", Engine::Mariadb), ("mysql", Engine::Mysql)];
    let named = named.into_iter().find(|(word, _)| lower.contains(word)).map(|(_, engine)| engine);
    text.contains('/').then(|| named.unwrap_or(Engine::Postgres))
}

/// What an engine costs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    /// Starting a server on its copy, which is work of one CPU.
    pub(crate) start_seconds: f64,
    /// Settling, the warming of small caches, ending it and removing its copy.
    pub(crate) around_seconds: f64,
    /// Initialising a server, per treatment.
    pub(crate) init_seconds: f64,
    /// Rows loaded and indexed a second.
    pub(crate) load_rows_per_s: f64,
    /// A row of 190 bytes with header, fill factor and two indexes.
    pub(crate) bytes_per_row: u64,
    /// An initialised data folder without any table, its logs included.
    pub(crate) empty_bytes: u64,
    /// What loading a row leaves in the log, which is copied with the data.
    pub(crate) log_bytes_per_row: u64,
    /// Whether tests write into the log that loading left before they need more.
    pub(crate) reuses_log: bool,
    /// The same for the Insert Benchmark.
    pub(crate) insert: Pace,
}

/// Costs by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AllCosts {
    postgres: Costs,
    innodb: Costs,
    rocksdb: Costs,
}

static COSTS: LazyLock<AllCosts> =
    LazyLock::new(|| toml::from_str(include_str!("costs.toml")).expect("a test reads the compiled-in costs"));

/// What an engine costs that stores its tables so.
pub(crate) fn costs(store: Store) -> &'static Costs {
    match store {
        (Engine::Postgres, _) => &COSTS.postgres,
        (Engine::Mysql | Engine::Mariadb, Some(StorageEngine::Rocksdb)) => &COSTS.rocksdb,
        (Engine::Mysql | Engine::Mariadb, _) => &COSTS.innodb,
    }
}
