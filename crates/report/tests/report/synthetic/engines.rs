//! The invented campaign in other clothes: builds of MySQL, MariaDB and PostgreSQL with settings, plans and counters in
//! the words of each.
//!
//! In: which builds. Out: findings of a ladder whose treatments are of these engines. The numbers stay invented.

use super::{Size, findings};
use rqps_analysis::findings::{CounterFindings, Findings, PlanFindings, SideBySide, TreatmentFindings, Warning};
use rqps_model::plan::ForcedForm;
use rqps_model::{Engine, StorageEngine, WarningKind};
use std::collections::BTreeMap;

/// A build of some engine.
pub(crate) struct InventedEngine {
    engine: Engine,
    version: &'static str,
    build: &'static str,
    storage: Option<StorageEngine>,
}

const fn mysql(version: &'static str, build: &'static str) -> InventedEngine {
    InventedEngine { engine: Engine::Mysql, version, build, storage: Some(StorageEngine::Innodb) }
}

const fn mariadb(storage: StorageEngine) -> InventedEngine {
    InventedEngine { engine: Engine::Mariadb, version: "11.4.5", build: "ma110405_conda", storage: Some(storage) }
}

const POSTGRES: InventedEngine =
    InventedEngine { engine: Engine::Postgres, version: "17.11", build: "pg1711_zonky", storage: None };

impl InventedEngine {
    pub(crate) const MYSQL: [InventedEngine; 4] = [
        mysql("5.6.14", "my5614_bin"),
        mysql("5.7.22", "my5722_bin"),
        mysql("8.0.15", "my8015_bin"),
        mysql("8.0.33", "my8033_bin"),
    ];
    pub(crate) const TWO: [InventedEngine; 2] = [POSTGRES, mysql("8.0.33", "my8033_bin")];
    pub(crate) const STORAGE: [InventedEngine; 2] = [mariadb(StorageEngine::Innodb), mariadb(StorageEngine::Rocksdb)];
    pub(crate) const FIVE: [InventedEngine; 5] = [
        POSTGRES,
        mysql("5.6.14", "my5614_bin"),
        mysql("8.0.33", "my8033_bin"),
        mariadb(StorageEngine::Innodb),
        mariadb(StorageEngine::Rocksdb),
    ];

    fn profile(&self) -> &'static str {
        match (self.engine, self.storage) {
            (Engine::Postgres, _) => "x10a",
            (_, Some(StorageEngine::Rocksdb)) => "z12a_rocksdb",
            _ => "z12a",
        }
    }
}

/// Findings of a campaign with these builds, the first as base.
pub(crate) fn of_engines(builds: &[InventedEngine]) -> Findings {
    let mut made = findings(Size { tests: 32, treatments: builds.len(), rounds: 5, seconds: 20, seed: 17 });
    let several = builds.iter().any(|build| build.engine != builds[0].engine);
    for (at, build) in builds.iter().enumerate() {
        let base = (builds[0].engine, at == 0);
        dress(&mut made.treatments[at], build, base);
    }
    for (at, build) in builds.iter().enumerate() {
        let peer = made.peer(at);
        if at != peer {
            made.treatments[at].settings_diff = difference(build);
        }
        for test in &mut made.tests {
            let cell = &mut test.cells[at];
            let is_other = test.name == "read-only-count" && at != peer;
            cell.plans.iter_mut().for_each(|plan| *plan = dressed(plan, build, is_other));
            for (n, counter) in cell.counters.iter_mut().enumerate() {
                *counter = count(counter, build, n, at == peer);
            }
        }
    }
    if several {
        made.forced = forced(builds);
    }
    if several || builds.iter().any(|build| build.storage != builds[0].storage) {
        made.side_by_side = side_by_side(builds);
    }
    made
}

