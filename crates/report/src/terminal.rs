//! The comparison as text for a terminal: full rows for two builds, blocks of columns for many.
//!
//! In: findings, the width to fit, and whether colour may be used (the caller knows about NO_COLOR and terminals).
//! Out: text that ends in a line end. Whatever came from a server is stripped of control characters first.

mod notes;
mod timelines;

use crate::columns::{self, Column};
use crate::crossing;
use crate::footnote::{self, Footnote};
use crate::grid::{Cell, Grid};
use crate::interval::Interval;
use crate::latency::{self, QUANTILES};
use crate::order::{self, Level};
use crate::rounds;
use crate::suite;
use crate::{number, planted, text, verdict_style};
use rqps_analysis::findings::{Findings, TestFindings};
use rqps_model::{Verdict, plural};

/// Narrower than this the table is not folded further.
const NARROWEST: usize = 60;

/// From this width on a row shows the other build's throughput as well; below, where all rows have room for it.
const WIDE: usize = 90;

/// From this width on a verdict is followed by its remark, where all rows have room for it.
const WIDEST: usize = 116;

/// Rows listed per build under `What changed` when there are many builds.
const LISTED: usize = 10;

/// Renders the table for `width` columns.
pub fn terminal(findings: &Findings, width: usize, colour: bool) -> String {
    let mut page = Page {
        findings,
        width: width.max(NARROWEST),
        colour,
        notes: footnote::footnotes(findings, true),
        shows_new: true,
        shows_remarks: true,
    };
    page.shows_remarks = width >= WIDEST && page.has_room();
    page.shows_new = width >= WIDE || page.has_room();
    let mut out = String::new();
    page.alarms(&mut out);
    page.legend(&mut out);
    for level in order::levels(findings) {
        page.level(&mut out, &level);
    }
    page.tail(&mut out);
    for index in order::others(findings) {
        page.summary(&mut out, index);
    }
    out
}

struct Page<'a> {
    findings: &'a Findings,
    width: usize,
    colour: bool,
    notes: Vec<Footnote>,
    /// Whether rows of one build show its throughput beside the base's.
    shows_new: bool,
    /// Whether a verdict is followed by its remark.
    shows_remarks: bool,
}

