//! The documentation is right: its examples are read, its table has every key, and its faults look like that.

mod insert;

use crate::testing::NoFiles;
use crate::testing::{resolved, vocabulary};
use crate::{Command, Source, describe, read, to_toml};
use rqps_suites::key::Form;
use rqps_suites::preset::PRESETS;
use rqps_suites::{KEYS, Key, SuiteName};

const DOCUMENT: &str = include_str!("../../../docs/campaign-file.md");

/// The fenced blocks of the document: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let parts: Vec<&str> = DOCUMENT.split("\n```").collect();
    parts.iter().skip(1).step_by(2).map(|part| part.split_once('\n').expect("a block has lines")).collect()
}

fn source(text: &str) -> Source {
    Source::new("campaign.toml", text.as_bytes())
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
        let reading = read(Some(&source(&whole)), &[], Command::Run, &vocabulary(), &NoFiles);
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
    let reading = read(Some(&source(wrong)), &[], Command::Run, &vocabulary(), &NoFiles);
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told.join("\n"), shown.trim_end_matches('\n'));
}

/// The table of keys is made from the keys: `UPDATE_EXPECT=1 cargo test -p rqps-campaign` writes it.
/// The key as a row of the table in docs/campaign-file.md.
fn row(key: &Key) -> String {
    let others = key.other_defaults.iter().map(|(suite, default)| format!("; `{suite}`: {}", default.text()));
    let default = key.default.text().to_owned() + &others.collect::<String>();
    let suites: Vec<String> = key.suites.iter().map(|suite| format!("`{suite}`")).collect();
    let about = match suites.len() < SuiteName::ALL.len() {
        true => format!("Suite {}: {}{}", suites.join(", "), key.about[..1].to_lowercase(), &key.about[1..]),
        false => key.about.clone(),
    };
    let anchor = |section: &String| format!("; see [{section}](#{})", section.to_lowercase().replace(' ', "-"));
    let more = key.section.as_ref().map(anchor).unwrap_or_default();
    format!("| `{}` | {} | {default} | {about}{more} |\n", key.name, cell(&key.form))
}

/// What is allowed, for a cell of a table in Markdown.
fn cell(form: &Form) -> String {
    let quoted: Vec<String> = form.words().iter().map(|word| format!("`\"{word}\"`")).collect();
    match form {
        Form::FolderName => "a name".to_owned(),
        Form::Build => "a build".to_owned(),
        Form::Builds => "list of builds".to_owned(),
        Form::Suite | Form::Interleave | Form::Placement | Form::Preset | Form::TprocCProfile => quoted.join(" or "),
        Form::ProgramPages => quoted.join(" or "),
        Form::Isolation | Form::Check | Form::Answers | Form::OwnProtocol => quoted.join(" or "),
        Form::StorageEngines | Form::TransactionForms => format!("list of {}", quoted.join(", ")),
        Form::File => "a file".to_owned(),
        Form::Names(of) => format!("list of {of}"),
        Form::Whole { min, max } | Form::Count { min, max } => format!("{min} to {max}"),
        Form::Wholes { min, max } => format!("list of {min} to {max}"),
        Form::Scale => "a size, `\"small:0.1\"`".to_owned(),
        Form::Number { min, max, unit } => format!("{min} to {max} {unit}"),
        Form::Duration { .. } => "a time, `\"15m\"`".to_owned(),
        Form::Rate => "events per second".to_owned(),
        Form::Fraction { min, max } => format!("{min} to {max}, or `\"2%\"`"),
        Form::Machine => "`\"c8r32\"`, or a table".to_owned(),
        Form::Settings => "settings".to_owned(),
        Form::Switch => "true or false".to_owned(),
    }
}

#[test]
fn the_table_of_keys_is_the_keys() {
    let marks = ["<!-- made from crates/suites/src/keys.toml -->\n", "<!-- end of what is made -->\n"];
    let (before, rest) = DOCUMENT.split_once(marks[0]).expect("where the table begins");
    let (_, after) = rest.split_once(marks[1]).expect("where the table ends");
    let rows: String = KEYS.iter().map(row).collect();
    let table = format!("\n| key | value | default | what it does |\n|---|---|---|---|\n{rows}\n");
    for key in KEYS.iter() {
        let has = |section: &str| DOCUMENT.lines().any(|line| line.trim_start_matches('#') == format!(" {section}"));
        assert!(key.section.as_deref().is_none_or(has), "{:?}", key.section);
    }
    let whole = [before, marks[0], &table, marks[1], after].concat();
    expect_test::expect_file!["../../../docs/campaign-file.md"].assert_eq(&whole);
}

#[test]
fn presets_are_told_as_they_are() {
    let (_, table) = DOCUMENT.split_once("## Presets").expect("a section");
    for (at, preset) in PRESETS.iter().enumerate() {
        for (name, value) in preset.words.iter().filter(|(name, _)| !["name", "build", "tests"].contains(&&**name)) {
            let row = table.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row");
            assert_eq!(row.split('|').nth(2 + at).map(str::trim), Some(value.as_str()), "{row}");
        }
    }
}

#[test]
fn the_first_byte_that_is_no_text_is_shown_in_its_line() {
    let source = Source::new("x.toml", b"rows = 1\r\n# \xc3\xa4 b\xe4h\r\nrounds = 3\n");
    let reading = read(Some(&source), &[], Command::Run, &vocabulary(), &NoFiles);
    let told: String = reading.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    let line = "x.toml:2:6: error: invalid UTF-8: byte 0xe4\n2 | # \u{e4} b\u{fffd}h\n  |      ^";
    assert!(told.contains(line), "{told}");
    assert_eq!(reading.campaign, None);
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
    let read_text = |text: &str| read(Some(&source(text)), &[], Command::Run, &vocabulary(), &NoFiles);
    // One slip at each place, another at the next.
    let slips = ["\"", "[", "}", "=", "\n", "ü", "\u{0}", "'''"].iter().cycle();
    for ((at, _), slip) in WHOLE.char_indices().zip(slips) {
        let (front, back) = WHOLE.split_at(at);
        for reading in [front, back, &format!("{front}{slip}{back}")].map(read_text) {
            let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
            assert_eq!(reading.campaign.is_none(), told.iter().any(|text| text.contains("error: ")), "{told:?}");
        }
    }
}
