//! Every word a campaign may use, gathered from the catalog, the profiles and the suites.
//!
//! In: what `server` and `load` know, and which builds are installed. Out: the `Vocabulary` that `campaign` checks
//! names against.

use rqps_builds::Catalog;
use rqps_campaign::vocabulary::{KeptSettings, ProfileWord, Release, Vocabulary};
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, Interleave};
use rqps_server::Profiles;
use rqps_server::known_settings::KnownSettings;
use rqps_server::profile::SettingsForm;
use rqps_suites::Suite;

/// The variant of a profile that is made for data larger than memory.
const IO_BOUND: &str = "io";

/// The vocabulary of this program and this user's own files.
pub fn vocabulary(catalog: &Catalog, profiles: &Profiles, suites: &[Suite], installed: &[BuildFacts]) -> Vocabulary {
    let releases = catalog.releases().map(|release| {
        let build = release.build_name();
        let facts = installed.iter().find(|facts| facts.name == build);
        let storage = release.storage_engines(facts);
        Release { engine: release.engine, version: release.version.clone(), build, storage }
    });
    Vocabulary {
        releases: releases.collect(),
        profiles: Engine::ALL.iter().flat_map(|engine| profile_words(profiles, *engine)).collect(),
        suites: suites.to_vec(),
        settings: Engine::ALL.into_iter().map(|engine| (engine, setting_names(engine))).collect(),
        kept_settings: Engine::ALL.into_iter().map(|engine| (engine, kept_settings(engine))).collect(),
    }
}

/// Plain profiles, and each with every combination of variants in the order in which they are listed.
fn profile_words(profiles: &Profiles, engine: Engine) -> Vec<ProfileWord> {
    let (variants, plain): (Vec<String>, Vec<String>) =
        profiles.list(engine).into_iter().map(|(name, _)| name).partition(|name| name.starts_with('_'));
    let mut names = plain;
    for variant in &variants {
        names.extend(names.clone().into_iter().map(|name| format!("{name}{variant}")));
    }
    let word = |name: String| {
        let is_io_bound = name.split('_').any(|part| part == IO_BOUND);
        let interleave = if is_io_bound { Interleave::Turns } else { Interleave::Slices };
        ProfileWord { engine, interleave, name }
    };
    names.into_iter().map(word).collect()
}

fn setting_names(engine: Engine) -> Vec<String> {
    KnownSettings::of(engine).names().map(str::to_owned).collect()
}

fn kept_settings(engine: Engine) -> KeptSettings {
    let form = SettingsForm::of(engine);
    KeptSettings { own: form.own.clone(), files: form.files.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_name_tests_and_profiles_that_exist() {
        let words = vocabulary(&Catalog::built_in(), &Profiles::built_in(), &Suite::built_in(), &[]);
        let names: Vec<&str> = words.profiles.iter().map(|profile| profile.name.as_str()).collect();
        for name in ["x10a", "x10b", "x10a_sync", "x10a_io"] {
            assert!(names.contains(&name), "{name} in {names:?}");
        }
        for engine in Engine::ALL {
            let default = rqps_campaign::vocabulary::default_profile(engine);
            let has = |name: &str| words.profiles.iter().any(|word| word.engine == engine && word.name == name);
            assert!(has(default) && has(&format!("{default}_sync")), "{engine} has {default}, in {names:?}");
            assert!(words.settings[&engine].iter().any(|name| name == "max_connections"), "{engine}");
        }
        for quick in [&[][..], &[rqps_campaign::Flag::new("quick", "true")]] {
            let demo = rqps_campaign::read(
                None,
                quick,
                rqps_campaign::Command::Demo,
                &words,
                &crate::input_files::InputFiles::default(),
            );
            assert_eq!((demo.diagnostics, demo.campaign.is_some()), (Vec::new(), true));
        }
    }

    #[test]
    fn every_size_of_the_insert_benchmark_makes_a_plan_and_is_documented() {
        let words = vocabulary(&Catalog::built_in(), &Profiles::built_in(), &Suite::built_in(), &[]);
        let insert = words.suites.iter().find(|suite| !suite.scales.is_empty()).expect("there");
        let document = include_str!("../../../docs/campaign-file.md");
        let (_, document) = document.split_once("## The Insert Benchmark").expect("a section");
        for (name, shape) in &insert.scales {
            let row = document.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row");
            let numbers: String = row.chars().filter(|c| *c != ',').collect();
            for number in [shape.rows_initial, shape.rows_written, shape.seconds as u64] {
                assert!(numbers.contains(&format!(" {number} |")), "{number} in {row}");
            }
            let flags = [("suite", "insert"), ("scale", name), ("build", "postgres:17.11"), ("build", "my8033")];
            let flags: Vec<rqps_campaign::Flag> =
                flags.iter().map(|(name, value)| rqps_campaign::Flag::new(*name, *value)).collect();
            let reading = rqps_campaign::read(
                None,
                &flags,
                rqps_campaign::Command::Run,
                &words,
                &crate::input_files::InputFiles::default(),
            );
            assert_eq!(reading.diagnostics, []);
            let campaign = reading.campaign.expect("no faults");
            let host = rqps_model::settings::MachineClass { cores: 2, memory_bytes: 8 << 30 };
            let build = |name: &str| rqps_campaign::ResolvedBuild { name: name.to_owned(), storage: None };
            let builds = vec![build("a"), build("b")];
            let copies_share_blocks = false;
            let resolved = rqps_campaign::Resolved { builds, host, disk_free_bytes: None, copies_share_blocks };
            let plan = campaign.expand(&resolved).expect("a plan");
            assert_eq!(plan.suite, rqps_model::plan::SuitePlan::Insert(shape.clone()));
            assert!(plan.forced.iter().any(|form| form.what == "secondary indexes"), "{:?}", plan.forced);
        }
        assert!(words.kept_settings[&Engine::Mariadb].own.iter().any(|name| name == "datadir"));
    }
}
