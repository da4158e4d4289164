//! Notes and footnotes: whom they are about, that they are sentences, and that long ones are cut on a terminal and
//! nowhere else.

use crate::terminal::widest;
use crate::world::{Size, findings};
use rqps_analysis::findings::{Comparison, Findings, TestFindings, Warning};
use rqps_model::own::{AnswersCheck, Own, OwnData, OwnStep, OwnTest, Protocol, Steps, Work};
use rqps_model::plan::SuitePlan;
use rqps_model::{Verdict, WarningKind};
use rqps_report::{compare_json, html, markdown, terminal};
use std::collections::BTreeMap;

fn warning(kind: WarningKind, cause: &str, advice: &str) -> Warning {
    Warning { kind, cause: cause.to_owned(), advice: Some(advice.to_owned()), in_full: None }
}

/// Text without the line ends and indents that wrapping put in.
fn flowed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn comparison(made: &mut Findings, test: usize) -> &mut Comparison {
    made.tests[test].cells[1].comparison.as_mut().expect("compared")
}

#[test]
fn notes_name_their_treatment_and_say_the_advice_once() {
    let mut made = findings(Size::FIVE_BUILDS);
    for treatment in &mut made.treatments {
        treatment.warnings.clear();
    }
    for at in [1, 3] {
        made.treatments[at].warnings =
            vec![warning(WarningKind::UnlikeBuilds, "compiler gcc 13 instead of gcc 11", "compare like builds")];
    }
    let named = |at: usize| {
        let name = made.treatments[at].name.split('.').next().expect("a build").to_owned();
        format!("{name}: compiler gcc 13 instead of gcc 11.")
    };
    let table = terminal(&made, 80, false);
    let told = format!("Note: {}\n      {}\n      Compare like builds.\n", named(1), named(3));
    assert!(table.contains(&told), "{told} in\n{table}");
    let (page, marked) = (html(&made).expect("a page"), markdown(&made));
    for at in [1, 3] {
        assert!(page.contains(&named(at)), "{}", named(at));
        assert!(marked.contains(&format!("- {} Compare like builds.\n", named(at))), "{marked}");
    }
}

#[test]
fn what_the_verdicts_are_to_be_read_by_comes_first() {
    let mut made = findings(Size::TWO_BUILDS);
    made.warnings.push(warning(WarningKind::FloorViolated, "a and b are the same and yet 3 tests changed", "stop"));
    let shown = terminal(&made, 80, false);
    assert!(flowed(&shown).starts_with("Too noisy: a and b are the same and yet 3 tests changed. Stop."), "{shown}");
    assert_eq!(shown.matches("the same and yet").count(), 1, "{shown}");
    let shown = markdown(&made);
    assert!(shown.lines().nth(2).is_some_and(|line| line.starts_with("**Too noisy**: a and b are")), "{shown}");
    assert_eq!(shown.matches("the same and yet").count(), 1, "{shown}");
    let page = html(&made).expect("a page");
    let [told, first_build] = ["<b>Too noisy</b>", "<article"].map(|word| page.find(word).expect("it is there"));
    assert!(told < first_build);
}

#[test]
fn with_two_builds_notes_have_a_name_too() {
    let mut made = findings(Size::TWO_BUILDS);
    made.treatments[0].warnings =
        vec![warning(WarningKind::Absent, "this build was never started", "finish the campaign")];
    made.treatments[1].warnings =
        vec![warning(WarningKind::Memory, "work_mem 8MB instead of 4MB", "give both the same")];
    let page = html(&made).expect("a page");
    for (name, message) in
        [("pg1615_o2", "this build was never started."), ("pg1711_o2", "work_mem 8MB instead of 4MB.")]
    {
        let told = format!("{name}: {message}");
        assert!(page.contains(&told) && terminal(&made, 80, false).contains(&told), "{told}");
    }
}

#[test]
fn long_lists_are_cut_on_a_terminal_only() {
    let mut made = findings(Size::TWO_BUILDS);
    let flags: String = (0..60).map(|n| format!("-fflag-{n} ")).collect();
    made.treatments[1].warnings =
        vec![warning(WarningKind::UnlikeBuilds, &format!("flags {}only here", flags), "compare like builds")];
    for width in [80, 132] {
        let table = terminal(&made, width, false);
        let lines: Vec<&str> =
            table.lines().skip_while(|line| !line.starts_with("Note: pg1711_o2: flags")).take(3).collect();
        assert!(lines[1].ends_with(" …, all in the report."), "{lines:?}");
        assert_eq!(lines[2], "      Compare like builds.");
        assert!(widest(&table) <= width && !table.contains("-fflag-59"));
    }
    for whole in [html(&made).expect("a page"), compare_json(&made), markdown(&made)] {
        assert!(whole.contains("-fflag-0 ") && whole.contains("-fflag-59 only here"));
    }
}

