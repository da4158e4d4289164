//! The Insert Benchmark's report: published layout byte for byte, and what files, terminal, page and JSON say of steps.

use crate::terminal::widest;
use crate::world::{InsertSize, TROUBLED, insert_findings};
use rqps_analysis::findings::{Findings, InsertColumns};
use rqps_model::insert::Buckets;
use rqps_report::{compare_json, files, html, markdown, terminal};
use serde_json::Value;

fn file(findings: &Findings, path: &str) -> String {
    let all = files(findings);
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    let found = all.iter().find(|(name, _)| name == path);
    let (_, bytes) = found.unwrap_or_else(|| panic!("{path} is not among {names:?}"));
    String::from_utf8(bytes.clone()).expect("text")
}

/// Metrics from a published line, and the tag.
fn read(line: &str) -> (InsertColumns, String) {
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!(fields.len(), 21, "{line}");
    let number = |at: usize| fields[at].parse::<f64>().ok();
    let known = |at: usize| number(at).expect("a number");
    let metrics = InsertColumns {
        ips: known(0),
        qps: known(1),
        rps: known(2),
        rmbps: known(3),
        wps: known(4),
        wmbps: known(5),
        rpq: known(6),
        rkbpq: known(7),
        wpi: known(8),
        wkbpi: known(9),
        csps: known(10),
        cpups: known(11),
        cspq: known(12),
        cpupq: known(13),
        dbgb1: known(14),
        dbgb2: known(15),
        rss: known(16),
        maxop: known(17),
        p50: number(18),
        p99: number(19),
    };
    (metrics, fields[20].to_owned())
}

/// Published files compare pairs that a dash separates; each pair is a campaign of its own here.
fn check_golden(merged: &str, relative: &str) {
    let head = merged.lines().next().expect("a heading");
    let pairs = |text: &str| -> Vec<String> {
        text.split_once('\n').expect("lines").1.split("-\n").map(str::to_owned).collect()
    };
    for (these, ratios) in pairs(merged).iter().zip(pairs(relative)) {
        let mut made = insert_findings(InsertSize::TWO);
        for (index, line) in these.lines().enumerate() {
            let (metrics, tag) = read(line);
            made.treatments[index].name = tag;
            made.tests[0].cells[index].columns = Some(metrics);
        }
        assert_eq!(file(&made, "tables/mrg.l.i0.c1"), format!("{head}\n{these}"));
        assert_eq!(file(&made, "tables/rel.l.i0.c1"), format!("{head}\n{ratios}"));
    }
}

#[test]
fn lines_of_21_columns_are_as_published() {
    check_golden(include_str!("../golden/insert/mrg.l.i0"), include_str!("../golden/insert/rel.l.i0"));
    check_golden(include_str!("../golden/insert/mrg.l.x"), include_str!("../golden/insert/rel.l.x"));
    check_golden(include_str!("../golden/insert/mrg.q800.1"), include_str!("../golden/insert/rel.q800.1"));
}

#[test]
fn the_three_tables_keep_steps_in_order_and_mark_what_does_not_compare() {
    let made = insert_findings(InsertSize::TWO);
    let absolute = file(&made, "tables/insert.abs.c1.txt");
    let heads = absolute.lines().nth(1).expect("heads").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(heads, "dbms l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000");
    let troubled = absolute.lines().nth(3).expect("the second build");
    assert_eq!(troubled.matches('*').count(), 2, "{troubled}");
    assert!(absolute.ends_with("* background inserts below 95 % of the target: does not compare\n"), "{absolute}");
    let tsv = file(&made, "tables/insert.abs.c1.tsv");
    assert!(tsv.starts_with("dbms\tl.i0\t") && tsv.contains("\tqr1000,qp1000\n") && !tsv.contains('*'), "{tsv}");
    let relative = file(&made, "tables/insert.rel.c1.txt");
    let load = made.tests[0].cells[TROUBLED].comparison.as_ref().expect("compared").rqps;
    assert!(
        relative.contains(&format!("  {load:.2}↓")) && relative.contains("↑") && relative.contains("no verdict"),
        "{relative}"
    );
    let background = file(&made, "tables/insert.background.c1.tsv");
    assert_eq!(background.lines().next(), Some("dbms\tqr100\tqp100\tqr500\tqp500\tqr1000\tqp1000\tsla_missed"));
    assert_eq!(background.lines().last(), Some("target\t100\t100\t500\t500\t1000\t1000\t-"));
    assert!(background.contains("\t412\t412\tqr1000,qp1000\n"), "{background}");
}

