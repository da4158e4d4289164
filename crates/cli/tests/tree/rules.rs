//! What DESIGN and GLOSSARY promise and no lint sees: where suites and engines are told apart, how wide a line is,
//! which words are gone.

use super::circles::without_tests;
use super::{files, none, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files that may ask which suite it is: what a suite is, how it is planned, driven, compared and shown.
const SUITE_FILES: [&str; 4] = [
    "crates/analysis/src/suite.rs",
    "crates/load/src/suite.rs",
    "crates/report/src/suite.rs",
    "crates/suites/src/lib.rs",
];

/// Terminals and side-by-side diffs show this much.
const COLUMNS_MAX: usize = 120;

/// Words that names once had, and the glossary's word for each.
const GONE: [(&str, &str); 9] = [
    ("Contest", "Exercise"),
    ("Contestant", "ResolvedTreatment"),
    ("Bout", "Block"),
    ("Sitting", "Run"),
    ("Chore", "Task"),
    ("Rival", "Arm"),
    ("Entrant", "Arm"),
    ("Ledger", "Output"),
    ("is_patient", "batch_scheduling"),
];

/// Files of the product, without tests.
fn production() -> Vec<(PathBuf, String)> {
    let is_test = |path: &Path| {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let inner = parts.get(2..).unwrap_or_default();
        parts[0] != "crates"
            || ["madeup", "testkit"].contains(&parts[1])
            || inner.first() != Some(&"src")
            || inner.iter().any(|part| ["tests", "tests.rs", "testing.rs", "simulation.rs"].contains(part))
    };
    let kept = sources().into_iter().filter(|(path, _)| !is_test(path));
    kept.map(|(path, text)| (path, without_tests(&text))).collect()
}

#[test]
fn few_files_ask_which_suite_it_is() {
    let words = ["SuitePlan::", "SuiteName::Sysbench", "SuiteName::Insert"];
    let asking = production().into_iter().filter(|(_, text)| words.iter().any(|word| text.contains(word)));
    let asking: BTreeSet<String> = asking.map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(asking, SUITE_FILES.map(str::to_owned).into(), "files that ask which suite it is");
}

#[test]
fn one_file_of_a_crate_asks_which_engine_it_is() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in production() {
        let name = path.iter().nth(1).expect("a crate").to_string_lossy().into_owned();
        if ["Engine::Postgres", "Engine::Mysql", "Engine::Mariadb"].iter().any(|arm| text.contains(arm)) {
            files.entry(name).or_default().push(path.display().to_string());
        }
    }
    // `model` is where engines and their names are at home.
    files.retain(|name, files| files.len() > 1 && name != "model");
    none(files.into_values().flatten().collect(), "one file of a crate asks which engine it is");
}

#[test]
fn lines_fit_a_terminal() {
    let text = |path: &PathBuf| fs::read_to_string(root().join(path)).unwrap_or_default();
    let mut wide = Vec::new();
    for path in files() {
        let is_prose = path.extension().is_some_and(|extension| extension == "md");
        let comment = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs" | "js") => Some("//"),
            Some("sh" | "py") => Some("#"),
            _ => None,
        };
        let mut is_fenced = false;
        for (number, line) in (1..).zip(text(&path).lines()) {
            is_fenced ^= line.starts_with("```");
            // Tables, commands and terminal output of documents cannot be wrapped; a comment can.
            let counts = match comment {
                Some(mark) => line.trim_start().starts_with(mark),
                None => is_prose && !is_fenced && !line.starts_with('|') && !line.starts_with("    "),
            };
            if counts && line.chars().count() > COLUMNS_MAX {
                wide.push(format!("{}:{number}", path.display()));
            }
        }
    }
    none(wide, "prose and comments are at most 120 columns wide");
}

#[test]
fn words_that_are_gone_stay_gone() {
    let mut found = Vec::new();
    for (path, text) in production() {
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for (gone, word) in GONE.iter().filter(|(gone, _)| words.contains(gone)) {
            found.push(format!("{}: {gone}; the word is {word}", path.display()));
        }
    }
    none(found, "one word for one thing");
}
