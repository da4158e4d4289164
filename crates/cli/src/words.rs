//! Every word a campaign may use, gathered from the catalog, the profiles and the suites.
//!
//! In: what `server` and `load` know. Out: the `Vocabulary` that `campaign` checks names against.

use rqps_campaign::vocabulary::{ProfileWord, Release, Seconds, SuiteWord, TestWord, Vocabulary};
use rqps_load::{SecondsClass, Suite, Test};
use rqps_model::plan::ForcedForm;
use rqps_model::{Engine, Interleave};
use rqps_server::known_settings::KnownSettings;
use rqps_server::{Catalog, Profiles};

/// The variant of a profile that is made for data larger than memory.
const IO_BOUND: &str = "io";

/// The vocabulary of this program and this user's own files.
pub(crate) fn vocabulary(catalog: &Catalog, profiles: &Profiles, suites: &[Suite]) -> Vocabulary {
    let releases = catalog.releases().map(|release| Release {
        engine: release.engine,
        version: release.version.clone(),
        build: release.build_name(),
    });
    Vocabulary {
        releases: releases.collect(),
        profiles: Engine::ALL.iter().flat_map(|engine| profile_words(profiles, *engine)).collect(),
        suites: suites.iter().map(suite_word).collect(),
        settings: Engine::ALL.into_iter().map(|engine| (engine, setting_names(engine))).collect(),
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

fn suite_word(suite: &Suite) -> SuiteWord {
    let of_tests: Vec<rqps_load::ForcedForm> = suite.tests.iter().flat_map(Test::forced_forms).collect();
    let of_data = suite.forced_forms().into_iter().filter(|form| !of_tests.contains(form));
    SuiteWord {
        name: suite.name.clone(),
        tests: suite.tests.iter().map(test_word).collect(),
        forced: of_data.map(forced).collect(),
    }
}

/// What an engine forces, engine by engine.
fn forced(form: rqps_load::ForcedForm) -> ForcedForm {
    let of = |engine: Engine| match engine {
        Engine::Postgres => form.common.clone(),
        Engine::Mysql | Engine::Mariadb => form.mysql.clone(),
    };
    ForcedForm {
        what: form.what.clone(),
        tests: Vec::new(),
        forms: Engine::ALL.into_iter().map(|engine| (engine, of(engine))).collect(),
        because: form.because,
    }
}

fn test_word(test: &Test) -> TestWord {
    TestWord {
        name: test.name.clone(),
        label: test.label.clone(),
        group: test.group,
        unit: test.unit,
        writes: test.writes,
        seconds: match test.seconds {
            SecondsClass::Read => Seconds::Read,
            SecondsClass::Write => Seconds::Write,
        },
        rank: test.rank,
        before: test.before.iter().map(ToString::to_string).collect(),
        subsets: test.sets.clone(),
        interleave: None,
        forced: test.forced_forms().into_iter().map(forced).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_campaign::preset;
    use rqps_campaign::select::select;

    #[test]
    fn presets_name_tests_and_profiles_that_exist() {
        let words = vocabulary(&Catalog::built_in(), &Profiles::built_in(), &[Suite::sysbench()]);
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
        let suite = &words.suites[0];
        assert_eq!(suite.subsets(), ["27", "32", "42", "all"]);
        for subset in [("27", 27), ("32", 32), ("42", 42), ("all", 47)] {
            let chosen =
                suite.tests.iter().filter(|test| subset.0 == "all" || test.subsets.iter().any(|s| s == subset.0));
            assert_eq!(chosen.count(), subset.1, "{}", subset.0);
        }
        assert!(suite.forced.iter().any(|form| form.what == "load"), "{:?}", suite.forced);
        let insert = suite.tests.iter().find(|test| test.name == "insert").expect("there");
        assert!(!insert.forced.is_empty() && !suite.forced.contains(&insert.forced[0]));
        let _ = (preset::DEMO, select);
    }
}
