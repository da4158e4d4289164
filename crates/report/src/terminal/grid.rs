//! Columns of text that line up: widths from the content, padding before colour, lines across between rows.

use crate::{text, verdict_style};
use rqps_model::Verdict;

/// On which side a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// One cell, coloured by a verdict where it has one.
pub(super) struct Cell {
    text: String,
    verdict: Option<Verdict>,
}

impl Cell {
    /// Without colour.
    pub(super) fn plain(text: &str) -> Self {
        Cell { text: text.to_owned(), verdict: None }
    }

    /// In the colour of a verdict.
    pub(super) fn painted(text: &str, verdict: Verdict) -> Self {
        Cell { text: text.to_owned(), verdict: Some(verdict) }
    }

    /// Characters.
    pub(super) fn width(&self) -> usize {
        text::width(&self.text)
    }
}

enum Row {
    Cells(Vec<Cell>),
    Line(String),
}

/// Rows whose columns line up.
pub(super) struct Grid {
    aligns: Vec<Align>,
    rows: Vec<Row>,
}

/// Spaces between columns; one where two do not fit.
const GAP: usize = 2;

/// The first column is never narrower.
pub(super) const NARROWEST: usize = 12;

impl Grid {
    /// Without rows.
    pub(super) fn new(aligns: &[Align]) -> Self {
        Grid { aligns: aligns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.aligns.len(), "a row has a cell for each column");
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line that goes across.
    pub(super) fn line(&mut self, line: String) {
        self.rows.push(Row::Line(line));
    }

    /// What the rows of cells would take with room enough.
    pub(super) fn width(&self) -> usize {
        let mut widths = self.widths();
        widths[0] = widths[0].max(NARROWEST);
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.aligns.len()];
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                cells.iter().zip(&mut widths).for_each(|(cell, width)| *width = cell.width().max(*width));
            }
        }
        widths
    }

    /// The rows as text; the first column gives way where the width does not suffice.
    pub(super) fn render(&self, width: usize, colour: bool) -> String {
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
            match self.aligns[at] {
                Align::Left => out.extend([shown, padding]),
                Align::Right => out.extend([padding, shown]),
            }
        }
        out
    }
}

/// The text in a verdict's colour, or as it is.
pub(super) fn paint(text: &str, verdict: Verdict, colour: bool) -> String {
    match verdict_style::sgr(verdict) {
        Some(sgr) if colour => format!("\u{1b}[{sgr}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}
