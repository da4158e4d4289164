//! What holds where a key is not given: presets, defaults, and the numbers of a scale.
//!
//! Presets and defaults are written in the words of the flags and read by the same reading. They only fill what is
//! still open: whatever the user says wins.

use crate::diagnostic::Faults;
use crate::flags::{Flag, read_words};
use crate::place::{Place, Spanned};
use crate::request::Request;
use crate::value::Scale;
use crate::vocabulary::{Vocabulary, default_profile};
use rqps_model::Engine;
use rqps_model::insert::Shape;
use rqps_suites::key::DefaultValue;
use rqps_suites::{KEYS, Key};
use std::collections::BTreeMap;

/// The request with presets and defaults below it; a key that was said wrongly stays open.
pub(crate) fn fill(request: Request, demo: bool, vocabulary: &Vocabulary) -> Request {
    let quick = request.quick.as_ref().is_some_and(|quick| quick.value);
    let suite = request.suite_name();
    let chosen = request.preset.as_ref().map(|preset| preset.value.clone());
    let names: &[&str] = match (demo, quick) {
        (true, true) => &["demo --quick", "demo"],
        (true, false) => &["demo"],
        (false, true) => &["quick"],
        (false, false) => &[],
    };
    let presets = names.iter().copied().chain(chosen.as_deref()).filter_map(|name| suite.preset(name));
    let filled = presets.fold(request, |request, preset| below(request, &preset.name, &preset.words));
    let defaults = KEYS.iter().filter_map(|key| match key.default_in(suite) {
        Some(DefaultValue::Is(text)) => Some((key.name.clone(), text.clone())),
        Some(DefaultValue::Means(_)) | None => None,
    });
    let filled = below(filled, DEFAULT, &defaults.collect::<Vec<_>>());
    let filled = vocabulary.scales(suite.name()).into_iter().fold(filled, with_scale);
    let of_engines = defaults_of_engines(&filled);
    filled.over(read_preset(DEFAULT, of_engines))
}

/// The request with some words below it. Where rounds are known, a weaker time says nothing. Where a time is, what
/// follows from it stays open, and is settled once there is a plan.
fn below(request: Request, name: &'static str, words: &[(String, String)]) -> Request {
    let suite = request.suite_name();
    let (time, others): (Vec<_>, Vec<_>) = words.iter().cloned().partition(|(key, _)| key == TIME);
    let request = match request.rounds {
        Some(_) => request,
        None => request.over(read_preset(name, time)),
    };
    let is_timed = request.time.is_some() || request.is_faulty(TIME);
    let is_open = |key: &str| is_timed && Key::find(key).is_some_and(|key| key.follows_from_time.contains(&suite));
    request.over(read_preset(name, others.into_iter().filter(|(key, _)| !is_open(key))))
}

/// The key from whose value others follow.
const TIME: &str = "time";

/// The request with the numbers of its scale below it. Tables stay open: how many there are follows from the clients.
fn with_scale(request: Request, scales: &BTreeMap<String, Shape>) -> Request {
    let Some(shape) = request.scale.as_ref().and_then(|scale| sized(&scale.value, scales)) else { return request };
    let number = |value: u64| Some(stated(value));
    let list = |values: &[u32]| Some(stated(values.iter().map(|value| stated(*value)).collect()));
    let filled = request.over(Request {
        tables: shape.shared_table.then(|| stated(1)),
        rows: number(shape.rows_initial),
        rows_written: number(shape.rows_written),
        clients: list(&[shape.clients]),
        write_rates: list(&shape.rates_per_s),
        read_seconds: Some(stated(shape.seconds)),
        catch_up_seconds: Some(stated(shape.catch_up_seconds)),
        ..Request::default()
    });
    let largest = filled.clients.iter().flat_map(|list| &list.value).map(|clients| clients.value).max();
    let rows = filled.rows.as_ref().map(|rows| rows.value);
    let whole =
        Shape { clients: largest.unwrap_or(shape.clients), rows_initial: rows.unwrap_or(shape.rows_initial), ..shape };
    // Fewer rows need less rest; never more of it than the size asks for.
    let rest = whole.rest_seconds.min(whole.published_rest_seconds());
    filled.over(Request { rest_seconds: Some(stated(rest)), ..Request::default() })
}

/// The numbers of a size, if there is one of that name.
pub(crate) fn sized(scale: &Scale, scales: &BTreeMap<String, Shape>) -> Option<Shape> {
    scales.get(&scale.word).map(|shape| shape.scaled(scale.factor))
}

/// A number that a scale brings along.
fn stated<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Place::Preset(SCALE))
}

/// What the place of a number is called that a scale brings along.
pub(crate) const SCALE: &str = "scale";

/// What holds where no profile and no storage engine is said, for the engines whose builds are named.
fn defaults_of_engines(request: &Request) -> Vec<(String, String)> {
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
    keys.into_iter().filter_map(|(key, words)| Some((key.to_owned(), words?))).collect()
}

/// What the place of a default value is called.
pub(crate) const DEFAULT: &str = "default";