#[test]
fn a_list_that_was_summed_up_is_whole_in_the_page() {
    let mut made = findings(Size::TWO_BUILDS);
    let short = "compiler gcc 13 instead of gcc 11; flags -O3 only here; 14 more flags differ";
    let full = "compiler gcc (Ubuntu 13.3.0) 13 instead of gcc 11; flags -O3 -fa -fb only here";
    let folded =
        Warning { in_full: Some(full.to_owned()), ..warning(WarningKind::UnlikeBuilds, short, "compare like builds") };
    made.treatments[1].warnings = vec![folded];
    let table = flowed(&terminal(&made, 80, false));
    let told = format!("Note: pg1711_o2: {short}: `rqps builds show pg1711_o2`. Compare like builds.");
    assert!(table.contains(&told) && !table.contains("-fa"), "{told} in\n{table}");
    let page = html(&made).expect("a page");
    let folded = format!("<details class=\"whole\"><summary>In full</summary>{full}</details></div>");
    assert!(page.contains(&format!("pg1711_o2: {short}.")) && page.contains(&folded));
    assert!(compare_json(&made).contains(&format!("\"in_full\": \"{full}\"")));
    assert!(markdown(&made).contains(short) && !markdown(&made).contains("-fa"));
    assert_eq!(html(&findings(Size::TWO_BUILDS)).expect("a page").matches("<details class=\"whole\">").count(), 0);
}

#[test]
fn what_failed_is_told_of_each_treatment() {
    let mut made = findings(Size::FIVE_BUILDS);
    let log =
        "the server died; its log ends with:\n  LOG: vacuum\n2026 UTC [8] FATAL:  no more memory\n  usage: 0.00 s";
    let failures = [
        (0, 1, "failed in round 1 of 6: /tmp/a-s1/.s, refused: too many clients"),
        (1, 1, "failed in rounds 1, 2 of 6: /tmp/a-s7/.s, refused: too many clients"),
        (0, 3, "failed in round 1 of 6: ERROR 1040: Too many connections"),
        (1, 4, &format!("failed in round 2 of 6: {log}")),
    ];
    for (test, treatment, message) in failures {
        made.tests[test].cells[treatment].warnings.push(warning(WarningKind::Failed, message, "see the log"));
    }
    let table = flowed(&terminal(&made, 80, false));
    let name = |at: usize| made.treatments[at].name.split('.').next().expect("a build").to_owned();
    for told in [
        format!("failed (4 cells): {}: {}. See the log.", name(1), failures[0].2),
        format!("{}: {}. See the log.", name(3), failures[2].2),
        format!(
            "{}: failed in round 2 of 6: the server died; its log ends with: … 2026 UTC [8] FATAL: no more memory. \
             The rest is in treatments/{}/server.log.",
            name(4),
            made.treatments[4].name
        ),
    ] {
        assert!(table.contains(&told), "{told} in\n{table}");
    }
    assert_eq!(table.matches("too many clients").count(), 1, "one cause of one treatment is told once");
    assert!(!table.contains("usage: 0.00 s") && compare_json(&made).contains("usage: 0.00 s"));
}

#[test]
fn why_a_clear_interval_is_undecided_is_seen_at_eighty_columns() {
    let mut made = findings(Size::TWO_BUILDS);
    let taken_back = comparison(&mut made, 0);
    (taken_back.low, taken_back.high, taken_back.q) = (Some(1.5), Some(2.4), Some(0.08));
    (taken_back.verdict, taken_back.remark) = (Verdict::Undecided, Some("q = 0.08".to_owned()));
    let table = terminal(&made, 80, false);
    let row = table.lines().find(|line| line.starts_with("  hot-points ")).expect("a row");
    assert!(row.ends_with("? q = 0.08"), "{row}");
}

