//! The three tables in which the Insert Benchmark is published: throughput, relative throughput, background insert
//! rate.
//!
//! Rows are treatments, columns are steps in their order. In: the tests of one number of clients. Out: [`Sheet`]s whose
//! entries know their mark, for text, terminal and page; and their text forms. The marks are those of the published
//! tables; they are no verdicts, which need rounds.

use crate::grid::{Cell, Grid};
use crate::order::{self, Level};
use crate::rounds::MISSED;
use crate::{number, text};
use rqps_analysis::findings::{CellFindings, Findings, TestFindings};
use rqps_model::Verdict;

/// Which of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows or queries per second.
    Absolute,
    /// The same relative to the base.
    Relative,
    /// Rows inserted per second behind the queries.
    Background,
}

impl Kind {
    /// In published order.
    pub(crate) const ALL: [Kind; 3] = [Kind::Absolute, Kind::Relative, Kind::Background];

    /// Part of the file name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Kind::Absolute => "abs",
            Kind::Relative => "rel",
            Kind::Background => "background",
        }
    }

    /// Heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Kind::Absolute => "Throughput: rows/s in l.*, queries/s in q*",
            Kind::Relative => "Relative to the base",
            Kind::Background => "Background inserts, rows/s",
        }
    }
}

/// What a colour would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    /// Nothing.
    Plain,
    /// In the best quarter of the column's range.
    High,
    /// In the worst quarter of it, where the range is worth a word.
    Low,
    /// Above 1.05.
    Above,
    /// Below 0.95.
    Below,
    /// Measured alongside too few writes, or itself too few.
    Missed,
}

impl Tint {
    /// The sign that says the same in text.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Tint::Plain | Tint::High | Tint::Low => "",
            Tint::Above => "↑",
            Tint::Below => "↓",
            Tint::Missed => MISSED,
        }
    }

    /// What it says in a table.
    pub(crate) const fn meaning(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Tint::Plain, _) => "",
            (Tint::High, _) => "in the best quarter of the column’s range",
            (Tint::Low, _) => "in the worst quarter of the column’s range",
            (Tint::Above, _) => "above 1.05 in whole percent; no verdict",
            (Tint::Below, _) => "below 0.95 in whole percent; no verdict",
            (Tint::Missed, Kind::Absolute) => "background inserts below 95 % of the target: does not compare",
            (Tint::Missed, Kind::Relative) => {
                "on either side background inserts below 95 % of the target: does not compare"
            }
            (Tint::Missed, Kind::Background) => "below 95 % of the target in at least one round",
        }
    }
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// As text without sign; `NA` where there is none.
    pub(crate) number: String,
    /// Its mark.
    pub(crate) tint: Tint,
}

impl Entry {
    fn absent() -> Self {
        Entry { number: ABSENT.to_owned(), tint: Tint::Plain }
    }

    /// Number and sign, coloured as the verdict that the sign resembles.
    pub(crate) fn cell(&self) -> Cell {
        match self.tint {
            Tint::Above => Cell::painted(self.signed(), Verdict::Improved),
            Tint::Below => Cell::painted(self.signed(), Verdict::Regressed),
            Tint::Missed => Cell::painted(self.signed(), Verdict::Undecided),
            Tint::Plain | Tint::High | Tint::Low => Cell::plain(self.signed()),
        }
    }

    /// Number and sign; a number without sign leaves its place free, so that digits line up.
    pub(crate) fn signed(&self) -> String {
        let sign = self.tint.sign();
        format!("{}{}", self.number, if sign.is_empty() { " " } else { sign })
    }
}

/// A treatment's entries, or those of the target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The treatment; `None` for the target.
    pub(crate) treatment: Option<usize>,
    /// One for each step.
    pub(crate) entries: Vec<Entry>,
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sheet {
    /// Which.
    pub(crate) kind: Kind,
    /// Names of the steps, and their places in `Findings::tests`.
    pub(crate) steps: Vec<(usize, String)>,
    /// Base first, then the others in plan order; the target last.
    pub(crate) rows: Vec<Row>,
}

