//! Columns of text that line up: widths from the content, padding before colour, lines across between rows.
//!
//! In: cells, row by row. Out: text for a terminal or a file. The first column stands left, the others right, but for a
//! last one of words.

use crate::{text, verdict_style};
use rqps_model::Verdict;

/// One cell, coloured by a verdict where it has one.
pub(crate) struct Cell {
    text: String,
    verdict: Option<Verdict>,
}

impl Cell {
    /// Without colour.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Cell { text: text.into(), verdict: None }
    }

    /// In the colour of a verdict.
    pub(crate) fn painted(text: impl Into<String>, verdict: Verdict) -> Self {
        Cell { text: text.into(), verdict: Some(verdict) }
    }

    /// Columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        text::width(&self.text)
    }
}

enum Row {
    Cells(Vec<Cell>),
    Line(String),
}

/// Rows whose columns line up.
pub(crate) struct Grid {
    columns: usize,
    /// Whether the last column holds words, which stand left.
    ends_in_words: bool,
    rows: Vec<Row>,
}

/// Spaces between columns; one where two do not fit.
const GAP: usize = 2;

/// The first column is never narrower.
pub(crate) const NARROWEST: usize = 12;

impl Grid {
    /// With the heads of the columns as its first row.
    pub(crate) fn headed<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Self {
        let heads: Vec<Cell> = heads.into_iter().map(Cell::plain).collect();
        Grid { columns: heads.len(), ends_in_words: false, rows: vec![Row::Cells(heads)] }
    }

    /// Without columns: lines alone.
    pub(crate) fn lines() -> Self {
        Grid { columns: 1, ends_in_words: false, rows: Vec::new() }
    }

    /// The last column holds words.
    pub(crate) fn ending_in_words(self) -> Self {
        Grid { ends_in_words: true, ..self }
    }

    /// Adds a row of as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns, "a row has a cell for each column");
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line that goes across.
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.rows.push(Row::Line(line.into()));
    }

    /// What the rows of cells would take with room enough.
    pub(crate) fn width(&self) -> usize {
        let mut widths = self.widths();
        widths[0] = widths[0].max(NARROWEST);
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns];
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                cells.iter().zip(&mut widths).for_each(|(cell, width)| *width = cell.width().max(*width));
            }
        }
        widths
    }

    /// The rows as text; the first column gives way where the width does not suffice.
    pub(crate) fn render(&self, width: usize, colour: bool) -> String {
        let mut widths = self.widths();
        let rest: usize = widths.iter().skip(1).sum();
        let gaps = widths.len().saturating_sub(1);
        let gap = if widths[0] + rest + GAP * gaps <= width { GAP } else { 1 };
        widths[0] = widths[0].min(width.saturating_sub(rest + gap * gaps)).max(NARROWEST);
        let mut out = String::new();
        for row in &self.rows {
            match row {
                Row::Cells(cells) => out.push_str(self.cells(cells, &widths, gap, colour).trim_end()),
                Row::Line(line) => out.push_str(&text::wrap_indented(line, width)),
            }
            out.push('\n');
        }
        out
    }

    fn cells(&self, cells: &[Cell], widths: &[usize], gap: usize, colour: bool) -> String {
        let mut out = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let shown = text::fit(&cell.text, widths[at]);
            let padding = " ".repeat(widths[at] - text::width(&shown));
            let shown = cell.verdict.map_or_else(|| shown.clone(), |verdict| paint(&shown, verdict, colour));
            if at > 0 {
                out.push_str(&" ".repeat(gap));
            }
            let is_left = at == 0 || self.ends_in_words && at + 1 == self.columns;
            out.extend(if is_left { [shown, padding] } else { [padding, shown] });
        }
        out
    }
}

/// The text in a verdict's colour, or as it is.
pub(crate) fn paint(text: &str, verdict: Verdict, colour: bool) -> String {
    match verdict_style::sgr(verdict) {
        Some(sgr) if colour => format!("\u{1b}[{sgr}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}
