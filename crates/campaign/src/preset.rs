//! Presets: what `quick` and `demo` stand for, and what holds where nothing is said at all.
//!
//! Written in the words of the flags and read by the same reading. A preset only fills what is still open: whatever the
//! user says wins.

use crate::diagnostic::Faults;
use crate::flags::{Flag, read_words};
use crate::key::{KEYS, Unsaid};
use crate::place::Place;
use crate::request::Request;
use crate::vocabulary::default_profile;
use rqps_model::Engine;

/// Name and value as for flags.
type Words<'a> = &'a [(&'a str, &'a str)];

/// `--quick`: a first look at all 32 tests in about ten minutes for two builds.
pub const QUICK: Words<'static> = &[
    ("tables", "1"),
    ("rows", "100000"),
    ("tests", "32"),
    ("read-seconds", "2"),
    ("write-seconds", "2"),
    ("warmup", "0.5"),
    ("rounds", "3"),
];

/// `rqps demo`: two releases and ten tests that tell them apart, in less than 5 minutes on 2 cores.
pub const DEMO: Words<'static> = &[
    ("name", "demo"),
    ("build", "postgres:16.15"),
    ("build", "postgres:17.11"),
    ("tests", DEMO_TESTS),
    ("tables", "1"),
    ("rows", "100000"),
    ("read-seconds", "1.5"),
    ("write-seconds", "1.5"),
    ("warmup", "0.2"),
    ("rounds", "5"),
];

/// `rqps demo --quick`: the same in about a minute and a half, to see that everything works.
pub const QUICK_DEMO: Words<'static> =
    &[("rows", "50000"), ("read-seconds", "0.5"), ("write-seconds", "0.5"), ("warmup", "0.1"), ("rounds", "3")];

const DEMO_TESTS: &str = "hot-points,point-query,range-covered-pk,range-notcovered-si,read-only-count,\
    read-only_range=100,read-only-order,scan,update-index,update-nonindex";

/// The request with presets and defaults below it; a key that was said wrongly stays open.
pub(crate) fn fill(request: Request, demo: bool) -> Request {
    let quick = request.quick.as_ref().is_some_and(|quick| quick.value);
    let presets: &[(&'static str, Words<'_>)] = match (demo, quick) {
        (true, true) => &[("demo --quick", QUICK_DEMO), ("demo", DEMO)],
        (true, false) => &[("demo", DEMO)],
        (false, true) => &[("quick", QUICK)],
        (false, false) => &[],
    };
    let filled = presets.iter().fold(request, |request, (name, words)| request.over(read_preset(name, words)));
    let defaults: Vec<(&str, &str)> = KEYS
        .iter()
        .filter_map(|key| match key.default {
            Unsaid::Is(text) => Some((key.name, text)),
            Unsaid::Means(_) => None,
        })
        .collect();
    let filled = filled.over(read_preset(DEFAULT, &defaults));
    let engines: Vec<(&str, String)> = defaults_of_engines(&filled);
    let engines: Vec<(&str, &str)> = engines.iter().map(|(key, words)| (*key, words.as_str())).collect();
    filled.over(read_preset(DEFAULT, &engines))
}

/// What holds where no profile and no storage engine is said, for the engines whose builds are named.
fn defaults_of_engines(request: &Request) -> Vec<(&'static str, String)> {
    let builds = request.build.iter().flat_map(|builds| &builds.value);
    let named: Vec<Engine> = builds.map(|build| build.spec.value.engine).collect();
    let engines = Engine::ALL.into_iter().filter(|engine| named.contains(engine));
    let mut profiles: Vec<&str> = engines.clone().map(default_profile).collect();
    profiles.dedup();
    let mut storage: Vec<&str> =
        engines.filter_map(|engine| engine.storage_engines().first()).map(|engine| engine.name()).collect();
    storage.dedup();
    let said = |words: Vec<&str>| (!words.is_empty()).then(|| words.join(","));
    let keys = [("profile", said(profiles)), ("storage-engine", said(storage))];
    keys.into_iter().filter_map(|(key, words)| Some((key, words?))).collect()
}

/// What the place of a default value is called.
pub(crate) const DEFAULT: &str = "default";

fn read_preset(name: &'static str, words: Words<'_>) -> Request {
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let mut faults = Faults::default();
    let request = read_words(&flags, &mut faults, |_, _, _| Place::Preset(name));
    debug_assert!(!faults.any_error(), "preset {name} is read by a test");
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_read() {
        for (name, words) in [("quick", QUICK), ("demo", DEMO), ("demo --quick", QUICK_DEMO)] {
            let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
            let mut faults = Faults::default();
            read_words(&flags, &mut faults, |_, _, _| Place::Preset(name));
            assert_eq!(faults.sorted(), []);
        }
    }

    #[test]
    fn what_is_said_wins_over_presets_and_presets_over_defaults() {
        let said = |words: Words<'_>| read_preset("said", words);
        let request = fill(said(&[("quick", "true"), ("rounds", "9")]), true);
        assert_eq!(request.rounds.map(|rounds| rounds.value), Some(9));
        assert_eq!(request.rows.map(|rows| rows.value), Some(50_000));
        assert_eq!(request.name.map(|name| name.value).as_deref(), Some("demo"));
        assert_eq!(request.margin.map(|margin| margin.value), Some(0.02));
        let request = fill(said(&[("quick", "false")]), false);
        assert_eq!(request.rows.map(|rows| rows.value), Some(1_000_000));
        assert!(request.build.is_none());
    }

    #[test]
    fn a_key_said_wrongly_stays_open() {
        let mut request = Request::default();
        request.faulty.insert("rows");
        assert!(fill(request, true).rows.is_none());
    }
}
