//! Every warning about a treatment, each from facts that call for it and from some that do not.

use super::*;
use rqps_model::Engine;
use rqps_model::facts::{BuildFacts, SettingsFacts};
use std::collections::BTreeMap;

pub(crate) fn plan(name: &str) -> TreatmentPlan {
    TreatmentPlan {
        name: name.to_owned(),
        build: "postgres:17.11".parse().unwrap(),
        storage: None,
        profile: "x10a".to_owned(),
        set: BTreeMap::new(),
        planted: None,
    }
}

fn found(name: &str) -> TreatmentFindings {
    let build = BuildFacts {
        name: name.to_owned(),
        sha256: "ab".to_owned(),
        compiler: "gcc 12".to_owned(),
        flags: "-O2 -g -ffile-prefix-map=/build/a=.".to_owned(),
        ..BuildFacts::unknown(Engine::Postgres, "17.11".parse().unwrap())
    };
    TreatmentFindings {
        planted: None,
        name: name.to_owned(),
        build,
        storage: None,
        settings: SettingsFacts::default(),
        settings_diff: BTreeMap::new(),
        sentence: String::new(),
        counts: [0; 4],
        load_seconds: 0.0,
        load: None,
        program_text: None,
        warnings: Vec::new(),
    }
}

fn kinds(adjust: impl FnOnce(&mut TreatmentPlan, &mut TreatmentFindings)) -> Vec<String> {
    let (mut own_plan, mut own) = (plan("own"), found("own"));
    adjust(&mut own_plan, &mut own);
    warned((&own_plan, &own), (&plan("base"), &found("base")))
}

type Pair<'a> = (&'a TreatmentPlan, &'a TreatmentFindings);

fn warned(own: Pair<'_>, base: Pair<'_>) -> Vec<String> {
    let (own, base) = (Side { plan: own.0, found: own.1 }, Side { plan: base.0, found: base.1 });
    let settings = unlike_settings(own, base, &own.found.settings_diff);
    unlike(own, base)
        .into_iter()
        .chain(settings)
        .chain(not_as_asked(own))
        .map(|warning| format!("{}: {}", warning.kind, warning.cause))
        .collect()
}

#[test]
fn equal_treatments_have_none() {
    assert!(kinds(|_, own| own.build.flags = "-O2 -g -ffile-prefix-map=/build/b=.".to_owned()).is_empty());
}

#[test]
fn unlike_builds_are_told() {
    let found = kinds(|_, own| {
        own.build.compiler = "clang 19".to_owned();
        own.build.flags = "-O3 -g".to_owned();
    });
    let words = "unlike-builds: compiler clang 19 instead of gcc 12; flags -O3 only here; flags -O2 only on the base";
    assert_eq!(found, [words]);
}

#[test]
fn unlike_conditions_are_told() {
    let found = kinds(|_, own| {
        own.settings.checksums = true;
        own.settings.encoding = "UTF8".to_owned();
        own.settings.transport = "tcp".to_owned();
        own.settings.server_cpus = vec![0];
    });
    let kinds: Vec<&str> = found.iter().filter_map(|text| text.split(':').next()).collect();
    assert_eq!(kinds, ["encoding", "checksums", "transport", "placement"]);
}

#[test]
fn settings_that_nobody_asked_for_are_told() {
    let differ = |own: &mut TreatmentFindings| {
        let value = |text: &str| Some(text.to_owned());
        own.settings_diff.insert("shared_buffers".to_owned(), (value("1GB"), value("2GB")));
        own.settings_diff.insert("effective_io_concurrency".to_owned(), (value("1"), value("16")));
        own.settings_diff.insert("io_method".to_owned(), (None, value("worker")));
    };
    let expected = [
        "memory: shared_buffers 2GB instead of 1GB",
        "settings: effective_io_concurrency 16 instead of 1; 1 setting on one side only",
    ];
    assert_eq!(kinds(|_, own| differ(own)), expected);
    let asked = kinds(|plan, own| {
        differ(own);
        plan.set.insert("shared_buffers".to_owned(), "2GB".to_owned());
    });
    assert_eq!(asked, expected[1..], "what was set is meant");
    let profile = kinds(|plan, own| {
        differ(own);
        plan.profile = "x10b".to_owned();
    });
    assert!(profile.is_empty(), "another profile is meant to differ");
}

#[test]
fn what_follows_from_other_settings_is_not_asked_to_be_set() {
    let differ = |own: &mut TreatmentFindings, name: &str, old: &str, new: &str| {
        own.settings_diff.insert(name.to_owned(), (Some(old.to_owned()), Some(new.to_owned())));
    };
    let told = kinds(|_, own| {
        differ(own, "shared_memory_size", "8648MB", "8685MB");
        differ(own, "shared_memory_size_in_huge_pages", "4324", "4343");
    });
    assert!(told.is_empty(), "{told:?}");
    let told = kinds(|_, own| {
        differ(own, "shared_memory_size", "8648MB", "8685MB");
        differ(own, "vacuum_buffer_usage_limit", "256kB", "2MB");
        differ(own, "log_connections", "off", "");
    });
    assert_eq!(told, ["settings: log_connections '' instead of off, vacuum_buffer_usage_limit 2MB instead of 256kB"]);
}

