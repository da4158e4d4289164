//! What stands below the terminal's tables: what signs mean, footnotes, notes of the campaign and of treatments.
//!
//! In: the findings' warnings. Out: lines that fit. Long lists of flags and settings are cut; the report has them
//! whole.

use super::{Page, grid};
use crate::footnote::{self, begun, ended};
use crate::rounds;
use crate::{latency, number, order, text, verdict_style};
use rqps_analysis::findings::Warning;
use rqps_model::{Unit, Verdict};

/// Most lines of what differs between two treatments.
const LINES: usize = 2;

/// What stands behind a list that was cut.
const CUT: &str = " …, all in the report.";

impl Page<'_> {
    pub(super) fn tail(&self, out: &mut String) {
        let glyphs = Verdict::ALL.map(|verdict| {
            let text = format!("{} {verdict}", verdict_style::glyph(verdict));
            grid::paint(&text, verdict, self.colour)
        });
        let margin = number::percent(self.findings.campaign.margin);
        out.push_str(&format!("{}   equal: within ±{margin}\n", glyphs.join("  ")));
        let cells = self.findings.tests.iter().flat_map(|test| &test.cells);
        let mut comparisons = cells.filter_map(|cell| cell.comparison.as_ref());
        if !self.findings.is_open_loop() && comparisons.any(|comparison| comparison.mde.is_some()) {
            out.push_str("MDE: the smallest change found in 4 of 5 cases\n");
        }
        if self.findings.tests.iter().any(|test| test.unit == Unit::KiloRowsPerSecond) {
            out.push_str("scan: thousands of rows per second and client\n");
        }
        if rounds::has_one_round(self.findings) {
            self.wrapped(out, rounds::ONE_ROUND, "", "");
        }
        if self.findings.is_open_loop() {
            self.wrapped(out, latency::OPEN_LOOP, "", "");
        } else if let Some(note) = latency::quotient_note(self.findings) {
            self.wrapped(out, &text::plain(&note), "", "");
        }
        for (at, note) in self.notes.iter().enumerate() {
            let number = format!("[{}] ", at + 1);
            for (line, sentence) in footnote::sentences(self.findings, note).iter().enumerate() {
                self.wrapped(out, &text::plain(sentence), if line == 0 { &number } else { "    " }, "    ");
            }
        }
        for warning in &self.findings.warnings {
            self.wrapped(out, &text::plain(&footnote::warning(warning)), "Note: ", "      ");
        }
        self.treatment_notes(out);
        if !self.findings.forced.is_empty() {
            out.push_str("Engines force these to differ:\n");
        }
        for form in &self.findings.forced {
            self.wrapped(out, &text::plain(&order::forced(form)), "  ", "    ");
        }
    }

    /// The cause and where the rest is.
    fn with_whereabouts(&self, treatment: usize, warning: &Warning) -> String {
        let build = &self.findings.treatments[treatment].build.name;
        format!("{}: `rqps builds show {build}`.", warning.cause.trim_end_matches('.'))
    }

    /// What differs between treatments and was not asked to, one kind after the other: a line or two for each
    /// treatment, and once what would help.
    fn treatment_notes(&self, out: &mut String) {
        let names = order::short_names(self.findings);
        let treatments = self.findings.treatments.iter().enumerate();
        let all: Vec<(usize, &Warning)> = treatments
            .flat_map(|(at, treatment)| treatment.warnings.iter().map(move |warning| (at, warning)))
            .collect();
        let key = |warning: &Warning| (warning.kind, warning.advice.clone());
        let mut told = Vec::new();
        for (_, warning) in &all {
            if told.contains(&key(warning)) {
                continue;
            }
            told.push(key(warning));
            let alike = all.iter().filter(|(_, other)| key(other) == key(warning));
            for (at, (treatment, warning)) in alike.enumerate() {
                let width = self.width - "Note: ".len();
                let message = text::plain(&format!("{}: {}", names[*treatment], ended(&warning.cause)));
                let message = match &warning.in_full {
                    // It was cut where it was made.
                    Some(_) => {
                        text::plain(&format!("{}: {}", names[*treatment], self.with_whereabouts(*treatment, warning)))
                    }
                    None => text::cut(&message, width, LINES, CUT),
                };
                self.wrapped(out, &message, if at == 0 { "Note: " } else { "      " }, "      ");
            }
            if let Some(advice) = &warning.advice {
                self.wrapped(out, &text::plain(&begun(&ended(advice))), "      ", "      ");
            }
        }
    }
}
