//! For tests only: a vocabulary of the size and shape of the real one.

use crate::vocabulary::{
    ForcedByStorage, KeptSettings, ProfileWord, Release, Seconds, SuiteWord, TestWord, Vocabulary,
};
use crate::{Campaign, Command, Flag, Resolved, ResolvedBuild, read};
use rqps_model::insert::Shape;
use rqps_model::plan::ForcedForm;
use rqps_model::settings::MachineClass;
use rqps_model::{BuildSource, BuildSpec, Engine, Group, Interleave, Plan, StorageEngine, Unit};
use std::collections::BTreeMap;

/// Tests in order of execution: name, label, group, and the smallest subset each belongs to.
const TESTS: &[(&str, Group, u32)] = &[
    ("point-query.pre", Group::Point, 42),
    ("random-points.pre_range=10", Group::Point, 42),
    ("random-points.pre_range=100", Group::Point, 42),
    ("random-points.pre_range=1000", Group::Point, 42),
    ("read-only.pre_range=10", Group::RangeAgg, 42),
    ("read-only.pre_range=100", Group::RangeAgg, 42),
    ("read-only.pre_range=10000", Group::RangeAgg, 42),
    ("points-covered-pk.pre", Group::Point, 42),
    ("points-notcovered-pk.pre", Group::Point, 42),
    ("range-covered-pk.pre", Group::Range, 42),
    ("range-notcovered-pk.pre", Group::Range, 42),
    ("points-covered-si.pre", Group::Point, 42),
    ("points-notcovered-si.pre", Group::Point, 42),
    ("range-covered-si.pre", Group::Range, 42),
    ("range-notcovered-si.pre", Group::Range, 42),
    ("update-inlist", Group::Write, 27),
    ("update-index", Group::Write, 27),
    ("update-nonindex", Group::Write, 27),
    ("update-one", Group::Write, 27),
    ("update-zipf", Group::Write, 27),
    ("write-only", Group::Write, 27),
    ("read-write_range=10", Group::Write, 27),
    ("read-write_range=100", Group::Write, 27),
    ("scan", Group::Range, 27),
    ("read-only_range=10", Group::RangeAgg, 27),
    ("read-only_range=100", Group::RangeAgg, 27),
    ("read-only_range=10000", Group::RangeAgg, 27),
    ("read-only-simple", Group::RangeAgg, 32),
    ("read-only-sum", Group::RangeAgg, 32),
    ("read-only-order", Group::RangeAgg, 32),
    ("read-only-distinct", Group::RangeAgg, 32),
    ("read-only-count", Group::RangeAgg, 32),
    ("point-query", Group::Point, 27),
    ("random-points_range=10", Group::Point, 27),
    ("random-points_range=100", Group::Point, 27),
    ("random-points_range=1000", Group::Point, 27),
    ("hot-points", Group::Point, 27),
    ("points-covered-pk", Group::Point, 27),
    ("points-notcovered-pk", Group::Point, 27),
    ("range-covered-pk", Group::Range, 27),
    ("range-notcovered-pk", Group::Range, 27),
    ("points-covered-si", Group::Point, 27),
    ("points-notcovered-si", Group::Point, 27),
    ("range-covered-si", Group::Range, 27),
    ("range-notcovered-si", Group::Range, 27),
    ("delete", Group::Write, 27),
    ("insert", Group::Write, 27),
];

const RELEASES: [(Engine, &[&str]); 3] = [
    (
        Engine::Postgres,
        &["12.22", "13.23", "14.20", "14.24", "15.15", "15.19", "16.11", "16.15", "17.7", "17.11", "18.1", "18.6"],
    ),
    (Engine::Mysql, &["5.6.14", "5.7.22", "8.0.15", "8.0.33"]),
    (Engine::Mariadb, &["10.2.11", "10.11.5", "10.11.18", "11.4.5"]),
];

const PROFILES: [(Engine, &[&str]); 3] = [
    (Engine::Postgres, &["x10a", "x10a_io", "x10a_sync", "x10b"]),
    (Engine::Mysql, &["z12a", "z12a_io", "z12a_sync", "z13a"]),
    (Engine::Mariadb, &["z12a", "z12a_io", "z12a_sync", "z12b"]),
];

/// As the catalog would name a release.
fn build_name(engine: Engine, version: &rqps_model::Version) -> String {
    let maker = if engine == Engine::Postgres { "zonky" } else { "rel" };
    format!("{}_{maker}", version.compact(engine))
}

/// As catalog and installations tell: of MariaDB's releases one has the plugin, one lacks it, and of the others nobody knows.
fn storage_of_release(engine: Engine, version: &str) -> Option<Vec<StorageEngine>> {
    match (engine, version) {
        (Engine::Mariadb, "10.11.18") => Some(vec![StorageEngine::Innodb, StorageEngine::Rocksdb]),
        (Engine::Mariadb, "10.2.11") => Some(vec![StorageEngine::Innodb]),
        (Engine::Mariadb, _) => None,
        _ => Some(engine.storage_engines().to_vec()),
    }
}