fn dress(treatment: &mut TreatmentFindings, build: &InventedEngine, (base, is_base): (Engine, bool)) {
    treatment.name = format!("{}.{}_c2r24", build.build, build.profile());
    treatment.storage = build.storage;
    treatment.settings_diff = BTreeMap::new();
    treatment.settings.configuration = format!("{}_c2r24", build.profile());
    treatment.settings.storage_engine = build.storage.map(|storage| storage.name().to_owned()).unwrap_or_default();
    treatment.build.engine = build.engine;
    treatment.build.name = build.build.to_owned();
    treatment.build.version = build.version.parse().expect("a version");
    treatment.build.origin = format!("{}-{}-linux-x86_64", build.engine, build.version);
    treatment.warnings.clear();
    if !is_base && build.engine != base {
        treatment.warnings.push(Warning {
            kind: WarningKind::UnlikeBuilds,
            cause: "compiler gcc 8.5.0, gcc 4.8.5 instead of gcc 13.3.0; flags unknown here".to_owned(),
            advice: Some(
                "compare builds made in one way, or read the change as one of source and build together".to_owned(),
            ),
            in_full: None,
        });
    }
    if !is_base {
        let (title, counts) = (build.engine.title(), treatment.counts);
        treatment.sentence =
            format!("{title} {} against the base: {} tests faster, {} slower.", build.version, counts[1], counts[0]);
    }
    if build.engine == Engine::Postgres {
        return;
    }
    let settings = &mut treatment.settings;
    settings.written = [
        ("innodb_buffer_pool_size", "6442450944"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("innodb_flush_method", "O_DIRECT_NO_FSYNC"),
        ("sync_binlog", "0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    settings.left_out = [("innodb_numa_interleave".to_owned(), "this build does not have it".to_owned())].into();
    settings.encoding = "latin1".to_owned();
    settings.collation = "latin1_swedish_ci".to_owned();
    treatment.build.banner = format!("mysqld  Ver {} for Linux on x86_64", build.version);
    treatment.build.compiler = "gcc 8.5.0, gcc 4.8.5".to_owned();
    treatment.build.flags = String::new();
    treatment.build.configure = String::new();
    treatment.build.extensions = vec!["ha_rocksdb".to_owned()];
}

fn difference(build: &InventedEngine) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let told: &[(&str, Option<&str>, Option<&str>)] = match build.storage {
        Some(StorageEngine::Rocksdb) => &[("rocksdb_block_cache_size", None, Some("6442450944"))],
        _ => &[
            ("innodb_redo_log_capacity", None, Some("17179869184")),
            ("innodb_log_file_size", Some("8589934592"), None),
            ("query_cache_type", Some("OFF"), None),
            (
                "sql_mode",
                Some("NO_ENGINE_SUBSTITUTION"),
                Some(
                    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
                ),
            ),
        ],
    };
    let owned = |text: &Option<&str>| text.map(str::to_owned);
    told.iter().map(|(name, old, new)| ((*name).to_owned(), (owned(old), owned(new)))).collect()
}

fn dressed(plan: &PlanFindings, build: &InventedEngine, is_other: bool) -> PlanFindings {
    let method = if is_other { "index" } else { "range" };
    let chosen = format!("sbtest1: type={method} key=PRIMARY key_len=4 extra=Using where");
    let estimated = format!("  select=SIMPLE possible_keys=PRIMARY rows=10{}", build.version.len());
    let tree = "tree:\n-> Filter: (sbtest1.id between 1 and 100)  (cost=20.3 rows=100)\n    -> Index range scan on \
                sbtest1 using PRIMARY over (1 <= id <= 100)  (cost=20.3 rows=100)\n";
    let json = "json:\n{\n  \"query_block\": {\n    \"select_id\": 1,\n    \"table\": {\n      \"table_name\": \
                \"sbtest1\"\n    }\n  }\n}";
    let text = match build.engine {
        Engine::Postgres => plan.plan.clone(),
        Engine::Mysql if build.version.starts_with('8') => format!("{chosen}\n{estimated}\n{tree}{json}"),
        Engine::Mysql | Engine::Mariadb => format!("{chosen}\n{estimated}\n{json}"),
    };
    PlanFindings { statement: plan.statement.clone(), plan: text, differs: is_other }
}

fn count(counter: &CounterFindings, build: &InventedEngine, at: usize, is_peer: bool) -> CounterFindings {
    const NAMES: [&str; 12] = [
        "status.Innodb_buffer_pool_read_requests",
        "status.Innodb_rows_read",
        "status.Handler_read_next",
        "status.Handler_read_key",
        "status.Bytes_sent",
        "status.Bytes_received",
        "innodb_metrics.adaptive_hash_searches_btree",
        "innodb_metrics.buffer_page_read_index_leaf",
        "status.Innodb_data_fsyncs",
        "status.Innodb_os_log_written",
        "status.Binlog_cache_use",
        "status.Threads_running",
    ];
    let name = if build.engine == Engine::Postgres { counter.name.clone() } else { NAMES[at % 12].to_owned() };
    let relative = (!is_peer).then(|| 1.0 + 0.2 / (at + 1) as f64);
    CounterFindings { name, per_kilo_op: counter.per_kilo_op, relative }
}

fn forced(builds: &[InventedEngine]) -> Vec<ForcedForm> {
    let form = |what: &str, tests: &[&str], postgres: &str, mysql: &str, because: &str| {
        let of = |engine: Engine| if engine == Engine::Postgres { postgres } else { mysql };
        ForcedForm {
            what: what.to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            forms: builds.iter().map(|build| (build.engine, of(build.engine).to_owned())).collect(),
            because: because.to_owned(),
        }
    };
    vec![
        form(
            "load",
            &[],
            "COPY ... (FORMAT binary, FREEZE)",
            "LOAD DATA LOCAL INFILE, a transaction for each 100,000 rows",
            "each engine has its own bulk load",
        ),
        form(
            "statement insert",
            &["insert"],
            "INSERT INTO {table} (k, c, pad) VALUES ($1, $2, $3)",
            "INSERT INTO {table} (id, k, c, pad) VALUES (0, $1, $2, $3)",
            "the published driver names the id on MySQL, where 0 draws the next number",
        ),
        form(
            "primary key",
            &[],
            "built after the rows, beside the table",
            "declared with the table, which it holds",
            "the tables of InnoDB and RocksDB are their primary key",
        ),
    ]
}

fn side_by_side(builds: &[InventedEngine]) -> Vec<SideBySide> {
    let row = |what: &str, value: fn(&InventedEngine) -> &'static str| SideBySide {
        what: what.to_owned(),
        values: builds.iter().map(|build| value(build).to_owned()).collect(),
    };
    vec![
        row("commit", |build| match (build.engine, build.storage) {
            (Engine::Postgres, _) => "flushed some time after the reply (fsync=on, synchronous_commit=off)",
            (_, Some(StorageEngine::Rocksdb)) => {
                "flushed some time after the reply (rocksdb_flush_log_at_trx_commit=2, sync_binlog=0)"
            }
            _ => "flushed some time after the reply (innodb_flush_log_at_trx_commit=2, sync_binlog=0)",
        }),
        row("memory for data", |_| "6 GB"),
        row("isolation", |build| if build.engine == Engine::Postgres { "read committed" } else { "repeatable read" }),
        row("binary log or WAL", |build| match build.engine {
            Engine::Postgres => "wal_level=replica, wal_compression=off",
            _ => "binary log, binlog_format=ROW, binlog_row_image=FULL",
        }),
    ]
}