/// Stands where a cell has no number.
const ABSENT: &str = "NA";

/// The tables of a level; the third only where a step has a rate.
pub(crate) fn sheets(findings: &Findings, level: &Level<'_>) -> Vec<Sheet> {
    let all = Kind::ALL.into_iter().map(|kind| sheet(findings, level, kind));
    all.filter(|sheet| !sheet.steps.is_empty()).collect()
}

fn sheet(findings: &Findings, level: &Level<'_>, kind: Kind) -> Sheet {
    let has_rate = |test: &TestFindings| test.cells.iter().any(|cell| cell.sla.is_some());
    let tests: Vec<(usize, &TestFindings)> = level
        .blocks
        .iter()
        .flat_map(|block| block.tests.iter().copied())
        .filter(|(_, test)| kind != Kind::Background || has_rate(test))
        .collect();
    let order: Vec<usize> = order::base_first(findings).into_iter().collect();
    let columns: Vec<Vec<Entry>> = tests.iter().map(|(_, test)| column(findings, test, &order, kind)).collect();
    let of = |at: usize| columns.iter().map(|column| column[at].clone()).collect();
    let mut rows: Vec<Row> =
        order.iter().enumerate().map(|(at, index)| Row { treatment: Some(*index), entries: of(at) }).collect();
    if kind == Kind::Background {
        rows.push(Row { treatment: None, entries: tests.iter().map(|(_, test)| target(test)).collect() });
    }
    Sheet { kind, steps: tests.iter().map(|(at, test)| (*at, text::plain(&test.name))).collect(), rows }
}

fn target(test: &TestFindings) -> Entry {
    let target = test.cells.iter().find_map(|cell| Some(cell.sla?.target_per_s));
    Entry { number: target.map_or_else(|| ABSENT.to_owned(), number::throughput), tint: Tint::Plain }
}

fn column(findings: &Findings, test: &TestFindings, order: &[usize], kind: Kind) -> Vec<Entry> {
    let cells: Vec<&CellFindings> = order.iter().map(|index| &test.cells[*index]).collect();
    match kind {
        Kind::Absolute => absolute(&cells),
        Kind::Relative => {
            let base = &test.cells[findings.base];
            cells.iter().enumerate().map(|(at, cell)| relative(cell, base, at == 0)).collect()
        }
        Kind::Background => cells.iter().map(|cell| background(cell)).collect(),
    }
}

/// Marks by quarters of the range, not of the count, as published; numbers that don't compare take no part.
fn absolute(cells: &[&CellFindings]) -> Vec<Entry> {
    let counted = || cells.iter().filter(|cell| !cell.is_sla_missed()).filter_map(|cell| cell.throughput);
    let (low, high) = counted().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    let tint = |value: f64| match () {
        () if high <= low => Tint::Plain,
        () if value >= high - 0.25 * (high - low) => Tint::High,
        () if value <= low + 0.25 * (high - low) && low < 0.8 * high => Tint::Low,
        () => Tint::Plain,
    };
    let entry = |cell: &&CellFindings| match cell.throughput {
        Some(value) if cell.is_sla_missed() => Entry { number: number::throughput(value), tint: Tint::Missed },
        Some(value) => Entry { number: number::throughput(value), tint: tint(value) },
        None => Entry::absent(),
    };
    cells.iter().map(entry).collect()
}

fn relative(cell: &CellFindings, base: &CellFindings, is_base: bool) -> Entry {
    let ratio = match (is_base, &cell.comparison) {
        (true, _) => cell.throughput.map(|_| 1.0),
        (false, comparison) => comparison.as_ref().map(|c| c.rqps),
    };
    let Some(ratio) = ratio else { return Entry::absent() };
    let tint = if cell.is_sla_missed() || base.is_sla_missed() { Tint::Missed } else { change(ratio) };
    Entry { number: number::published_ratio(ratio), tint }
}

