//! What the terminal shows beyond verdicts: the tables that a suite publishes, and what must be said of tests over
//! time.
//!
//! In: the tests of one number of clients. Out: tables as published where all steps fit side by side, else with steps
//! as rows and the legend's columns; then a line for each target that was missed, each stall and each failure.

use super::Page;
use crate::grid::{self, Cell, Grid};
use crate::order::{self, Level};
use crate::rounds;
use crate::suite::insert::sheet::{Row, Sheet};
use crate::{footnote, suite, text};
use rqps_analysis::findings::TestFindings;

/// Lines about steps; more are left to the report.
const NOTES: usize = 24;

impl Page<'_> {
    /// The three tables.
    pub(super) fn sheets(&self, out: &mut String, level: &Level<'_>) {
        let names = order::short_names(self.findings);
        for sheet in suite::sheets(self.findings, level) {
            out.push_str(&format!("{}\n", sheet.kind.title()));
            let name = |row: &Row| row.treatment.map_or("target", |index| names[index].as_str());
            let published = sheet.grid("", |row| format!("  {}", text::plain(name(row))));
            // Never narrowed: what does not fit is turned round.
            match published.width() <= self.width {
                true => out.push_str(&published.render(self.width, self.colour)),
                false => self.transposed(out, &sheet),
            }
            for line in sheet.legend().lines() {
                self.wrapped(out, line, "", "  ");
            }
            out.push('\n');
        }
    }

    /// Rows are steps, columns treatments as in the legend; as many at a time as fit.
    fn transposed(&self, out: &mut String, sheet: &Sheet) {
        let head = |at: usize| match sheet.rows[at].treatment {
            None => "target".to_owned(),
            Some(_) if at == 0 => "base".to_owned(),
            Some(_) => format!("col-{at}"),
        };
        let name = sheet.steps.iter().map(|(_, step)| text::width(step) + 2).max().unwrap_or(0).max(grid::NARROWEST);
        let widest = sheet.rows.iter().flat_map(|row| &row.entries).map(|entry| text::width(&entry.signed()));
        let column = widest.max().unwrap_or(0).max(7) + 2;
        let fit = (self.width.saturating_sub(name) / column).max(1);
        let blocks = sheet.rows.len().div_ceil(fit).max(1);
        let each = sheet.rows.len().div_ceil(blocks).max(1);
        for (block, rows) in sheet.rows.chunks(each).enumerate() {
            let heads = (0..rows.len()).map(|at| format!("{} ", head(block * each + at)));
            let mut grid = Grid::headed(std::iter::once(String::new()).chain(heads));
            for (at, (_, step)) in sheet.steps.iter().enumerate() {
                let cells = rows.iter().map(|row| row.entries[at].cell());
                grid.row(std::iter::once(Cell::plain(format!("  {step}"))).chain(cells));
            }
            out.push_str(&grid.render(self.width, self.colour));
        }
    }

    /// Targets missed, stalls and failures, step by step.
    pub(super) fn timeline_notes(&self, out: &mut String, level: &Level<'_>) {
        let names = order::short_names(self.findings);
        let order: Vec<usize> = order::base_first(self.findings);
        let tests = level.blocks.iter().flat_map(|block| &block.tests);
        let cells = tests.flat_map(|(_, test)| order.iter().map(move |index| (*test, *index)));
        let notes = |(test, index): (&TestFindings, usize)| {
            let cell = &test.cells[index];
            let warnings = cell.warnings.iter().filter(|warning| footnote::is_of_timeline(cell, warning));
            let name = format!("{} {}", test.name, names[index]);
            let log = format!("treatments/{}/server.log", self.findings.treatments[index].name);
            let brief = warnings.map(|warning| match footnote::shortened(&warning.cause) {
                Some(short) => format!("{name}: {} The rest is in {log}.", footnote::ended(&short)),
                None => format!("{name}: {}", footnote::ended(&warning.cause)),
            });
            brief.map(|note| text::plain(&note)).collect::<Vec<_>>()
        };
        let notes: Vec<String> = cells.flat_map(notes).collect();
        for note in notes.iter().take(NOTES) {
            self.wrapped(out, note, "", "  ");
        }
        if notes.len() > NOTES {
            out.push_str(&format!("… and {} more in the report\n", notes.len() - NOTES));
        }
        if level.blocks.iter().flat_map(|block| &block.tests).any(|(_, test)| rounds::has_stall(test)) {
            self.wrapped(out, rounds::STALL, "", "");
        }
        if !notes.is_empty() {
            out.push('\n');
        }
    }
}