impl Page<'_> {
    fn alarms(&self, out: &mut String) {
        for warning in footnote::first(self.findings) {
            self.wrapped(out, &text::plain(&footnote::warning(warning)), "Too noisy: ", "  ");
        }
    }

    fn legend(&self, out: &mut String) {
        let several = self.findings.has_several_engines();
        let name = |index: usize| {
            let treatment = &self.findings.treatments[index];
            let name = text::plain(&treatment.name);
            let build = &treatment.build;
            if several { format!("{name} ({} {})", build.engine.title(), build.version) } else { name }
        };
        out.push_str(&format!("Relative to: {}\n", name(self.findings.base)));
        for (at, index) in order::others(self.findings).into_iter().enumerate() {
            out.push_str(&format!("col-{} : {}\n", at + 1, name(index)));
        }
    }

    fn level(&self, out: &mut String, level: &Level<'_>) {
        let campaign = &self.findings.campaign;
        let rounds = order::rounds(self.findings);
        let clients = plural(level.clients, "client");
        let work = suite::work(self.findings, Some(level.clients), number::throughput);
        let line = format!(
            "{} {}, {clients}, {rounds}, {}, {work}, placement {}",
            campaign.suite.name(),
            text::plain(&campaign.name),
            order::interleaving(self.findings),
            campaign.placement
        );
        out.push('\n');
        self.wrapped(out, &line, "", "");
        out.push('\n');
        self.sheets(out, level);
        let others = order::others(self.findings);
        if let [only] = others[..] {
            self.one_build(out, level, only);
        } else {
            self.many_builds(out, level, &others);
        }
        self.timeline_notes(out, level);
        for note in suite::notes(self.findings, level) {
            self.wrapped(out, &note, "", "  ");
        }
        // Whole, since programs read them.
        suite::lines(self.findings, level).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }

    fn one_build(&self, out: &mut String, level: &Level<'_>, other: usize) {
        let mut grid = self.full_grid();
        for block in &level.blocks {
            grid.line(block.title);
            for (_, test) in &block.tests {
                grid.row(self.full_row(test, other));
            }
            self.group_lines(&mut grid, block.group, level.clients, other);
        }
        out.push_str(&grid.render(self.width, self.colour));
    }

    /// Whether full rows of all tests fit.
    fn has_room(&self) -> bool {
        let mut grid = self.full_grid();
        for index in order::others(self.findings) {
            self.findings.tests.iter().for_each(|test| grid.row(self.full_row(test, index)));
        }
        grid.width() <= self.width
    }

    /// The columns that fit, however many of them there would be.
    fn full_columns(&self) -> Vec<Column> {
        let (is_open_loop, is_widest) = (self.findings.is_open_loop(), self.width >= WIDEST);
        let is_shown = |column: &Column| match column {
            Column::New => self.shows_new && !is_open_loop,
            Column::Interval | Column::Verdict => is_widest || !is_open_loop,
            _ => true,
        };
        let with_glyph = |column| match column {
            Column::Ratio if is_open_loop => Column::RatioWithGlyph,
            _ => column,
        };
        columns::all(self.findings).into_iter().filter(is_shown).map(with_glyph).collect()
    }

    fn full_grid(&self) -> Grid {
        let columns = self.full_columns();
        let ends_in_words = matches!(columns.last(), Some(Column::Verdict));
        let heads = columns.into_iter().map(|column| column.head(self.findings));
        let grid = Grid::headed(std::iter::once(String::new()).chain(heads));
        if ends_in_words { grid.ending_in_words() } else { grid }
    }

    fn full_row(&self, test: &TestFindings, other: usize) -> Vec<Cell> {
        let comparison = &test.cells[other].comparison;
        let cell = |column: Column| {
            let text = column.text(self.findings, test, other, self.shows_remarks);
            match comparison {
                Some(comparison) if column.is_judged() => Cell::painted(text, comparison.verdict),
                _ => Cell::plain(text),
            }
        };
        std::iter::once(self.name(test)).chain(self.full_columns().into_iter().map(cell)).collect()
    }

    fn name(&self, test: &TestFindings) -> Cell {
        let marks = footnote::marks(&self.notes, test);
        let name = text::plain(&suite::row(self.findings, test));
        Cell::plain(if marks.is_empty() { format!("  {name}") } else { format!("  {name} [{marks}]") })
    }

    fn group_lines(&self, grid: &mut Grid, group: Option<rqps_model::Group>, clients: u32, other: usize) {
        let Some(found) = order::group_of(self.findings, group, clients, other) else {
            return grid.line("");
        };
        let [min, median, max] = [found.min, found.median, found.max].map(number::ratio);
        let mut line = format!("  median {median}, min {min}, max {max}");
        if let Some(whole) = &found.comparison {
            let word = match &whole.remark {
                Some(remark) if whole.is_taken_back() => text::plain(remark),
                Some(remark) => format!("{} ({})", whole.verdict, text::plain(remark)),
                None => whole.verdict.to_string(),
            };
            let (ratio, glyph) = (number::ratio(whole.rqps), verdict_style::glyph(whole.verdict));
            line.push_str(&format!("; all {ratio} {} {glyph} {word}", Interval::over_rounds(whole).text()));
        }
        grid.line(line);
        grid.line("");
    }

    /// Blocks of as many columns as fit, spread evenly, then the rows that changed in full.
    fn many_builds(&self, out: &mut String, level: &Level<'_>, others: &[usize]) {
        const COLUMN: usize = 9;
        let tests = || level.blocks.iter().flat_map(|block| &block.tests);
        let name = tests().map(|(_, test)| self.name(test).width()).max().unwrap_or(0);
        let fit = (self.width.saturating_sub(name + 10) / COLUMN).max(1);
        let blocks = others.len().div_ceil(fit).max(1);
        let (each, longer) = (others.len() / blocks, others.len() % blocks);
        let mut first = 0;
        for block in 0..blocks {
            let end = first + each + usize::from(block < longer);
            match self.findings.is_open_loop() {
                true => self.rate_columns(out, level, &others[first..end], first),
                false => self.columns(out, level, &others[first..end], first),
            }
            first = end;
        }
        self.changes(out, level, others);
    }

    fn columns(&self, out: &mut String, level: &Level<'_>, columns: &[usize], first: usize) {
        let has_rates = self.findings.tests.iter().flat_map(|test| &test.cells).any(|cell| cell.sla.is_some());
        let room = if has_rates { "   " } else { "  " };
        let base = format!("base {}", suite::unit(self.findings));
        let heads = (0..columns.len()).map(|at| format!("col-{}{room}", first + at + 1));
        let mut grid = Grid::headed([String::new(), base].into_iter().chain(heads));
        for block in &level.blocks {
            grid.line(block.title);
            for (_, test) in &block.tests {
                let base = test.cells[self.findings.base].throughput.map_or_else(none, number::throughput);
                let cells = columns.iter().map(|index| match &test.cells[*index].comparison {
                    Some(c) => {
                        let mut sign = rounds::ratio_sign(self.findings, test, *index);
                        // Behind the glyph there is room for the sign.
                        if has_rates && sign.is_empty() {
                            sign = " ";
                        }
                        let cell = format!("{} {}{sign}", number::ratio(c.rqps), verdict_style::glyph(c.verdict));
                        Cell::painted(cell, c.verdict)
                    }
                    None => Cell::plain(format!("–{room}")),
                });
                grid.row([self.name(test), Cell::plain(base)].into_iter().chain(cells));
            }
            self.group_rows(&mut grid, block.group, level.clients, columns);
        }
        out.push_str(&grid.render(self.width, self.colour));
    }

    /// In an open loop a block of columns for each quantile of latency.
    fn rate_columns(&self, out: &mut String, level: &Level<'_>, columns: &[usize], first: usize) {
        for (name, place) in QUANTILES {
            let heads = (0..columns.len()).map(|at| format!("col-{}", first + at + 1));
            let mut grid = Grid::headed([format!("{name} of events"), "base".to_owned()].into_iter().chain(heads));
            for block in &level.blocks {
                grid.line(block.title);
                for (_, test) in &block.tests {
                    let of = |index: &usize| Cell::plain(latency::shown_judged(&test.cells[*index], (name, place)));
                    let cells = std::iter::once(&self.findings.base).chain(columns).map(of);
                    grid.row(std::iter::once(self.name(test)).chain(cells));
                }
            }
            grid.line("");
            out.push_str(&grid.render(self.width, self.colour));
        }
    }

    fn group_rows(&self, grid: &mut Grid, group: Option<rqps_model::Group>, clients: u32, columns: &[usize]) {
        let found: Vec<_> = columns.iter().map(|i| order::group_of(self.findings, group, clients, *i)).collect();
        if found.iter().all(Option::is_none) {
            return grid.line("");
        }
        let mut row = |title: &str, value: fn(&rqps_analysis::findings::GroupFindings) -> f64| {
            let cells = found.iter().map(|g| Cell::plain(g.map_or_else(none, |g| number::ratio(value(g))) + "  "));
            grid.row([Cell::plain(title), Cell::plain("")].into_iter().chain(cells));
        };
        row("  median", |g| g.median);
        row("  min", |g| g.min);
        row("  max", |g| g.max);
        grid.line("");
    }

    fn changes(&self, out: &mut String, level: &Level<'_>, others: &[usize]) {
        let names = order::short_names(self.findings);
        let noun = self.findings.campaign.suite.noun();
        let is_full = |index: &usize| !of_one_round(level, *index).is_empty() || !changed(level, *index).is_empty();
        // Heads of no rows say nothing.
        let mut grid = if others.iter().any(is_full) { self.full_grid() } else { Grid::lines() };
        for index in others {
            let title = text::plain(&names[*index]);
            let inside = of_one_round(level, *index);
            if !inside.is_empty() {
                grid.line(format!("{title}: undecided, one round; intervals from inside it"));
                inside.iter().for_each(|test| grid.row(self.full_row(test, *index)));
                continue;
            }
            let changed = changed(level, *index);
            let count = match changed.len() {
                0 => unchanged(level, *index, noun),
                n => format!("{} changed", plural(n, noun)),
            };
            grid.line(format!("{title}: {count}"));
            for test in changed.iter().take(LISTED) {
                grid.row(self.full_row(test, *index));
            }
            if changed.len() > LISTED {
                grid.line(format!("  … and {} more in the report", changed.len() - LISTED));
            }
        }
        out.push_str(&grid.render(self.width, self.colour));
        out.push('\n');
    }

    fn summary(&self, out: &mut String, index: usize) {
        let treatment = &self.findings.treatments[index];
        let counts: Vec<String> =
            Verdict::ALL.iter().zip(treatment.counts).map(|(verdict, count)| format!("{count} {verdict}")).collect();
        out.push('\n');
        if !treatment.sentence.is_empty() {
            self.wrapped(out, &text::plain(&treatment.sentence), "", "");
        }
        if treatment.counts.iter().all(|count| *count == 0) {
            return;
        }
        let name = text::plain(&order::short_names(self.findings)[index]);
        self.wrapped(out, &format!("{name}: {}", counts.join(", ")), "", "");
        for change in latency::changes(self.findings, index) {
            self.wrapped(out, &format!("{name}: {change}"), "", "");
        }
        if let Some(planted) = planted::of(self.findings, index) {
            self.wrapped(out, &text::plain(&planted), "", "");
        }
        for crossing in crossing::of(self.findings, index) {
            self.wrapped(out, &format!("{name}: {crossing}"), "", "");
        }
    }

    fn wrapped(&self, out: &mut String, sentence: &str, first: &str, rest: &str) {
        for line in text::wrap(sentence, self.width, first, rest) {
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// Steps of a treatment whose interval comes from the inside of a single round.
fn of_one_round<'a>(level: &Level<'a>, treatment: usize) -> Vec<&'a TestFindings> {
    let tests = level.blocks.iter().flat_map(|block| &block.tests).map(|(_, test)| *test);
    tests.filter(|test| matches!(Interval::of(&test.cells[treatment]), Interval::Inside(..))).collect()
}

