//! TPROC-C's part of a report: its tables with rows as published, transactions by type, and HammerDB's result line.
//!
//! In: findings of that suite. Out: files and phrases; `suite` decides when they are shown. Every table says by whose
//! rules its numbers came about.

use crate::order::{self, Level};
use crate::{number, text};
use rqps_analysis::findings::{CellFindings, Findings, TestFindings, TransactionFindings};
use rqps_model::plural;
use rqps_model::tproc_c::{BrokenCondition, TprocC};

/// Said once.
pub(super) const LEGEND: &str = "NOPM: new orders committed a minute. The workload is derived from TPC-C; its results are \
                                 not comparable with published TPC-C results";

/// Stands where a cell has no number.
const ABSENT: &str = "NA";

/// A row as published: `vu=4, w=2`.
pub(super) fn row(test: &TestFindings) -> String {
    format!("vu={}, {}", test.clients, test.name)
}

/// By whose rules, in a few words.
pub(super) fn work(shape: &TprocC) -> String {
    format!("rules of {}", rules(shape))
}

fn rules(shape: &TprocC) -> String {
    let pauses = if shape.keying_and_thinking { ", keying and thinking" } else { "" };
    let homes = if shape.all_warehouses { ", all warehouses" } else { "" };
    format!("{}{homes}{pauses}", shape.rules())
}

/// Facts of the front page.
pub(super) fn facts(shape: &TprocC) -> Vec<(&'static str, String)> {
    let partitioned = if shape.partitioned { ", order_line partitioned from 200 on" } else { "" };
    vec![
        ("Data", format!("{}{partitioned}", shape.warehouses_in_words())),
        ("Rules", rules(shape)),
        ("HammerDB's quirks", shape.quirks_in_words()),
        ("Isolation", shape.isolation.to_string()),
        ("Measure", LEGEND.to_owned()),
    ]
}

/// The files of all levels, with the first of them; rows of all levels stand in one table, as published.
pub(super) fn files(findings: &Findings, shape: &TprocC, level: &Level<'_>) -> Vec<(String, String)> {
    if findings.tests.first().is_none_or(|test| test.clients != level.clients) {
        return Vec::new();
    }
    vec![
        ("tables/nopm.abs.tsv".to_owned(), absolute(findings, shape)),
        ("tables/nopm.rel.tsv".to_owned(), relative(findings, shape)),
        ("tables/transactions.tsv".to_owned(), types(findings)),
        ("tables/hammerdb.txt".to_owned(), all_lines(findings)),
    ]
}

fn title(findings: &Findings, index: usize) -> String {
    text::plain(&findings.treatments[index].name)
}

fn table(
    findings: &Findings,
    shape: &TprocC,
    columns: &[usize],
    number: impl Fn(&CellFindings) -> Option<String>,
) -> String {
    let mut out = format!("NOPM, rules of {}\n", shape.rules());
    for (at, index) in columns.iter().enumerate() {
        out.push_str(&format!("col-{} : {}\n", at + 1, title(findings, *index)));
    }
    let heads: Vec<String> = (1..=columns.len()).map(|at| format!("col-{at}")).collect();
    out.push_str(&format!("\n{}\n", heads.join("\t")));
    for test in by_data(findings) {
        let cell = |index: &usize| number(&test.cells[*index]).unwrap_or_else(|| ABSENT.to_owned());
        let cells: Vec<String> = columns.iter().map(cell).collect();
        out.push_str(&format!("{}\t{}\n", cells.join("\t"), row(test)));
    }
    out
}

/// Rows by warehouses, then by virtual users: in the order of the plan's tests.
fn by_data(findings: &Findings) -> Vec<&TestFindings> {
    let named = order::grouped(findings.tests.iter().map(|test| (test.name.as_str(), test)));
    named.into_iter().flat_map(|(_, tests)| tests).collect()
}

fn absolute(findings: &Findings, shape: &TprocC) -> String {
    table(findings, shape, &order::base_first(findings), |cell| cell.throughput.map(number::throughput))
}

fn relative(findings: &Findings, shape: &TprocC) -> String {
    let ratio = |cell: &CellFindings| cell.comparison.as_ref().map(|found| number::published_ratio(found.rqps));
    let rows = table(findings, shape, &order::others(findings), ratio);
    format!("Relative to: {}\n{rows}", title(findings, findings.base))
}