#[test]
fn a_size_that_a_server_rounded_up_is_no_other_memory() {
    let told = |new: &str| {
        kinds(|_, own| {
            let values = (Some("17692622848".to_owned()), Some(new.to_owned()));
            own.settings_diff.insert("innodb_buffer_pool_size".to_owned(), values);
        })
    };
    assert_eq!(told("17716740096"), Vec::<String>::new());
    assert_eq!(told("18750000000"), ["memory: innodb_buffer_pool_size 18750000000 instead of 17692622848"]);
}

#[test]
fn logs_are_compared_by_what_they_hold_and_are_no_memory() {
    let with = |pairs: &[(&str, &str)]| {
        let mut found = mysql("1");
        found.settings.effective.extend(pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        found
    };
    let check = |own: &[(&str, &str)], set: Option<&str>, expected: &[&str]| {
        let base = with(&[("innodb_log_file_size", "187695104"), ("innodb_log_files_in_group", "2")]);
        let (mut plan_of_own, mut own) = (plan("own"), with(own));
        plan_of_own.set.extend(set.map(|name| (name.to_owned(), "1".to_owned())));
        own.settings_diff = settings::diff(&base.settings, &own.settings);
        assert_eq!(warned((&plan_of_own, &own), (&plan("base"), &base)), expected);
    };
    let unused = ("innodb_log_file_size", "50331648");
    check(&[unused, ("innodb_log_files_in_group", "2"), ("innodb_redo_log_capacity", "375390208")], None, &[]);
    check(&[("innodb_log_file_size", "375390208")], None, &[]);
    let told = ["log-size: the log before a checkpoint holds 100 MB, on the base 358 MB"];
    check(&[unused, ("innodb_redo_log_capacity", "104857600")], None, &told);
    check(&[unused, ("innodb_redo_log_capacity", "104857600")], Some("innodb_redo_log_capacity"), &[]);
    check(&[("innodb_log_file_size", "0")], None, &[]);
}

/// MySQL with InnoDB, as sure of its commits as asked.
fn mysql(flush: &str) -> TreatmentFindings {
    let mut own = found("own");
    own.build.engine = Engine::Mysql;
    own.storage = Some(StorageEngine::Innodb);
    own.build.compiler = "gcc 8.5.0, gcc 4.8.5".to_owned();
    own.build.flags = String::new();
    let pairs =
        [("innodb_flush_log_at_trx_commit", flush), ("log_bin", "OFF"), ("innodb_buffer_pool_size", "2147483648")];
    own.settings.effective = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    own.settings.encoding = "latin1".to_owned();
    own.settings.collation = "latin1_swedish_ci".to_owned();
    own
}

fn postgres(encoding: &str) -> TreatmentFindings {
    let mut base = found("base");
    let pairs = [("fsync", "on"), ("synchronous_commit", "off"), ("shared_buffers", "2GB")];
    base.settings.effective = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    base.settings.encoding = encoding.to_owned();
    base.settings.collation = "C".to_owned();
    base
}

#[test]
fn engines_that_are_alike_in_what_matters_differ_in_their_builds_only() {
    let told = warned((&plan("own"), &mysql("2")), (&plan("base"), &postgres("LATIN1")));
    assert_eq!(told, ["unlike-builds: compiler gcc 8.5.0, gcc 4.8.5 instead of gcc 12; flags unknown here"]);
}

#[test]
fn durability_character_set_and_memory_are_compared_across_engines() {
    let mut own = mysql("1");
    own.build.compiler = "gcc 12".to_owned();
    own.build.flags = found("x").build.flags;
    own.settings.effective.insert("innodb_buffer_pool_size".to_owned(), "1073741824".to_owned());
    let told = warned((&plan("own"), &own), (&plan("base"), &postgres("UTF8")));
    assert_eq!(
        told,
        [
            "encoding: the encoding is latin1, on the base utf8",
            "durability: a commit here is flushed before the reply (innodb_flush_log_at_trx_commit=1), on the base is \
             flushed some time after the reply (fsync=on, synchronous_commit=off)",
            "memory: buffers for data have 1 GB, on the base 2 GB",
        ]
    );
}

#[test]
fn a_storage_engine_that_was_not_asked_for_is_told() {
    let told = kinds(|plan, own| {
        plan.storage = Some(StorageEngine::Rocksdb);
        own.settings.storage_engine = "InnoDB".to_owned();
    });
    assert_eq!(told, ["storage-engine: tables are stored by InnoDB though rocksdb was requested"]);
    let told = kinds(|plan, own| {
        plan.storage = Some(StorageEngine::Rocksdb);
        own.settings.storage_engine = "ROCKSDB".to_owned();
    });
    assert!(told.is_empty(), "{told:?}");
}
