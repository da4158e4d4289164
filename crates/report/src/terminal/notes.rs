//! What stands below the terminal's tables: what signs mean, footnotes, notes of the campaign and of treatments.
//!
//! In: the findings' warnings. Out: lines that fit. Long lists of flags and settings are cut; the report has them
//! whole.

use super::Page;
use crate::footnote::{self, begun, ended};
use crate::grid;
use crate::{number, order, text, verdict_style};
use rqps_model::Verdict;

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
        for paragraph in footnote::legend(self.findings) {
            self.wrapped(out, &text::plain(&paragraph), "", "");
        }
        for (at, note) in self.notes.iter().enumerate() {
            let number = format!("[{}] ", at + 1);
            for (line, sentence) in footnote::sentences(self.findings, note).iter().enumerate() {
                self.wrapped(out, &text::plain(sentence), if line == 0 { &number } else { "    " }, "    ");
            }
        }
        for warning in footnote::others(self.findings) {
            self.wrapped(out, &text::plain(&footnote::warning(warning)), "Note: ", "      ");
        }
        if let Some(seconds) = self.findings.campaign.round_seconds {
            self.wrapped(out, &format!("{}.", begun(&seconds.to_string())), "", "");
        }
        self.treatment_notes(out);
        if !self.findings.forced.is_empty() {
            out.push_str("Differences that the engines force:\n");
        }
        for form in &self.findings.forced {
            self.wrapped(out, &text::plain(&order::forced(form)), "  ", "    ");
        }
    }

    /// What differs between treatments and was not asked to, one kind after the other: a line or two for each
    /// treatment, and once what would help.
    fn treatment_notes(&self, out: &mut String) {
        let names = order::short_names(self.findings);
        let treatments = self.findings.treatments.iter().enumerate();
        let all = treatments.flat_map(|(at, treatment)| {
            treatment.warnings.iter().map(move |warning| ((warning.kind, &warning.advice), (at, warning)))
        });
        let width = self.width - "Note: ".len();
        for ((_, advice), alike) in order::grouped(all) {
            for (at, (treatment, warning)) in alike.into_iter().enumerate() {
                let message = match &warning.in_full {
                    // It was cut where it was made.
                    Some(_) => {
                        let build = &self.findings.treatments[treatment].build.name;
                        let cause = warning.cause.trim_end_matches('.');
                        format!("{}: {cause}: `rqps builds show {build}`.", names[treatment])
                    }
                    None => {
                        let message = format!("{}: {}", names[treatment], ended(&warning.cause));
                        text::cut(&text::plain(&message), width, LINES, CUT)
                    }
                };
                self.wrapped(out, &text::plain(&message), if at == 0 { "Note: " } else { "      " }, "      ");
            }
            if let Some(advice) = advice {
                self.wrapped(out, &text::plain(&begun(&ended(advice))), "      ", "      ");
            }
        }
    }
}
