//! The documentation is right: its examples are read, its table has every key, and its faults look like that.

use crate::key::Kind;
use crate::sample::{resolved, vocabulary};
use crate::{Command, KEYS, Source, describe, preset, read, to_toml};

const DOCUMENT: &str = include_str!("../../../docs/campaign-file.md");

/// The fenced blocks of the document: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let parts: Vec<&str> = DOCUMENT.split("\n```").collect();
    parts.iter().skip(1).step_by(2).map(|part| part.split_once('\n').expect("a block has lines")).collect()
}

fn source(text: &str) -> Source {
    Source { name: "campaign.toml".to_owned(), text: text.to_owned() }
}

#[test]
fn every_example_is_a_campaign() {
    let mut examples = 0;
    for (language, text) in blocks() {
        if language != "toml" {
            continue;
        }
        examples += 1;
        // Examples of single keys stand without builds.
        let whole = if text.contains("build =") {
            text.to_owned()
        } else {
            format!("build = [\"postgres:16.15\", \"postgres:17.11\"]\n{text}")
        };
        let reading = read(Some(&source(&whole)), &[], Command::Run, &vocabulary());
        assert_eq!(reading.diagnostics, [], "{text}");
        let campaign = reading.campaign.expect("no diagnostics");
        let plan = campaign.expand(&resolved(&campaign)).expect("a plan");
        assert!(!describe(&plan).is_empty());
        assert!(!to_toml(&reading.request).is_empty());
    }
    assert!(examples >= 5, "{examples}");
}

#[test]
fn the_faults_shown_are_the_faults_told() {
    let of = |wanted: &str| blocks().into_iter().find(|(language, _)| *language == wanted).map(|(_, text)| text);
    let (wrong, shown) = (of("toml-wrong").expect("an example"), of("text-faults").expect("what is told"));
    let reading = read(Some(&source(wrong)), &[], Command::Run, &vocabulary());
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told.join("\n"), shown.trim_end_matches('\n'));
}

#[test]
fn every_key_has_its_row() {
    for key in &KEYS {
        let start = format!("| `{}` |", key.name);
        let row = DOCUMENT.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/campaign-file.md has no row for `{}`", key.name));
        for default in [Some(key.default), key.in_insert].into_iter().flatten() {
            assert!(row.contains(default.text()), "{row}: default {}", default.text());
        }
        let bounds = match key.kind {
            Kind::Whole { min, max } | Kind::Count { min, max } | Kind::Wholes { min, max } if max < 1 << 40 => {
                Some(format!("{min} to {max}"))
            }
            Kind::Number { min, max, .. } | Kind::Fraction { min, max } => Some(format!("{min} to {max}")),
            _ => None,
        };
        assert!(bounds.iter().all(|bounds| row.contains(bounds)), "{row}: {bounds:?}");
    }
}

#[test]
fn presets_are_told_as_they_are() {
    let (_, table) = DOCUMENT.split_once("## Presets").expect("a section");
    for (column, words) in [(2, preset::QUICK), (3, preset::QUICK_INSERT), (4, preset::DEMO), (5, preset::QUICK_DEMO)] {
        for (name, value) in words.iter().filter(|(name, _)| !matches!(*name, "name" | "build" | "tests")) {
            let row = table.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row");
            assert_eq!(row.split('|').nth(column).map(str::trim), Some(*value), "{row}");
        }
    }
}

/// A file that uses every form of value.
const WHOLE: &str = r#"
name = "ü-campaign"
build = ["postgres:16.15", { name = "b", from = "postgres:17.11", profile = ["x10a"], set = { a.b = 1, c = true } }]
tests = ['hot-points', "read-*", 32]
rows = 100_000
clients = [1, 0x10]
margin = 2.5e-2
rate = "even:5"
[machine]
cores = 8
memory = "32GB"
[set]
work_mem = "64MB" # "
"#;

#[test]
fn no_broken_text_makes_it_panic() {
    let read_text = |text: &str| read(Some(&source(text)), &[], Command::Run, &vocabulary());
    for (at, _) in WHOLE.char_indices() {
        let (front, back) = WHOLE.split_at(at);
        for reading in [read_text(front), read_text(back)].into_iter().chain(
            ["\"", "[", "}", "=", "\n", "ü", "\u{0}", "'''"].map(|slip| read_text(&format!("{front}{slip}{back}"))),
        ) {
            let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
            assert_eq!(reading.campaign.is_none(), told.iter().any(|text| text.contains("error: ")), "{told:?}");
        }
    }
}
