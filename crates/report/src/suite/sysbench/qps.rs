//! Throughput tables laid out as the published ones: raw `.tsv` and `.csv`, and the grouped `.txt` made for readers.
//!
//! Raw tables name treatments `x.<name>.pk1` and tests by their raw labels, sorted as file names in the groups point,
//! range, write. Grouped ones use published names and order. The first column is the base; what is absent is `NA`.

use crate::number;
use crate::order::Level;
use crate::text;
use rqps_analysis::findings::{Findings, TestFindings};
use rqps_model::Group;

/// What the cells of a table hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Throughput.
    Absolute,
    /// Throughput relative to the base, base left out.
    Relative,
}

impl Kind {
    /// Part of the file name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Kind::Absolute => "abs",
            Kind::Relative => "rel",
        }
    }
}

/// Stands where a cell has no number.
const ABSENT: &str = "NA";

/// Raw table with a column legend, numbers first and the label last.
pub(crate) fn tsv(findings: &Findings, level: &Level<'_>, kind: Kind) -> String {
    let mut out = legend(findings, kind, |name| format!("x.{name}.pk1"));
    out.push('\n');
    out.push_str(&heads(findings, kind));
    for test in raw_order(level) {
        let numbers = numbers(findings, test, kind).join("\t");
        out.push_str(&format!("{numbers}\t{}\n", text::plain(&test.label)));
    }
    out
}

/// Raw table without heading, label first.
pub(crate) fn csv(findings: &Findings, level: &Level<'_>, kind: Kind) -> String {
    let line = |test: &TestFindings| format!("{},{}\n", quoted(&test.label), numbers(findings, test, kind).join(","));
    raw_order(level).into_iter().map(line).collect()
}

/// Grouped table with published names.
pub(crate) fn grouped(findings: &Findings, level: &Level<'_>, kind: Kind) -> String {
    let mut out = legend(findings, kind, str::to_owned);
    for block in &level.blocks {
        out.push_str(&format!("\n- {}\n{}", block.title.to_lowercase(), heads(findings, kind)));
        for (_, test) in &block.tests {
            let numbers = numbers(findings, test, kind).join("\t");
            out.push_str(&format!("{numbers}\t{}\n", text::plain(&test.name)));
        }
    }
    out
}

/// Base first, then the others in plan order.
pub(crate) fn columns(findings: &Findings, kind: Kind) -> Vec<usize> {
    match kind {
        Kind::Absolute => crate::order::base_first(findings),
        Kind::Relative => crate::order::others(findings),
    }
}

fn legend(findings: &Findings, kind: Kind, name: impl Fn(&str) -> String) -> String {
    let title = |index: usize| text::plain(&name(&findings.treatments[index].name));
    let mut out = String::new();
    if kind == Kind::Relative {
        out.push_str(&format!("Relative to: {}\n", title(findings.base)));
    }
    for (at, index) in columns(findings, kind).into_iter().enumerate() {
        out.push_str(&format!("col-{} : {}\n", at + 1, title(index)));
    }
    out
}

fn heads(findings: &Findings, kind: Kind) -> String {
    let count = columns(findings, kind).len();
    let heads: Vec<String> = (1..=count).map(|n| format!("col-{n}")).collect();
    heads.join("\t") + "\n"
}

fn numbers(findings: &Findings, test: &TestFindings, kind: Kind) -> Vec<String> {
    let number = |index: usize| {
        let cell = &test.cells[index];
        match kind {
            Kind::Absolute => cell.throughput.map(number::throughput),
            Kind::Relative => cell.comparison.as_ref().map(|c| number::published_ratio(c.rqps)),
        }
        .unwrap_or_else(|| ABSENT.to_owned())
    };
    columns(findings, kind).into_iter().map(number).collect()
}

/// Point, range with and without aggregation, write; inside them by the label's letters and digits alone, which is how
/// the published tables' file names sort.
fn raw_order<'a>(level: &Level<'a>) -> Vec<&'a TestFindings> {
    let rank = |group: Group| match group {
        Group::Point => 0,
        Group::Range | Group::RangeAgg => 1,
        Group::Write | Group::Transaction | Group::Own => 2,
    };
    let key = |label: &str| label.chars().filter(char::is_ascii_alphanumeric).collect::<String>() + "pk1";
    let mut tests: Vec<&TestFindings> =
        level.blocks.iter().flat_map(|b| b.tests.iter().map(|(_, test)| *test)).collect();
    tests.sort_by_cached_key(|test| (rank(test.group), key(&test.label)));
    tests
}

/// A field of a CSV line; quoted where it must be.
pub(crate) fn quoted(field: &str) -> String {
    let plain = text::plain(field);
    if plain.contains([',', '"']) { format!("\"{}\"", plain.replace('"', "\"\"")) } else { plain }
}