#[test]
fn a_ratio_that_is_far_from_the_quotient_is_explained() {
    let told = |made: &Findings| {
        terminal(made, 80, false).lines().find(|line| line.starts_with("rQPS is ")).map(str::to_owned)
    };
    let mut made = findings(Size::TWO_BUILDS);
    let set = |test: &mut TestFindings, off: f64| {
        let [base, cell] = &mut test.cells[..] else { panic!("two builds") };
        for one in &cell.comparison.as_ref().expect("a comparison").by_round {
            let round = one.round as usize - 1;
            cell.throughput_by_round[round] = base.throughput_by_round[round].map(|base| base * one.rqps * off);
        }
    };
    made.tests.iter_mut().for_each(|test| set(test, 1.019));
    // That of a round which failed on one side is in one mean, and in no ratio.
    made.tests[0].cells[1].throughput = made.tests[0].cells[1].throughput.map(|throughput| throughput * 1.3);
    assert_eq!(told(&made), None);
    set(&mut made.tests[3], 0.9);
    let line = format!("rQPS is trimmed over slices: up to 11 % off the quotient ({})", made.tests[3].name);
    assert_eq!(told(&made), Some(line.clone()));
    assert!(markdown(&made).contains(&line));
    let is_on_page = |made: &Findings| html(made).expect("a page").contains("rQPS is not quite the quotient");
    assert!(is_on_page(&made));
    made.tests.iter_mut().for_each(|test| test.interleave = Some(rqps_model::Interleave::Turns));
    assert_eq!(told(&made), None, "in turns it is the quotient");
    assert!(!is_on_page(&made));
}

#[test]
fn one_test_is_no_tests() {
    let mut made = findings(Size::TWO_BUILDS);
    made.tests[0].interleave = Some(rqps_model::Interleave::Turns);
    let others = made.tests.len() - 1;
    let told = terminal(&made, 200, false);
    assert!(told.contains(&format!("({others} tests), turns (1 test)")), "{told}");
}

#[test]
fn what_a_change_costs_a_day_says_what_is_not_shown() {
    let mut made = findings(Size::TWO_BUILDS);
    let step = |name: &str| OwnStep { name: name.to_owned(), sql: BTreeMap::new(), keep: Vec::new(), rows: None };
    let test = |made: &Findings, at: usize| {
        let name = &made.tests[at].name;
        let work = Work::Steps(Steps { steps: vec![step(name)], transaction: false });
        OwnTest { calls: Some(1000.0), ..OwnTest::new(name, work, Protocol::Prepared) }
    };
    let tests = vec![test(&made, 0), test(&made, 1)];
    let names: Vec<String> = tests.iter().map(|test| test.name.clone()).collect();
    let (data, values) = (OwnData::default(), BTreeMap::new());
    let own = Own { name: "shop".to_owned(), data, values, tests, answers: AnswersCheck::OFF };
    made.campaign.suite = SuitePlan::Own(Box::new(own));
    for (at, low, high) in [(0, 1.01, 1.3), (1, 0.9, 1.1)] {
        let comparison = comparison(&mut made, at);
        (comparison.low, comparison.rqps, comparison.high) = (Some(low), 1.1, Some(high));
        comparison.verdict = Verdict::Undecided;
    }
    let told = terminal(&made, 200, false);
    let line = told.lines().find(|line| line.starts_with(&format!("  {} −", names[0])) && line.contains("calls took"));
    assert!(line.is_some_and(|line| line.ends_with(", undecided")), "{told}");
    assert!(told.contains("\n  no change shown in 1 more\n"), "{told}");
}

#[test]
fn the_users_own_workload_says_how_statements_are_sent_and_when_data_are_fresh() {
    let mut made = findings(Size::TWO_BUILDS);
    let work = || Work::Steps(Steps { steps: Vec::new(), transaction: false });
    let tests = [("a", Protocol::Prepared), ("b", Protocol::Simple)];
    let mut own = Own {
        name: "shop".to_owned(),
        data: OwnData::default(),
        values: BTreeMap::new(),
        tests: tests.map(|(name, protocol)| OwnTest::new(name, work(), protocol)).into(),
        answers: AnswersCheck::OFF,
    };
    for (renew_per_round, told) in [
        (false, "tests that write have fresh data each"),
        (true, "tests that write have fresh data once a round, and go on with what those before them wrote"),
    ] {
        own.data.renew_per_round = renew_per_round;
        made.campaign.suite = SuitePlan::Own(Box::new(own.clone()));
        let page = flowed(&html(&made).expect("a page"));
        assert!(page.contains("prepared in a; simple in b") && page.contains(told), "{told}");
        assert_eq!(page.contains("fresh data each"), !renew_per_round);
    }
}