#[test]
fn files_of_other_suites_are_not_written() {
    let names: Vec<String> = files(&insert_findings(InsertSize::TWO)).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.contains("/qps.") || name.contains("/o.met")), "{names:?}");
    for expected in
        ["tables/cost.c1.tsv", "tables/mrg.qp1000.rt.query.c1", "tables/mrg.l.i1.rt.delete.c1", "compare.json"]
    {
        assert!(names.iter().any(|name| name == expected), "{expected} in {names:?}");
    }
    assert!(!names.iter().any(|name| name == "tables/mrg.l.i0.rt.query.c1"));
}

#[test]
fn response_times_are_laid_out_as_published() {
    let mut made = insert_findings(InsertSize::TWO);
    let mut responses = made.tests[4].cells[0].responses.iter_mut();
    responses.find(|found| found.kind == "query").expect("queries").response =
        Buckets { counts: [12, 4_000, 912_004, 71_000, 1_205, 33, 4, 1, 0, 0], longest_ns: 3_100_000_000 };
    let table = file(&made, "tables/mrg.qr100.rt.query.c1");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("256us\t1ms\t4ms\t16ms\t64ms\t256ms\t1s\t4s\t16s\tgt\tmax\ttag"));
    let name = "pg1615_o2.x10a_c2r8";
    let expected = "0.001\t0.405\t92.284\t7.184\t0.122\t0.003\tnonzero\tnonzero\t0.000\t0.000\t3.100000";
    assert_eq!(lines.next(), Some(format!("{expected}\t{name}").as_str()));
}

#[test]
fn the_terminal_shows_tables_then_verdicts_then_troubles() {
    let made = insert_findings(InsertSize::TWO);
    let table = terminal(&made, 80, false);
    assert!(widest(&table) <= 80, "{} columns\n{table}", widest(&table));
    let places =
        ["Throughput:", "Relative to the base", "Background inserts", "Steps\n", "failed in round 3", "Relative"];
    let found: Vec<usize> =
        places[..5].iter().map(|place| table.find(place).unwrap_or_else(|| panic!("{place} in\n{table}"))).collect();
    assert!(found.is_sorted(), "{found:?} in\n{table}");
    let text = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "qr1000 pg1711_o2: the background writers inserted 412 of 1000 rows/s (41 % of the rate) in rounds 1, 2",
        "l.i1 pg1711_o2: almost no rows were inserted for 9 s in 3 stalls in rounds 1, 2, 3, the longest 3 s from \
         second 9 of round 1",
        "l.i2 pg1711_o2: failed in round 3 of 3: the server ended: signal 9",
        "whole passes",
        "1 table, 1500000 rows loaded",
    ] {
        assert!(text.contains(expected), "{expected} in\n{table}");
    }
    assert!(!table.contains("q/s ") && !table.contains("slices"), "words of another suite in\n{table}");
    let wide = terminal(&made, 140, false);
    assert!(widest(&wide) <= 140);
    let row = wide.lines().find(|line| line.starts_with("  pg1711_o2 ")).expect("treatments are rows where they fit");
    assert_eq!(row.split_whitespace().count(), 1 + made.tests.len(), "{row}");
    let mut bare = terminal(&made, 80, true);
    for sequence in ["\u{1b}[38;5;33m", "\u{1b}[38;5;208m", "\u{1b}[2m", "\u{1b}[0m"] {
        bare = bare.replace(sequence, "");
    }
    assert_eq!(bare, table);
}

