//! The Insert Benchmark's text files, laid out as the published ones.
//!
//! `insert.{abs,rel,background}.c<N>.{tsv,txt}`: the three tables. For each step `mrg.<step>.c<N>`, one line of 21
//! columns a treatment; `rel.<step>.c<N>`, the same relative to the base; `mrg.<step>.rt.{insert,query,delete}.c<N>`,
//! percent of statements by response time.

use super::column::{self, Column};
use super::sheet;
use crate::order::{self, Level};
use crate::text;
use rqps_analysis::findings::{CellFindings, Findings, InsertColumns, TestFindings};
use rqps_model::insert::Buckets;

/// All files of one number of clients: path and content.
pub(crate) fn files(findings: &Findings, level: &Level<'_>) -> Vec<(String, String)> {
    let tag = format!("c{}", level.clients);
    let mut files = Vec::new();
    for sheet in sheet::sheets(findings, level) {
        let stem = format!("tables/insert.{}.{tag}", sheet.kind.word());
        files.push((format!("{stem}.tsv"), sheet::tsv(findings, &sheet)));
        files.push((format!("{stem}.txt"), sheet::txt(findings, &sheet)));
    }
    for (_, test) in level.blocks.iter().flat_map(|block| &block.tests) {
        let step = file_name(&test.name);
        files.push((format!("tables/mrg.{step}.{tag}"), merged(findings, test)));
        files.push((format!("tables/rel.{step}.{tag}"), relative(findings, test)));
        for kind in KINDS {
            if let Some(table) = response_times(findings, test, kind) {
                files.push((format!("tables/mrg.{step}.rt.{kind}.{tag}"), table));
            }
        }
    }
    files
}

/// Kinds of statements that have a table of response times.
const KINDS: [&str; 3] = ["insert", "query", "delete"];

/// A step's name as part of a file's: it came from a file and must not lead anywhere else.
fn file_name(step: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    step.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn head() -> String {
    let names: Vec<&str> = column::ALL.iter().map(|column| column.name).chain([column::TAG]).collect();
    names.join("\t") + "\n"
}

/// Steps in column order, base first; those that never ran are left out.
fn measured<'a>(
    findings: &'a Findings,
    test: &'a TestFindings,
) -> impl Iterator<Item = (usize, String, &'a InsertColumns, &'a CellFindings)> {
    let order = order::base_first(findings).into_iter();
    order.filter_map(|index| {
        let cell = Some(&test.cells[index]).filter(|cell| cell.throughput.is_some())?;
        Some((index, text::plain(&findings.treatments[index].name), cell.columns.as_ref()?, cell))
    })
}

fn merged(findings: &Findings, test: &TestFindings) -> String {
    let line = |(_, name, columns, _): (usize, String, &InsertColumns, &CellFindings)| {
        let values: Vec<String> = column::ALL.iter().map(|column| column.published(columns)).collect();
        format!("{}\t{name}\n", values.join("\t"))
    };
    head() + &measured(findings, test).map(line).collect::<String>()
}

fn relative(findings: &Findings, test: &TestFindings) -> String {
    let base = measured(findings, test).find(|(index, ..)| *index == findings.base).map(|(_, _, columns, _)| columns);
    let line = |(_, name, columns, _): (usize, String, &InsertColumns, &CellFindings)| {
        let ratio = |column: &Column| base.map(|base| column.relative(columns, base));
        let values: Vec<String> = column::ALL.iter().filter_map(ratio).collect();
        format!("{}\t{name}\n", values.join("\t"))
    };
    let others = measured(findings, test).filter(|(index, ..)| base.is_some() && *index != findings.base);
    head() + &others.map(line).collect::<String>()
}

/// Percent of the statements in each bucket, and the longest in seconds; `None` where no treatment has such statements.
fn response_times(findings: &Findings, test: &TestFindings, kind: &str) -> Option<String> {
    let lines: String = measured(findings, test)
        .filter_map(|(_, name, _, cell)| {
            let found = cell.responses.iter().find(|found| found.kind == kind)?;
            Some(format!("{}\t{name}\n", shares(&found.response)))
        })
        .collect();
    let head = Buckets::NAMES.join("\t");
    (!lines.is_empty()).then(|| format!("{head}\tmax\ttag\n{lines}"))
}

fn shares(buckets: &Buckets) -> String {
    let total = buckets.total().max(1) as f64;
    let share = |count: &u64| match format!("{:.3}", *count as f64 / total * 100.0) {
        rounded if *count > 0 && rounded == "0.000" => "nonzero".to_owned(),
        rounded => rounded,
    };
    let shares: Vec<String> = buckets.counts.iter().map(share).collect();
    format!("{}\t{:.6}", shares.join("\t"), buckets.longest_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_tell_the_rare_from_the_absent() {
        let mut buckets = Buckets { longest_ns: 4_000_000_000, ..Buckets::default() };
        buckets.counts[0] = 999_999;
        buckets.counts[7] = 1;
        let rest = "0.000\t0.000\t0.000\t0.000\t0.000\t0.000";
        assert_eq!(shares(&buckets), format!("100.000\t{rest}\tnonzero\t0.000\t0.000\t4.000000"));
        assert!(shares(&Buckets::default()).starts_with("0.000\t"));
    }

    #[test]
    fn a_name_stays_in_its_folder() {
        assert_eq!(file_name("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(file_name("qr100.L1"), "qr100.L1");
    }
}
