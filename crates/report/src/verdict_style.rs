//! How a verdict looks: glyph, colour on a terminal, class and saturation on a page.
//!
//! Blue is faster, orange is slower, grey is equal, hatched is undecided; the glyph says the same without colour.

use rqps_analysis::findings::{CellFindings, Comparison};
use rqps_model::Verdict;

/// The sign that stands for a verdict.
pub(crate) const fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => "▼",
        Verdict::Improved => "▲",
        Verdict::Equal => "=",
        Verdict::Undecided => "?",
    }
}

/// SGR parameters of a verdict's colour in the 256-colour palette, readable on dark and light grounds; none for equal.
pub(crate) const fn sgr(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Regressed => Some("38;5;208"),
        Verdict::Improved => Some("38;5;33"),
        Verdict::Equal => None,
        Verdict::Undecided => Some("2"),
    }
}

/// Class of a page element: the verdict's letter, with a step of saturation for changes.
pub(crate) fn class(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Regressed => format!("r{}", saturation(comparison.rqps)),
        Verdict::Improved => format!("i{}", saturation(comparison.rqps)),
        Verdict::Equal => "e".to_owned(),
        Verdict::Undecided => "u".to_owned(),
    }
}

/// Class of a mark (line, dot, glyph) that has a hue only.
pub(crate) const fn hue(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => "vr",
        Verdict::Improved => "vi",
        Verdict::Equal => "ve",
        Verdict::Undecided => "vu",
    }
}

/// Steps at 1.5, 4, 10 and 25 percent: a reader tells five shades apart, not more.
fn saturation(rqps: f64) -> usize {
    let size = rqps.ln().abs();
    1 + [0.015, 0.04, 0.10, 0.25].iter().filter(|step| size >= **step).count()
}

/// The verdict as a word; of a step that was compared once, why there is none.
pub(crate) fn word(cell: &CellFindings, comparison: &Comparison) -> String {
    let word = comparison.verdict.name();
    if !cell.timelines.is_empty() && comparison.n == 1 { format!("{word}, one round") } else { word.to_owned() }
}

/// Colour of a build's line in charts: six named ones, else hues spread over what the verdicts leave free.
pub(crate) fn series_colour(rank: usize, count: usize) -> String {
    if count <= 6 {
        return format!("var(--s{rank})");
    }
    let hue = 90.0 + 270.0 * (rank - 1) as f64 / count as f64;
    format!("oklch(62% .15 {hue:.0})")
}
