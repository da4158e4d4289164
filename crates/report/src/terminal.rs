//! The comparison as text for a terminal: full rows for two builds, blocks of columns for many.
//!
//! In: findings, the width to fit, and whether colour may be used (the caller knows about NO_COLOR and terminals).
//! Out: text that ends in a line end. Whatever came from a server is stripped of control characters first.

mod grid;
mod notes;
mod open_loop;
mod timelines;

use crate::footnote::{self, Footnote};
use crate::interval::Interval;
use crate::order::{self, Level};
use crate::rounds;
use crate::suite::Suite;
use crate::timeline_notes;
use crate::{number, text, verdict_style};
use grid::{Align, Cell, Grid};
use rqps_analysis::findings::{Comparison, Findings, TestFindings};
use rqps_model::{Verdict, counted};

/// Narrower than this the table is not folded further.
const NARROWEST: usize = 60;

/// From this width on a row shows the other build's throughput as well; below, where all rows have room for it.
const WIDE: usize = 90;

/// From this width on a verdict is followed by its remark.
const WIDEST: usize = 116;

/// Rows listed per build under `What changed` when there are many builds.
const LISTED: usize = 10;

/// Renders the table for `width` columns.
pub fn terminal(findings: &Findings, width: usize, colour: bool) -> String {
    let mut page = Page { findings, width: width.max(NARROWEST), colour, notes: notes(findings), shows_new: true };
    page.shows_new = width >= WIDE || page.has_room();
    let mut out = String::new();
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

/// Footnotes but those that lines about timelines say better.
fn notes(findings: &Findings) -> Vec<Footnote> {
    let mut notes = footnote::footnotes(findings);
    let has_timelines = findings.tests.iter().any(TestFindings::has_timelines);
    notes.retain(|note| !has_timelines || !timeline_notes::KINDS.contains(&note.kind));
    notes
}

struct Page<'a> {
    findings: &'a Findings,
    width: usize,
    colour: bool,
    notes: Vec<Footnote>,
    /// Whether rows of one build show its throughput beside the base's.
    shows_new: bool,
}

