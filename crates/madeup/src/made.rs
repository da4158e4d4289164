//! Made-up builds, settings and plans of every engine.
//!
//! In: a word of a recipe, such as `17.11` or `mariadb:11.4.5+rocksdb`. Out: facts as a real server would leave them,
//! in the words of its engine.

use rqps_model::facts::{BuildFacts, SettingsFacts, StatementPlan};
use rqps_model::{Engine, StorageEngine, Version};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// From this change on a treatment is given another plan, as large improvements have.
const RATIO_OF_ANOTHER_PLAN: f64 = 1.5;

/// What a recipe's word names.
pub(super) struct Made {
    pub(super) engine: Engine,
    pub(super) version: Version,
    pub(super) storage: Option<StorageEngine>,
}

impl Made {
    pub(super) fn of(word: &str) -> Made {
        let (engine, rest) = word.split_once(':').unwrap_or(("postgres", word));
        let (version, storage) =
            rest.split_once('+').map_or((rest, None), |(version, storage)| (version, Some(storage)));
        let engine = Engine::find(engine).expect("recipes name engines");
        let storage = storage.map(|storage| StorageEngine::find(storage).expect("recipes name storage engines"));
        Made {
            engine,
            version: version.parse().expect("recipes name versions"),
            storage: storage.or_else(|| engine.storage_engines().first().copied()),
        }
    }

