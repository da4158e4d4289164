//! Names, plans, settings and messages that try to become markup, script, formulas or terminal commands.

use crate::world::{InsertSize, insert_findings};
use crate::world::{Size, explained, findings};
use rqps_analysis::findings::{Findings, SideBySide, Warning};
use rqps_model::plan::ForcedForm;
use rqps_model::{Engine, WarningKind};
use rqps_report::{explain, explain_markdown, files, html, markdown, terminal};

const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{1b}[31m|x";

/// A campaign in which every text that comes from outside is hostile.
fn hostile() -> Findings {
    spoiled(findings(Size { tests: 6, treatments: 3, rounds: 2 }))
}

/// The same of the Insert Benchmark.
fn hostile_insert() -> Findings {
    let mut made = spoiled(insert_findings(InsertSize { treatments: 3, rounds: 2, seconds: 5 }));
    for cell in made.tests.iter_mut().flat_map(|test| &mut test.cells) {
        for round in &mut cell.timelines {
            round.failure = Some(HOSTILE.to_owned());
            round.index_builds.iter_mut().for_each(|build| build.sql = HOSTILE.to_owned());
            round.marks.iter_mut().for_each(|mark| mark.what = HOSTILE.to_owned());
            round.server.insert(HOSTILE.to_owned(), vec![(1.0, 1.0)]);
        }
    }
    made
}

/// Makes every text that comes from outside hostile.
fn spoiled(mut made: Findings) -> Findings {
    let text = || HOSTILE.to_owned();
    let warning = || Warning { kind: WarningKind::Trial, cause: text(), advice: Some(text()), in_full: Some(text()) };
    made.warnings = vec![warning()];
    made.campaign.name = text();
    made.campaign.command_line = vec![text()];
    made.campaign.campaign_toml = text();
    made.campaign.rqps_version = text();
    made.host.hostname = text();
    made.host.cpu_model = text();
    made.host.kernel = text();
    for treatment in &mut made.treatments {
        treatment.name = text();
        treatment.sentence = text();
        treatment.warnings = vec![warning()];
        treatment.build.name = text();
        treatment.build.banner = text();
        treatment.build.flags = text();
        treatment.build.folder = HOSTILE.into();
        treatment.settings.configuration = text();
        treatment.settings.written.insert(text(), text());
        treatment.settings.left_out.insert(text(), text());
        treatment.settings_diff.insert(text(), (Some(text()), Some(text())));
    }
    made.forced = vec![ForcedForm {
        what: text(),
        tests: vec![text()],
        forms: Engine::ALL.map(|engine| (engine, format!("{HOSTILE}{engine}"))).into(),
        because: text(),
    }];
    made.side_by_side = vec![SideBySide { what: text(), values: vec![text(); 3] }];
    for test in &mut made.tests {
        test.name = text();
        test.label = text();
        test.statements = vec![(text(), text())];
        for cell in &mut test.cells {
            cell.warnings = vec![warning()];
            cell.plans.iter_mut().for_each(|plan| (plan.statement, plan.plan) = (text(), text()));
            cell.counters.iter_mut().for_each(|counter| counter.name = text());
            cell.latency.iter_mut().for_each(|latency| latency.kind = text());
            cell.errors =
                vec![rqps_model::sample::ErrorCount { statement: text(), code: text(), count: 1, message: text() }];
            if let Some(comparison) = &mut cell.comparison {
                comparison.remark = Some(text());
            }
        }
    }
    made
}

/// A campaign whose functions have hostile names.
fn hostile_functions() -> Findings {
    let mut made = spoiled(explained());
    for refused in made.tests.iter_mut().flat_map(|test| &mut test.cells).flat_map(|cell| &mut cell.not_sampled) {
        refused.why = HOSTILE.to_owned();
    }
    for profile in made.tests.iter_mut().flat_map(|test| &mut test.cells).filter_map(|cell| cell.profile.as_mut()) {
        let functions = profile.functions.iter_mut().chain(&mut profile.inclusive).map(|function| &mut function.name);
        functions.chain(profile.graph.iter_mut().map(|frame| &mut frame.name)).for_each(|name| *name = HOSTILE.into());
        profile.warnings = vec![HOSTILE.to_owned()];
    }
    made
}

#[test]
fn nothing_from_outside_becomes_markup() {
    for made in [hostile(), hostile_insert(), hostile_functions()] {
        check_page(&html(&made).expect("renders"));
    }
}

fn check_page(page: &str) {
    assert!(!page.contains("<script>alert"), "a script got through");
    assert!(!page.contains("alert(1)</script>"), "a script got through");
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own script");
    assert!(page.contains("&lt;script&gt;alert(1)"), "the text itself is shown");
    // Inside attributes the quote is what counts.
    assert!(!page.contains("alert(1)&lt;/script&gt;\""), "a quote got through");
}

#[test]
fn nothing_from_outside_reaches_a_terminal_raw() {
    for made in [hostile(), hostile_insert(), hostile_functions()] {
        for width in [60, 80, 140] {
            let table = terminal(&made, width, false);
            assert!(!table.contains('\u{1b}'), "an escape sequence got through");
            assert!(!explain(&made, &[], width).contains('\u{1b}'), "an escape sequence got through");
        }
        let text = markdown(&made);
        assert!(!text.contains("<script>") && !text.contains('\u{1b}'));
        // In a fence, whose lines are indented, names stand as they are.
        let text = explain_markdown(&made, &[]);
        let prose = || text.lines().filter(|line| !line.starts_with("  "));
        assert!(!text.contains('\u{1b}') && prose().all(|line| !line.contains("<script>")), "{text}");
        for (path, bytes) in files(&made) {
            assert!(!bytes.contains(&0x1b), "{path} holds an escape character");
            let name = path.strip_prefix("tables/").unwrap_or(&path);
            assert!(!name.contains(['/', '<', '\u{1b}']), "{path} leads out of its folder");
        }
    }
}

#[test]
fn a_hostile_label_does_not_break_a_table() {
    let made = hostile();
    for (path, bytes) in files(&made) {
        let text = String::from_utf8(bytes).expect("text");
        if path.ends_with(".csv") {
            assert!(text.lines().all(|line| line.starts_with("\"<script>")), "{path}: {text}");
            assert_eq!(text.lines().count(), made.tests.len());
        }
    }
}