pub(crate) fn vocabulary() -> Vocabulary {
    let releases = RELEASES.iter().flat_map(|(engine, versions)| {
        versions.iter().map(|text| {
            let version: rqps_model::Version = text.parse().expect("a version");
            let build = build_name(*engine, &version);
            let storage = storage_of_release(*engine, text);
            Release { engine: *engine, version, build, storage }
        })
    });
    let of_engine = |(engine, names): &(Engine, &[&str])| {
        let word = |name: &&str| {
            let interleave = if name.ends_with("_io") { Interleave::Turns } else { Interleave::Slices };
            ProfileWord { engine: *engine, name: (*name).to_owned(), interleave }
        };
        names.iter().map(word).collect::<Vec<ProfileWord>>()
    };
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let innodb = ["innodb_flush_log_at_trx_commit", "max_connections", "sync_binlog"];
    let tests = TESTS.iter().enumerate().map(|(at, &(name, group, set))| test(at, name, group, set)).collect();
    Vocabulary {
        releases: releases.collect(),
        profiles: PROFILES.iter().flat_map(of_engine).collect(),
        suites: vec![
            SuiteWord {
                name: "sysbench".to_owned(),
                tests,
                forced: vec![forced("load", "COPY", "LOAD DATA")],
                forced_by_storage: Vec::new(),
                scales: BTreeMap::new(),
            },
            insert(),
        ],
        kept_settings: BTreeMap::from([
            (Engine::Postgres, kept(&["port", "listen_addresses"], &[])),
            (Engine::Mysql, kept(&["port", "datadir"], &["log_bin"])),
            (Engine::Mariadb, kept(&["port", "datadir"], &["log_bin"])),
        ]),
        settings: BTreeMap::from([
            (
                Engine::Postgres,
                own(&[
                    "jit",
                    "max_connections",
                    "max_parallel_workers_per_gather",
                    "shared_buffers",
                    "work_mem",
                    "TimeZone",
                ]),
            ),
            (Engine::Mysql, own(&innodb)),
            (Engine::Mariadb, own(&[&innodb[..], &["rocksdb_block_cache_size"]].concat())),
        ]),
    }
}

fn test(at: usize, name: &str, group: Group, set: u32) -> TestWord {
    let subsets: &[&str] = match set {
        27 => &["27", "32", "42"],
        32 => &["32"],
        _ => &["42"],
    };
    let before: &[&str] = match name {
        "scan" => &["postwrite"],
        "points-covered-si" => &["warm"],
        _ => &[],
    };
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    TestWord {
        name: name.to_owned(),
        label: if name.contains("_range=") { name.to_owned() } else { format!("{name}_range=100") },
        group,
        unit: if name == "scan" { Unit::KiloRowsPerSecond } else { Unit::QueriesPerSecond },
        writes: group == Group::Write,
        seconds: if group == Group::Write { Seconds::Write } else { Seconds::Read },
        rank: u32::try_from(TESTS[..at].iter().filter(|(_, other, _)| *other == group).count()).expect("few"),
        before: own(before),
        subsets: own(subsets),
        interleave: (name == "update-one").then_some(Interleave::Turns),
        forced: match name {
            "write-only" | "read-only-sum" => vec![forced("statement begin", "prepared", "as text")],
            _ => Vec::new(),
        },
    }
}

fn kept(own: &[&str], files: &[&str]) -> KeptSettings {
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    KeptSettings { own: all(own), files: all(files) }
}

fn insert() -> SuiteWord {
    let shape = |clients, rows_initial, rows_written, seconds, rest_seconds| Shape {
        clients,
        shared_table: false,
        rows_initial,
        rows_written,
        rates_per_s: vec![100, 500, 1000],
        seconds,
        rest_seconds,
        catch_up_seconds: 10.0,
    };
    let by_storage = ForcedByStorage {
        what: "secondary indexes".to_owned(),
        tests: vec!["l.x".to_owned()],
        forms: BTreeMap::from([
            (None, "a statement each".to_owned()),
            (Some(StorageEngine::Innodb), "one ALTER TABLE".to_owned()),
            (Some(StorageEngine::Rocksdb), "an ALTER TABLE each".to_owned()),
        ]),
        because: "as published".to_owned(),
    };
    SuiteWord {
        name: "insert".to_owned(),
        tests: Vec::new(),
        forced: vec![forced("statement delete", "a subquery", "ORDER BY and LIMIT")],
        forced_by_storage: vec![by_storage],
        scales: BTreeMap::from([
            ("quick".to_owned(), shape(1, 200_000, 50_000, 5.0, 0.0)),
            ("small".to_owned(), shape(1, 500_000, 100_000, 15.0, 0.0)),
            ("cached-large".to_owned(), shape(8, 250_000_000, 5_000_000, 1800.0, 1200.0)),
        ]),
    }
}

fn forced(what: &str, postgres: &str, mysql: &str) -> ForcedForm {
    let forms =
        Engine::ALL.map(|engine| (engine, if engine == Engine::Postgres { postgres } else { mysql }.to_owned()));
    ForcedForm { what: what.to_owned(), tests: Vec::new(), forms: forms.into(), because: "it must".to_owned() }
}

/// The plan of some flags, on a machine with 2 cores and 24 GB.
pub(crate) fn plan(words: &[(&str, &str)], demo: bool) -> Plan {
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let command = if demo { Command::Demo } else { Command::Run };
    let reading = read(None, &flags, command, &vocabulary());
    let campaign = reading.campaign.unwrap_or_else(|| panic!("{:#?}", reading.diagnostics));
    campaign.expand(&resolved(&campaign)).expect("a plan")
}

/// What a caller would find out: folders hold a 17.11 that someone built, archives a MySQL 9.4.0.
pub(crate) fn resolved(campaign: &Campaign) -> Resolved {
    let name = |spec: &BuildSpec| match &spec.source {
        BuildSource::Catalog(version) => build_name(spec.engine, version),
        _ if spec.engine == Engine::Mysql => "my9400_local".to_owned(),
        _ => "pg1711_local".to_owned(),
    };
    let build = |spec: &BuildSpec| ResolvedBuild { name: name(spec), storage: None };
    let builds = campaign.builds().iter().map(build).collect();
    Resolved { builds, host: MachineClass { cores: 2, memory_bytes: 24 << 30 } }
}