    pub(super) fn profile(&self) -> &'static str {
        if self.engine == Engine::Postgres { "x10a" } else { "z12a" }
    }

    pub(super) fn configuration(&self) -> String {
        match self.storage {
            Some(StorageEngine::Rocksdb) => format!("{}_rocksdb", self.profile()),
            _ => self.profile().to_owned(),
        }
    }

    pub(super) fn build(&self, treatment: &str) -> BuildFacts {
        let (engine, version) = (self.engine, &self.version);
        let (compiler, flags) = match engine {
            Engine::Postgres => ("gcc 12.2.0", "-O2 -fno-omit-frame-pointer"),
            Engine::Mysql => ("gcc 8.5.0 and 4.8.5", ""),
            Engine::Mariadb => ("gcc 8.5.0", ""),
        };
        BuildFacts {
            name: treatment.split('.').next().unwrap_or(treatment).to_owned(),
            engine,
            banner: match engine {
                Engine::Postgres => format!("postgres (PostgreSQL) {version}"),
                _ => format!("mysqld  Ver {version} for Linux on x86_64"),
            },
            folder: PathBuf::from(format!("/opt/builds/{version}")),
            origin: format!("package:{version}"),
            source: String::new(),
            sha256: format!("{:0>64}", version.to_string().replace(|c: char| !c.is_ascii_hexdigit(), "")),
            version: version.clone(),
            compiler: compiler.to_owned(),
            flags: flags.to_owned(),
            configure: String::new(),
            extensions: Vec::new(),
            library_folders: Vec::new(),
            size_bytes: 40 << 20,
            symbols: "symbols, frame pointers".to_owned(),
        }
    }

    pub(super) fn settings(&self) -> SettingsFacts {
        let is_postgres = self.engine == Engine::Postgres;
        let mut effective = if is_postgres { self.of_postgres() } else { self.of_mysql() };
        effective.insert("server_version".to_owned(), self.version.to_string());
        let buffer = if is_postgres { ("shared_buffers", "1GB") } else { ("innodb_buffer_pool_size", "1073741824") };
        SettingsFacts {
            configuration: format!("{}_c2r8", self.configuration()),
            written: [(buffer.0.to_owned(), buffer.1.to_owned())].into(),
            effective,
            server_cpus: vec![0],
            client_cpus: vec![0],
            encoding: if is_postgres { "LATIN1" } else { "latin1" }.to_owned(),
            collation: if is_postgres { "C" } else { "latin1_swedish_ci" }.to_owned(),
            checksums: !is_postgres,
            storage_engine: self.storage.map(|storage| storage.name().to_owned()).unwrap_or_default(),
            transport: "unix".to_owned(),
            ..SettingsFacts::default()
        }
    }

    fn of_postgres(&self) -> BTreeMap<String, String> {
        let mut settings = owned(&[
            ("shared_buffers", "1GB"),
            ("max_wal_size", "16GB"),
            ("jit", "off"),
            ("fsync", "on"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "on"),
            ("wal_level", "replica"),
            ("default_transaction_isolation", "read committed"),
            ("data_directory", "/var/tmp/rqps/a"),
        ]);
        let is_new = self.version.major() >= 18;
        settings.insert("effective_io_concurrency".to_owned(), if is_new { "16" } else { "1" }.to_owned());
        if is_new {
            settings.insert("io_method".to_owned(), "worker".to_owned());
        }
        settings
    }

    fn of_mysql(&self) -> BTreeMap<String, String> {
        let mut settings = owned(&[
            ("innodb_buffer_pool_size", "1073741824"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("innodb_doublewrite", "ON"),
            ("innodb_checksum_algorithm", "crc32"),
            ("innodb_flush_method", "O_DIRECT_NO_FSYNC"),
            ("sync_binlog", "0"),
            ("log_bin", "ON"),
            ("binlog_format", "ROW"),
            ("binlog_row_image", "FULL"),
            ("performance_schema", "ON"),
            ("datadir", "/var/tmp/rqps/b"),
        ]);
        let is_new = self.engine == Engine::Mysql && self.version.major() >= 8;
        let isolation = if is_new { "transaction_isolation" } else { "tx_isolation" };
        settings.insert(isolation.to_owned(), "REPEATABLE-READ".to_owned());
        if is_new {
            settings.insert("innodb_redo_log_capacity".to_owned(), "17179869184".to_owned());
        } else {
            settings.extend(owned(&[("innodb_log_file_size", "8589934592"), ("innodb_log_files_in_group", "2")]));
        }
        if self.storage == Some(StorageEngine::Rocksdb) {
            settings.extend(owned(&[
                ("rocksdb_block_cache_size", "1073741824"),
                ("rocksdb_flush_log_at_trx_commit", "2"),
                ("rocksdb_use_direct_reads", "ON"),
            ]));
        }
        settings
    }

    /// Server counters per statement, in the words of the engine; another plan reads fewer pages.
    pub(super) fn counters(&self, truth: f64) -> Vec<(&'static str, f64)> {
        let saved = if truth >= RATIO_OF_ANOTHER_PLAN { 1.0 } else { 0.0 };
        match self.engine {
            Engine::Postgres => vec![
                ("pg_stat_database.blks_hit", 4.0 - saved),
                ("pg_stat_database.tup_fetched", 1.0),
                ("pg_stat_database.xact_commit", 1.0),
                ("pg_stat_io.hits", 4.1 - saved),
                ("pg_stat_wal.wal_bytes", 120.0),
            ],
            Engine::Mysql | Engine::Mariadb => vec![
                ("status.Innodb_buffer_pool_read_requests", 6.0 - saved),
                ("status.Handler_read_key", 1.0),
                ("status.Bytes_sent", 250.0),
            ],
        }
    }

    /// The plan of the one statement; a large change comes with another index.
    pub(super) fn statement_plan(&self, truth: f64) -> StatementPlan {
        let is_other = truth >= RATIO_OF_ANOTHER_PLAN;
        let (sql, plan) = match self.engine {
            Engine::Postgres => {
                let scan = if is_other { "Index Only Scan" } else { "Index Scan" };
                let cost = "(cost=0.29..8.31 rows=1 width=121)";
                let plan = format!("{scan} using sbtest1_pkey on sbtest1  {cost}\n  Index Cond: (id = $1)");
                ("SELECT c FROM sbtest1 WHERE id=$1", plan)
            }
            Engine::Mysql | Engine::Mariadb => {
                let extra = if is_other { " extra=Using index" } else { "" };
                let chosen = format!("sbtest1: type=ref key=k_1 key_len=4 ref=const{extra}");
                let estimated = format!("  select=SIMPLE possible_keys=k_1 rows={}", self.version.major());
                let further = if self.version.major() == 8 { "tree:\n-> Index lookup on sbtest1" } else { "json:\n{}" };
                ("SELECT c FROM sbtest1 WHERE id=?", format!("{chosen}\n{estimated}\n{further}"))
            }
        };
        StatementPlan { statement: "select".to_owned(), sql: sql.to_owned(), plan, ..StatementPlan::default() }
    }
}

fn owned(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
    settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}
