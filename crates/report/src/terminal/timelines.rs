//! What the terminal shows beyond verdicts: the tables that a suite publishes, and what must be said of tests over
//! time.
//!
//! In: the tests of one number of clients. Out: tables as published where all steps fit side by side, else with steps
//! as rows and the legend's columns; then a line for each target that was missed, each stall and each failure.

use super::Page;
use super::grid::{self, Align, Cell, Grid};
use crate::order::{self, Level};
use crate::rounds;
use crate::suite::insert::sheet::{Entry, Sheet, Tint};
use crate::timeline_notes;
use crate::{footnote, text};
use rqps_model::Verdict;

/// Lines about steps; more are left to the report.
const NOTES: usize = 24;

impl Page<'_> {
    /// The three tables.
    pub(super) fn sheets(&self, out: &mut String, level: &Level<'_>) {
        for sheet in self.suite().sheets(self.findings, level) {
            out.push_str(&format!("{}\n", sheet.kind.title()));
            let published = self.published(&sheet);
            // Never narrowed: what does not fit is turned round.
            let fits = published.render(usize::MAX / 2, false).lines().all(|line| text::width(line) <= self.width);
            match fits {
                true => out.push_str(&published.render(self.width, self.colour)),
                false => self.transposed(out, &sheet),
            }
            for line in sheet.legend().lines() {
                self.wrapped(out, line, "", "  ");
            }
            out.push('\n');
        }
    }

    /// Rows are treatments, columns steps.
    fn published(&self, sheet: &Sheet) -> Grid {
        let names = order::short_names(self.findings);
        let mut aligns = vec![Align::Left];
        aligns.extend(sheet.steps.iter().map(|_| Align::Right));
        let mut grid = Grid::new(&aligns);
        let heads = sheet.steps.iter().map(|(_, step)| Cell::plain(&format!("{step} ")));
        grid.row(std::iter::once(Cell::plain("")).chain(heads).collect());
        for row in &sheet.rows {
            let name = row.treatment.map_or("target", |index| names[index].as_str());
            let cells = row.entries.iter().map(painted);
            grid.row(std::iter::once(Cell::plain(&format!("  {}", text::plain(name)))).chain(cells).collect());
        }
        grid
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
            let mut aligns = vec![Align::Left];
            aligns.extend(rows.iter().map(|_| Align::Right));
            let mut grid = Grid::new(&aligns);
            let heads = (0..rows.len()).map(|at| Cell::plain(&format!("{} ", head(block * each + at))));
            grid.row(std::iter::once(Cell::plain("")).chain(heads).collect());
            for (at, (_, step)) in sheet.steps.iter().enumerate() {
                let cells = rows.iter().map(|row| painted(&row.entries[at]));
                grid.row(std::iter::once(Cell::plain(&format!("  {step}"))).chain(cells).collect());
            }
            out.push_str(&grid.render(self.width, self.colour));
        }
    }

    /// Targets missed, stalls and failures, step by step.
    pub(super) fn timeline_notes(&self, out: &mut String, level: &Level<'_>) {
        let names = order::short_names(self.findings);
        let order: Vec<usize> = order::base_first(self.findings);
        let tests = level.blocks.iter().flat_map(|block| &block.tests);
        let told: Vec<String> = tests
            .flat_map(|(_, test)| order.iter().map(move |index| (test, *index)))
            .flat_map(|(test, index)| {
                let name = format!("{} {}", text::plain(&test.name), text::plain(&names[index]));
                let log = format!("treatments/{}/server.log", self.findings.treatments[index].name);
                let briefly = move |note: String| match footnote::shortened(&note) {
                    Some(short) => format!("{} The rest is in {log}.", footnote::ended(&short)),
                    None => note,
                };
                timeline_notes::notes(&test.cells[index])
                    .into_iter()
                    .map(briefly)
                    .map(move |note| format!("{name}: {}", text::plain(&note)))
            })
            .collect();
        for note in told.iter().take(NOTES) {
            self.wrapped(out, note, "", "  ");
        }
        if told.len() > NOTES {
            out.push_str(&format!("… and {} more in the report\n", told.len() - NOTES));
        }
        if told.iter().any(|note| note.contains("stall")) {
            self.wrapped(out, rounds::STALL, "", "");
        }
        if !told.is_empty() {
            out.push('\n');
        }
    }
}

fn painted(entry: &Entry) -> Cell {
    let verdict = match entry.tint {
        Tint::Above => Verdict::Improved,
        Tint::Below => Verdict::Regressed,
        Tint::Missed => Verdict::Undecided,
        Tint::Plain | Tint::High | Tint::Low => return Cell::plain(&entry.signed()),
    };
    Cell::painted(&entry.signed(), verdict)
}
