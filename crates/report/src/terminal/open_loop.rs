//! The table of an open loop: throughput is the requested rate, so latency takes the place of interval and MDE.
//!
//! In: the tests of one number of clients. Out: rows with p50 and p99 of the base and of one build, or a block of
//! columns for each quantile where there are many builds.

use super::grid::{Align, Cell, Grid};
use super::{Page, WIDEST, none};
use crate::interval::Interval;
use crate::latency::{self, QUANTILES};
use crate::order::Level;
use crate::{number, verdict_style};
use rqps_analysis::findings::TestFindings;

impl Page<'_> {
    /// Rows of two builds, heads included.
    pub(super) fn rate_grid(&self) -> Grid {
        let base = format!("base {}", self.suite().unit());
        let mut heads = vec!["", &base, "rQPS  ", "base p50", "new p50", "base p99", "new p99"];
        if self.width >= WIDEST {
            heads.extend(["95 % interval", "verdict"]);
        }
        let mut aligns = vec![Align::Right; heads.len()];
        aligns[0] = Align::Left;
        if self.width >= WIDEST {
            aligns[heads.len() - 1] = Align::Left;
        }
        let mut grid = Grid::new(&aligns);
        grid.row(heads.into_iter().map(Cell::plain).collect());
        grid
    }

    /// One test of two builds.
    pub(super) fn rate_row(&self, test: &TestFindings, other: usize) -> Vec<Cell> {
        let (cell, base) = (&test.cells[other], &test.cells[self.findings.base]);
        let comparison = cell.comparison.as_ref();
        let mut row = vec![self.name(test), Cell::plain(&base.throughput.map_or_else(none, number::throughput))];
        row.push(match comparison {
            Some(c) => {
                Cell::painted(&format!("{} {}", number::ratio(c.rqps), verdict_style::glyph(c.verdict)), c.verdict)
            }
            None => Cell::plain(&format!("{}  ", none())),
        });
        for (_, quantile) in QUANTILES {
            row.extend([base, cell].map(|side| Cell::plain(&latency::shown(side, quantile))));
        }
        if self.width >= WIDEST {
            row.push(Cell::plain(&Interval::of(cell).text()));
            row.push(match comparison {
                Some(c) => Cell::painted(&format!("{} {}", verdict_style::glyph(c.verdict), c.verdict), c.verdict),
                None => Cell::plain(if cell.rounds == 0 { "no number" } else { "not compared" }),
            });
        }
        row
    }

    /// Blocks of columns for many builds, one for each quantile.
    pub(super) fn rate_columns(&self, out: &mut String, level: &Level<'_>, columns: &[usize], first: usize) {
        for (name, quantile) in QUANTILES {
            let mut aligns = vec![Align::Left];
            aligns.extend(vec![Align::Right; columns.len() + 1]);
            let mut grid = Grid::new(&aligns);
            let heads = (0..columns.len()).map(|at| Cell::plain(&format!("col-{}", first + at + 1)));
            grid.row(
                [Cell::plain(&format!("{name} of events")), Cell::plain("base")].into_iter().chain(heads).collect(),
            );
            for block in &level.blocks {
                grid.line(block.title.to_owned());
                for (_, test) in &block.tests {
                    let of = |index: &usize| Cell::plain(&latency::shown(&test.cells[*index], quantile));
                    let cells = std::iter::once(&self.findings.base).chain(columns).map(of);
                    grid.row(std::iter::once(self.name(test)).chain(cells).collect());
                }
            }
            grid.line(String::new());
            out.push_str(&grid.render(self.width, self.colour));
        }
    }
}