/// The title of a treatment without a change.
fn unchanged(level: &Level<'_>, treatment: usize, noun: &str) -> String {
    let tests = level.blocks.iter().flat_map(|block| &block.tests);
    let verdicts: Vec<Verdict> =
        tests.filter_map(|(_, test)| Some(test.cells[treatment].comparison.as_ref()?.verdict)).collect();
    match verdicts.iter().filter(|verdict| **verdict == Verdict::Undecided).count() {
        _ if verdicts.is_empty() => "nothing to compare".to_owned(),
        0 => format!("no {noun} changed"),
        undecided => format!("no {noun} changed, {undecided} undecided"),
    }
}

/// Tests that a treatment made slower or faster, the largest change first.
fn changed<'a>(level: &Level<'a>, treatment: usize) -> Vec<&'a TestFindings> {
    let size = |test: &TestFindings| test.cells[treatment].comparison.as_ref().map_or(0.0, |c| c.rqps.ln().abs());
    let tests = level.blocks.iter().flat_map(|block| &block.tests).map(|(_, test)| *test);
    let mut changed: Vec<&TestFindings> =
        tests.filter(|test| test.cells[treatment].comparison.as_ref().is_some_and(|c| c.verdict.is_change())).collect();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    changed
}

fn none() -> String {
    number::NONE.to_owned()
}