/// By whole percent, so that 0.954 is not below 0.95.
fn change(ratio: f64) -> Tint {
    match (ratio * 100.0).round() {
        percent if percent < 95.0 => Tint::Below,
        percent if percent > 105.0 => Tint::Above,
        _ => Tint::Plain,
    }
}

fn background(cell: &CellFindings) -> Entry {
    let Some(sla) = cell.sla else { return Entry::absent() };
    let tint = if sla.is_held() { Tint::Plain } else { Tint::Missed };
    Entry { number: number::throughput(sla.reached_per_s), tint }
}

impl Sheet {
    /// Rows of treatments and columns of steps that line up; signs have a place of their own behind the digits.
    pub(crate) fn grid(&self, corner: &str, name: impl Fn(&Row) -> String) -> Grid {
        let heads = self.steps.iter().map(|(_, step)| format!("{step} "));
        let mut grid = Grid::headed(std::iter::once(corner.to_owned()).chain(heads));
        for row in &self.rows {
            grid.row(std::iter::once(Cell::plain(name(row))).chain(row.entries.iter().map(Entry::cell)));
        }
        grid
    }

    /// Whether any entry has this mark.
    pub(crate) fn has(&self, tint: Tint) -> bool {
        self.rows.iter().flat_map(|row| &row.entries).any(|entry| entry.tint == tint)
    }

    /// What its signs mean; empty where it has none.
    pub(crate) fn legend(&self) -> String {
        let signs = [Tint::Below, Tint::Above, Tint::Missed].into_iter().filter(|tint| self.has(*tint));
        signs.map(|tint| format!("{} {}", tint.sign(), tint.meaning(self.kind))).collect::<Vec<_>>().join("\n")
    }
}

/// Numbers alone, for programs; the last column names the steps whose numbers carry [`MISSED`] in the other form.
pub(crate) fn tsv(findings: &Findings, sheet: &Sheet) -> String {
    let steps: Vec<&str> = sheet.steps.iter().map(|(_, name)| name.as_str()).collect();
    let mut out = format!("dbms\t{}\tsla_missed\n", steps.join("\t"));
    for row in &sheet.rows {
        let numbers: Vec<&str> = row.entries.iter().map(|entry| entry.number.as_str()).collect();
        let missed = row.entries.iter().zip(&steps).filter(|(entry, _)| entry.tint == Tint::Missed);
        let missed: Vec<&str> = missed.map(|(_, step)| *step).collect();
        let missed = if missed.is_empty() { "-".to_owned() } else { missed.join(",") };
        out.push_str(&format!("{}\t{}\t{missed}\n", name(findings, row), numbers.join("\t")));
    }
    out
}

/// Columns that line up, signs, and below them what the signs mean.
pub(crate) fn txt(findings: &Findings, sheet: &Sheet) -> String {
    let title = match sheet.kind {
        Kind::Relative => format!("Relative to: {}", text::plain(&findings.treatments[findings.base].name)),
        kind => kind.title().to_owned(),
    };
    let rows = sheet.grid("dbms", |row| name(findings, row)).render(usize::MAX / 2, false);
    let legend = sheet.legend();
    format!("{title}\n{rows}{legend}{}", if legend.is_empty() { "" } else { "\n" })
}

fn name(findings: &Findings, row: &Row) -> String {
    row.treatment.map_or_else(|| "target".to_owned(), |index| text::plain(&findings.treatments[index].name))
}

#[cfg(test)]
mod tests {
    use super::{Tint, change};

    #[test]
    fn a_change_is_told_in_whole_percent() {
        for (ratio, expected) in [
            (0.944, Tint::Below),
            (0.946, Tint::Plain),
            (0.954, Tint::Plain),
            (1.0, Tint::Plain),
            (1.054, Tint::Plain),
            (1.056, Tint::Above),
        ] {
            assert_eq!(change(ratio), expected, "{ratio}");
        }
    }
}
