//! Markdown: what stands behind the changes, under the tables and as a report of its own.

use crate::world::{REFUSED, Size, explained, findings};
use rqps_analysis::findings::Findings;
use rqps_report::{explain, explain_json, explain_markdown, markdown};
use serde_json::Value;

/// What `rqps explain --json` has of the tests that changed: test, short name of the treatment, sentence.
fn changes(findings: &Findings) -> Vec<[String; 3]> {
    let rows: Value = serde_json::from_str(&explain_json(findings, &[])).expect("JSON");
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_else(|| panic!("{key} in {row:#}")).to_owned();
    let of = |row: &Value| {
        let treatment = text(row, "treatment");
        [text(row, "test"), treatment.split('.').next().expect("a build").to_owned(), text(row, "sentence")]
    };
    rows.as_array().expect("rows").iter().map(of).collect()
}

/// Without the signs that keep names from being markup; what is made up has none of its own.
fn plain(markdown: &str) -> String {
    markdown.replace('\\', "")
}

/// Lines of a list that is under this heading, and above the next.
fn bullets<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let (_, below) = text.split_once(heading).unwrap_or_else(|| panic!("no {heading} in {text}"));
    let part = below.split("\n#").next().unwrap_or(below);
    part.lines().filter(|line| line.starts_with("- **")).collect()
}

#[test]
fn under_each_table_stands_what_is_behind_its_changes() {
    let made = findings(Size::TWO_BUILDS);
    let (text, changes) = (plain(&markdown(&made)), changes(&made));
    assert!(!changes.is_empty());
    for [test, _, sentence] in &changes {
        let is_it =
            |line: &str| line.starts_with(&format!("- **{test}** ")) && line.ends_with(&format!(": {sentence}"));
        assert_eq!(text.lines().filter(|line| is_it(line)).count(), 1, "{test}: {sentence} in\n{text}");
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("- **")).count(), changes.len(), "no other: {text}");
    let of_points = bullets(&text, "### Point queries");
    assert!(of_points.iter().any(|line| line.starts_with("- **hot-points** +")), "{of_points:?}");
    assert!(!of_points.iter().any(|line| line.contains("update-")), "those of other tables are there: {of_points:?}");
}

#[test]
fn of_several_builds_each_change_names_its_own() {
    let made = findings(Size::FIVE_BUILDS);
    let (text, changes) = (plain(&markdown(&made)), changes(&made));
    assert!(changes.len() > 8);
    for [test, build, sentence] in &changes {
        let begin = format!("- **{test}** on {build} ");
        let is_it = |line: &&str| line.starts_with(&begin) && line.ends_with(&format!(": {sentence}"));
        assert_eq!(text.lines().filter(is_it).count(), 1, "{begin}{sentence} in\n{text}");
    }
}

#[test]
fn what_explains_a_change_can_be_pasted_in_a_bug_report() {
    let made = explained();
    let text = plain(&explain_markdown(&made, &[]));
    let changes = changes(&made);
    let [[test, build, sentence]] = &changes[..] else { panic!("one test changed: {changes:?}") };
    let base = &made.treatments[made.base];
    assert!(text.contains(&format!("Relative to **{}** (PostgreSQL {}).\n", base.name, base.build.version)), "{text}");
    assert_eq!(bullets(&text, &format!("### {build}")).len(), 1, "{text}");
    assert!(text.contains(&format!("- **{test}** +")) && text.contains(&format!(": {sentence}\n")), "{text}");
    // Its functions, as they stand on a terminal, are text in the bullet: no name is markup.
    let (before, fenced) = text.split_once("\n  ```text\n").unwrap_or_else(|| panic!("no fence in {text}"));
    let (fenced, after) = fenced.split_once("\n  ```\n").unwrap_or_else(|| panic!("no end of it in {text}"));
    assert!(fenced.contains("send_[k], 10.") && !before.contains("send_"), "{text}");
    assert!(fenced.lines().all(|line| line.starts_with("  ") && !line.starts_with("      f")), "{fenced}");
    assert!(after.contains("\nMeasured by rqps "), "{after}");
    assert!(after.contains(&format!("\nNote: system calls were not sampled: {REFUSED}. Once")), "{after}");

    let both: Vec<String> = made.tests.iter().map(|test| test.name.clone()).collect();
    let text = explain_markdown(&made, &both);
    assert!(text.contains(": no change to explain\n") && text.matches("```text").count() == 2, "{text}");
}

#[test]
fn what_could_not_be_sampled_is_said_once_with_what_lifts_it() {
    let made = explained();
    let both: Vec<String> = made.tests.iter().map(|test| test.name.clone()).collect();
    for tests in [&both[..], &[]] {
        let told = explain(&made, tests, 200);
        let note = format!("\nNote: system calls were not sampled: {REFUSED}. Once that is lifted,");
        assert_eq!(told.matches("were not sampled").count(), 1, "{told}");
        assert!(told.contains(&note), "{note} in {told}");
    }
    let rows: Value = serde_json::from_str(&explain_json(&made, &[])).expect("JSON");
    assert_eq!(rows[0]["not_sampled"], serde_json::json!([{ "what": "system calls", "why": REFUSED }]));
    assert!(!explain(&findings(Size::TWO_BUILDS), &[], 200).contains("not sampled"), "nobody asked for it");
}
