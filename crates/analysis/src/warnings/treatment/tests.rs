//! Every warning about a treatment, each from facts that call for it and from some that do not.

use super::*;
use rqps_model::Engine;
use rqps_model::facts::{BuildFacts, SettingsFacts};
use std::collections::BTreeMap;

fn plan(name: &str) -> TreatmentPlan {
    TreatmentPlan {
        name: name.to_owned(),
        build: "postgres:17.11".parse().unwrap(),
        profile: "x10a".to_owned(),
        set: BTreeMap::new(),
    }
}

fn found(name: &str) -> TreatmentFindings {
    let build = BuildFacts {
        name: name.to_owned(),
        engine: Engine::Postgres,
        version: "17.11".parse().unwrap(),
        banner: String::new(),
        folder: "/opt/pg".into(),
        origin: String::new(),
        sha256: "ab".to_owned(),
        compiler: "gcc 12".to_owned(),
        flags: "-O2 -g -ffile-prefix-map=/build/a=.".to_owned(),
        configure: String::new(),
        extensions: Vec::new(),
        size_bytes: 1,
        symbols: String::new(),
    };
    TreatmentFindings {
        name: name.to_owned(),
        build,
        settings: SettingsFacts::default(),
        settings_diff: BTreeMap::new(),
        sentence: String::new(),
        counts: [0; 4],
        load_seconds: 0.0,
        warnings: Vec::new(),
    }
}

fn kinds(adjust: impl FnOnce(&mut TreatmentPlan, &mut TreatmentFindings)) -> Vec<String> {
    let (base_plan, base) = (plan("base"), found("base"));
    let (mut own_plan, mut own) = (plan("own"), found("own"));
    adjust(&mut own_plan, &mut own);
    let warnings = unlike(Side { plan: &own_plan, found: &own }, Side { plan: &base_plan, found: &base });
    warnings.into_iter().map(|warning| format!("{}: {}", warning.kind, warning.message)).collect()
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
    assert_eq!(kinds, ["checksums", "encoding", "transport", "placement"]);
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
        "settings: effective_io_concurrency 16 instead of 1; 1 setting known to one of the two only",
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