#[test]
fn many_builds_fit_a_narrow_terminal() {
    let made = insert_findings(InsertSize { treatments: 9, rounds: 2, seconds: 5 });
    let table = terminal(&made, 80, false);
    assert!(widest(&table) <= 80, "{} columns\n{table}", widest(&table));
    assert!(table.contains("col-8"), "{table}");
}

#[test]
fn one_round_is_undecided_and_says_why() {
    let made = insert_findings(InsertSize::ONE_ROUND);
    let table = terminal(&made, 80, false);
    assert!(widest(&table) <= 80, "{table}");
    assert!(table.contains("? undecided, one round") && table.contains("One round: undecided."), "{table}");
    let row = table.lines().find(|line| line.contains("l.i0") && line.contains("undecided")).expect("a row");
    assert!(row.contains("(0.6") && row.contains(')'), "{row}");
    let page = html(&made).expect("renders");
    assert!(page.contains("not how much two runs of one build differ"));
    assert!(page.contains("interval inside the one round (0.6"));
    assert!(
        page.contains("<line class=\"in\"") && page.contains("<i class=\"sw inside\"></i> (…) within the single round")
    );
    assert!(!page.contains("<line class=\"ci\""), "an interval over rounds is drawn of one round");
    let several = html(&insert_findings(InsertSize::TWO)).expect("renders");
    assert!(several.contains("<line class=\"ci\"") && !several.contains("<line class=\"in\""));
    assert!(markdown(&made).contains("undecided, one round"));
    let many = terminal(&insert_findings(InsertSize::TWO), 80, false);
    assert!(!many.contains("undecided, one round") && !many.contains("One round"), "{many}");
}

#[test]
fn json_tells_targets_stalls_and_failures() {
    let told = |size| serde_json::from_str::<Value>(&compare_json(&insert_findings(size))).expect("JSON");
    let document = told(InsertSize::TWO);
    let row = |step: &str| {
        let rows = document["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["test"] == step).expect("the step").clone()
    };
    assert_eq!((&row("qr1000")["sla"], &row("qr1000")["base_sla"]), (&"missed".into(), &"held".into()));
    assert_eq!((&row("qr100")["sla"], &row("l.i0")["sla"]), (&"held".into(), &Value::Null));
    assert_eq!((row("l.i1")["stalls"].as_u64(), row("l.i0")["stalls"].as_u64()), (Some(9), Some(0)));
    assert!(row("l.i2")["failure"].as_str().expect("a failure").starts_with("the server ended"));
    assert_eq!((&row("l.i0")["inside"], &row("l.i0")["failure"]), (&Value::Null, &Value::Null));
    let inside = &told(InsertSize::ONE_ROUND)["rows"][0]["inside"];
    assert!(inside[0].as_f64() < inside[1].as_f64(), "{inside}");
}

#[test]
fn markdown_marks_what_does_not_compare() {
    let text = markdown(&insert_findings(InsertSize::TWO));
    assert!(text.contains("### Steps, 1 client"), "{text}");
    let row = text.lines().find(|line| line.starts_with("| qr1000 ")).expect("a row");
    assert_eq!(row.matches("\\*").count(), 1, "{row}");
    assert!(text.contains("\\* Background inserts below 95 % of the target"), "{text}");
    assert!(text.contains("whole passes"), "{text}");
}

#[test]
fn a_build_without_a_number_leaves_a_hole() {
    let mut made = insert_findings(InsertSize::TWO);
    let cell = &mut made.tests[3].cells[TROUBLED];
    (cell.rounds, cell.throughput, cell.comparison) = (0, None, None);
    assert!(file(&made, "tables/insert.rel.c1.tsv").contains("\tNA\t"));
    assert_eq!(file(&made, "tables/mrg.l.i2.c1").lines().count(), 2);
    assert!(!html(&made).expect("renders").contains("NaN"));
    let base = &mut made.tests[3].cells[0];
    (base.rounds, base.throughput, base.columns) = (0, None, None);
    assert_eq!(file(&made, "tables/rel.l.i2.c1").lines().count(), 1);
    terminal(&made, 80, false);
}