/// Transactions of each type: how many, how they ended, and their response times.
fn types(findings: &Findings) -> String {
    let mut out = "row\ttreatment\ttype\tsucceeded\tfailed\tretried\tp50_ms\tp95_ms\tp99_ms\tp99.9_ms\n".to_owned();
    for test in by_data(findings) {
        for index in order::base_first(findings) {
            let cell = &test.cells[index];
            for one in cell.transactions.iter().flat_map(|found| &found.types) {
                let latency = cell.latency.iter().find(|latency| latency.kind == one.name);
                let [p50, _, p95, p99, p999, _] = latency.map_or([f64::NAN; 6], |latency| latency.quantiles_us);
                let times = [p50, p95, p99, p999].map(|us| match us.is_nan() {
                    true => ABSENT.to_owned(),
                    false => format!("{:.3}", us / 1e3),
                });
                let counts = [one.accounting.succeeded, one.accounting.failed, one.accounting.retried];
                let counts = counts.map(|count| count.to_string()).join("\t");
                let (row, name) = (row(test), title(findings, index));
                out.push_str(&format!("{row}\t{name}\t{}\t{counts}\t{}\n", one.name, times.join("\t")));
            }
        }
    }
    out
}

/// The result line that HammerDB's users parse, of each build at this level.
pub(super) fn lines(findings: &Findings, level: &Level<'_>) -> Vec<String> {
    let tests = level.blocks.iter().flat_map(|block| &block.tests);
    let of_test = |(_, test): &(usize, &TestFindings)| {
        order::base_first(findings)
            .into_iter()
            .flat_map(|index| result_lines(findings, test, index))
            .collect::<Vec<_>>()
    };
    tests.flat_map(of_test).collect()
}

fn result_lines(findings: &Findings, test: &TestFindings, index: usize) -> Vec<String> {
    let cell = &test.cells[index];
    let Some((nopm, found)) = cell.throughput.zip(cell.transactions.as_ref()) else { return Vec::new() };
    let build = &findings.treatments[index].build;
    let TransactionFindings { tpm, .. } = found;
    vec![
        format!(
            "{}: {} Active Virtual Users configured, {}, DBVersion:{}",
            title(findings, index),
            test.clients,
            test.name,
            build.version
        ),
        format!("TEST RESULT : System achieved {nopm:.0} NOPM from {tpm:.0} {} TPM", build.engine.title()),
    ]
}

fn all_lines(findings: &Findings) -> String {
    let levels = order::levels(findings);
    let lines = levels.iter().flat_map(|level| lines(findings, level));
    lines.map(|line| line + "\n").collect()
}

/// Whether the tables were consistent after the runs of a level, a sentence for what they have in common.
pub(super) fn consistency(findings: &Findings, level: &Level<'_>) -> Vec<String> {
    let names = order::short_names(findings);
    let of_test = |(_, test): &(usize, &TestFindings)| {
        let of_cell = |index: usize| {
            let found = test.cells[index].transactions.as_ref().filter(|found| found.rounds_checked > 0)?;
            Some((told(found), (row(test), text::plain(&names[index]))))
        };
        order::base_first(findings).into_iter().filter_map(of_cell).collect::<Vec<_>>()
    };
    let tests = level.blocks.iter().flat_map(|block| &block.tests);
    let sentence = |(told, places): (String, Vec<(String, String)>)| {
        let of_rows = order::grouped(places).into_iter().map(|(row, builds)| format!("{row} ({})", builds.join(", ")));
        format!("consistency of {}: {told}", of_rows.collect::<Vec<_>>().join(", "))
    };
    order::grouped(tests.flat_map(of_test)).into_iter().map(sentence).collect()
}

fn told(found: &TransactionFindings) -> String {
    let told = |one: &BrokenCondition| {
        let why = if one.must_hold { "must hold" } else { "as these rules have it" };
        format!("{} is broken in {} ({why})", one.condition, plural(one.rows, "row"))
    };
    match &found.broken[..] {
        [] => "all conditions hold".to_owned(),
        broken => broken.iter().map(told).collect::<Vec<_>>().join(", "),
    }
}