impl Page<'_> {
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
        let rounds = match campaign.rounds_complete {
            n if n == campaign.rounds_planned => counted(n, "round"),
            n => format!("{n} of {} rounds", campaign.rounds_planned),
        };
        let clients = counted(level.clients, "client");
        let work = self.suite().work(Some(level.clients), number::throughput);
        let work = work.unwrap_or_else(|| text::plain(&campaign.arrival));
        let line = format!(
            "{} {}, {clients}, {rounds}, {}, {work}, placement {}",
            text::plain(&campaign.suite),
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
    }

    fn suite(&self) -> Suite<'_> {
        Suite::of(self.findings)
    }

    fn one_build(&self, out: &mut String, level: &Level<'_>, other: usize) {
        let mut grid = self.full_grid();
        for block in &level.blocks {
            grid.line(block.title.to_owned());
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

    fn full_grid(&self) -> Grid {
        if self.findings.is_open_loop() {
            return self.rate_grid();
        }
        let [base, new] = ["base", "new"].map(|side| format!("{side} {}", self.suite().unit()));
        let mut heads = vec!["", &base, "rQPS", "95 % interval", "MDE", "verdict"];
        if self.shows_new {
            heads.insert(2, &new);
        }
        let mut aligns = vec![Align::Right; heads.len()];
        aligns[0] = Align::Left;
        aligns[heads.len() - 1] = Align::Left;
        let mut grid = Grid::new(&aligns);
        grid.row(heads.into_iter().map(Cell::plain).collect());
        grid
    }

    fn full_row(&self, test: &TestFindings, other: usize) -> Vec<Cell> {
        if self.findings.is_open_loop() {
            return self.rate_row(test, other);
        }
        let cell = &test.cells[other];
        let throughput = |index: usize| test.cells[index].throughput.map_or_else(none, number::throughput);
        let mut row = vec![self.name(test), Cell::plain(&throughput(self.findings.base))];
        if self.shows_new {
            row.push(Cell::plain(&throughput(other)));
        }
        let Some(comparison) = &cell.comparison else {
            let reason = if cell.rounds == 0 { "no number" } else { "not compared" };
            row.extend([none(), none(), none(), reason.to_owned()].iter().map(|text| Cell::plain(text)));
            return row;
        };
        let verdict = comparison.verdict;
        let ratio = format!("{}{}", number::ratio(comparison.rqps), rounds::ratio_sign(self.findings, test, other));
        row.push(Cell::painted(&ratio, verdict));
        row.push(Cell::plain(&Interval::of(cell).text()));
        row.push(Cell::plain(&comparison.mde.map_or_else(none, number::percent)));
        let word = verdict_style::word(cell, comparison);
        let word = match &comparison.remark {
            Some(remark) if self.width >= WIDEST => {
                format!("{} {word}: {}", verdict_style::glyph(verdict), text::plain(remark))
            }
            // The sign says undecided; why it is so although the interval lies on one side, the remark says.
            Some(remark) if comparison.is_taken_back() => {
                format!("{} {}", verdict_style::glyph(verdict), text::plain(remark))
            }
            _ => format!("{} {word}", verdict_style::glyph(verdict)),
        };
        row.push(Cell::painted(&word, verdict));
        row
    }

    fn name(&self, test: &TestFindings) -> Cell {
        let marks = footnote::marks(&self.notes, test);
        let name = text::plain(&test.name);
        Cell::plain(&if marks.is_empty() { format!("  {name}") } else { format!("  {name} [{marks}]") })
    }

    fn group_lines(&self, grid: &mut Grid, group: Option<rqps_model::Group>, clients: u32, other: usize) {
        let Some(found) = order::group_of(self.findings, group, clients, other) else {
            return grid.line(String::new());
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
        grid.line(String::new());
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
        let mut aligns = vec![Align::Left, Align::Right];
        aligns.extend(columns.iter().map(|_| Align::Right));
        let mut grid = Grid::new(&aligns);
        let has_rates = self.findings.tests.iter().flat_map(|test| &test.cells).any(|cell| cell.sla.is_some());
        let room = if has_rates { "   " } else { "  " };
        let heads = (0..columns.len()).map(|at| Cell::plain(&format!("col-{}{room}", first + at + 1)));
        grid.row(
            [Cell::plain(""), Cell::plain(&format!("base {}", self.suite().unit()))].into_iter().chain(heads).collect(),
        );
        for block in &level.blocks {
            grid.line(block.title.to_owned());
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
                        Cell::painted(&cell, c.verdict)
                    }
                    None => Cell::plain(&format!("–{room}")),
                });
                grid.row([self.name(test), Cell::plain(&base)].into_iter().chain(cells).collect());
            }
            self.group_rows(&mut grid, block.group, level.clients, columns);
        }
        out.push_str(&grid.render(self.width, self.colour));
    }

    fn group_rows(&self, grid: &mut Grid, group: Option<rqps_model::Group>, clients: u32, columns: &[usize]) {
        let found: Vec<_> = columns.iter().map(|i| order::group_of(self.findings, group, clients, *i)).collect();
        if found.iter().all(Option::is_none) {
            return grid.line(String::new());
        }
        let mut row = |title: &str, value: fn(&rqps_analysis::findings::GroupFindings) -> f64| {
            let cells = found.iter().map(|g| g.map_or_else(none, |g| number::ratio(value(g))) + "  ");
            let cells = cells.map(|text| Cell::plain(&text));
            grid.row([Cell::plain(title), Cell::plain("")].into_iter().chain(cells).collect());
        };
        row("  median", |g| g.median);
        row("  min", |g| g.min);
        row("  max", |g| g.max);
        grid.line(String::new());
    }

    fn changes(&self, out: &mut String, level: &Level<'_>, others: &[usize]) {
        let names = order::short_names(self.findings);
        let noun = self.suite().noun();
        let mut grid = self.full_grid();
        let is_full = |index: &usize| !of_one_round(level, *index).is_empty() || !changed(level, *index).is_empty();
        if !others.iter().any(is_full) {
            // Heads of no rows say nothing.
            grid = Grid::new(&[Align::Left]);
        }
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
                n => format!("{} changed", counted(n, noun)),
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
    }

    fn wrapped(&self, out: &mut String, sentence: &str, first: &str, rest: &str) {
        let indent = text::width(first).max(text::width(rest));
        for (at, line) in text::wrap(sentence, self.width - indent).into_iter().enumerate() {
            out.push_str(if at == 0 { first } else { rest });
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// Steps of a treatment of which only the inside of one round tells how far their ratio may be off.
fn of_one_round<'a>(level: &Level<'a>, treatment: usize) -> Vec<&'a TestFindings> {
    let tests = level.blocks.iter().flat_map(|block| &block.tests).map(|(_, test)| *test);
    tests.filter(|test| matches!(Interval::of(&test.cells[treatment]), Interval::Inside(..))).collect()
}

/// What is to be said of a treatment without a change.
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
    let is_change = |c: &Comparison| matches!(c.verdict, Verdict::Regressed | Verdict::Improved);
    let tests = level.blocks.iter().flat_map(|block| &block.tests).map(|(_, test)| *test);
    let mut changed: Vec<&TestFindings> =
        tests.filter(|test| test.cells[treatment].comparison.as_ref().is_some_and(is_change)).collect();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    changed
}

fn none() -> String {
    number::NONE.to_owned()
}