fn read_preset(name: &'static str, words: impl IntoIterator<Item = (String, String)>) -> Request {
    let flags: Vec<Flag> = words.into_iter().map(|(name, value)| Flag { name, value }).collect();
    let mut faults = Faults::default();
    let request = read_words(&flags, &mut faults, |_, _, _| Place::Preset(name));
    debug_assert!(faults.errors() == 0, "preset {name} is read by a test");
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vocabulary;
    use rqps_suites::preset::PRESETS;

    fn owned(words: &[(&str, &str)]) -> Vec<(String, String)> {
        words.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_preset_can_be_read() {
        for preset in PRESETS.iter() {
            let flags: Vec<Flag> = preset.words.iter().map(|(name, value)| Flag::new(name, value)).collect();
            let mut faults = Faults::default();
            read_words(&flags, &mut faults, |_, _, _| Place::Preset(&preset.name));
            assert_eq!(faults.sorted(), []);
        }
    }

    #[test]
    fn what_is_said_wins_over_presets_and_presets_over_defaults() {
        let said = |words: &[(&str, &str)]| read_preset("said", owned(words));
        let request = fill(said(&[("quick", "true"), ("rounds", "9")]), true, &vocabulary());
        assert_eq!(request.rounds.map(|rounds| rounds.value), Some(9));
        assert_eq!(request.rows.map(|rows| rows.value), Some(50_000));
        assert_eq!(request.name.map(|name| name.value).as_deref(), Some("demo"));
        assert_eq!(request.margin.map(|margin| margin.value), Some(0.02));
        let request = fill(said(&[("quick", "false")]), false, &vocabulary());
        assert_eq!(request.rows.map(|rows| rows.value), Some(1_000_000));
        assert!(request.build.is_none());
    }

    #[test]
    fn a_time_leaves_open_what_follows_from_it_and_gives_way_to_rounds() {
        let filled = |words: &[(&str, &str)]| {
            let request = fill(read_preset("said", owned(words)), false, &vocabulary());
            let seconds = |stated: Option<Spanned<f64>>| stated.map(|seconds| seconds.value);
            let rounds = request.rounds.map(|rounds| rounds.value);
            (seconds(request.time), rounds, seconds(request.read_seconds), seconds(request.warmup))
        };
        assert_eq!(filled(&[]), (Some(900.0), None, None, None));
        assert_eq!(filled(&[("quick", "true")]), (Some(300.0), None, None, None));
        assert_eq!(filled(&[("quick", "true"), ("suite", "own")]), (Some(300.0), None, None, None));
        assert_eq!(filled(&[("quick", "true"), ("time", "1h")]), (Some(3600.0), None, None, None));
        assert_eq!(filled(&[("rounds", "4")]), (None, Some(4), Some(10.0), Some(1.0)));
        assert_eq!(filled(&[("quick", "true"), ("rounds", "4")]), (None, Some(4), Some(2.0), Some(0.5)));
        assert_eq!(filled(&[("time", "1h"), ("rounds", "4")]), (Some(3600.0), Some(4), None, None));
        assert_eq!(filled(&[("read-seconds", "2")]), (Some(900.0), None, Some(2.0), None));
        assert_eq!(filled(&[("suite", "insert")]), (None, Some(3), Some(15.0), None));
        assert_eq!(filled(&[("suite", "insert"), ("time", "1h")]), (Some(3600.0), None, Some(15.0), None));
    }

    #[test]
    fn a_scale_fills_what_is_not_said() {
        let filled = |words: &[(&str, &str)]| {
            let request = read_preset("said", owned(&[&[("suite", "insert")], words].concat()));
            let request = fill(request, false, &vocabulary());
            let [rows, written] = [&request.rows, &request.rows_written].map(|rows| rows.as_ref().expect("told").value);
            let [seconds, rest] =
                [&request.read_seconds, &request.rest_seconds].map(|time| time.as_ref().expect("told").value);
            let clients: Vec<u32> = request.clients.iter().flat_map(|list| &list.value).map(|one| one.value).collect();
            assert!(request.tests.is_none() && request.warmup.is_none());
            format!(
                "{clients:?} {rows} {written} {seconds} s, rest {rest} s, rounds {}",
                request.rounds.expect("told").value
            )
        };
        for (words, expected) in [
            (&[][..], "[1] 500000 100000 15 s, rest 0 s, rounds 3"),
            (&[("scale", "cached-large")], "[8] 250000000 5000000 1800 s, rest 1200 s, rounds 3"),
            (&[("scale", "cached-large:0.01")], "[8] 2500000 50000 1800 s, rest 80 s, rounds 3"),
            (
                &[("scale", "cached-large"), ("rows", "1m"), ("clients", "1,4")],
                "[1, 4] 1000000 5000000 1800 s, rest 64 s, rounds 3",
            ),
            (&[("quick", "true")], "[1] 200000 50000 5 s, rest 0 s, rounds 1"),
            (
                &[("quick", "true"), ("scale", "small:2"), ("rounds", "2")],
                "[1] 1000000 200000 15 s, rest 0 s, rounds 2",
            ),
        ] {
            assert_eq!(filled(words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_key_said_wrongly_stays_open() {
        let mut request = Request::default();
        request.faulty.insert("rows");
        assert!(fill(request, true, &vocabulary()).rows.is_none());
    }
}
