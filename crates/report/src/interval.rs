//! How far a ratio may be off: the 95 % interval over rounds, or that of the inside of a single round.
//!
//! In: a cell. Out: the interval's kind, ends and text. Over rounds stands bare (`0.97–1.02`) and is drawn as a line;
//! from the inside of one round it stands in parentheses and is drawn as a hollow, dashed box, so that nobody takes it
//! for the other.

use crate::number;
use rqps_analysis::findings::{CellFindings, Comparison};

/// An interval that reaches below the one and above the other excludes nothing, and its ends say nothing: that of two
/// rounds that disagree, or of fewer than five after `rqps more`.
const SHOWN: (f64, f64) = (1e-3, 1e3);

/// The interval of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Interval {
    /// Nothing is known.
    Unknown,
    /// From how much rounds disagree: low and high.
    OverRounds(f64, f64),
    /// From the seconds inside the two runs of the only round: low and high.
    Inside(f64, f64),
}

impl Interval {
    /// Over rounds, where there are several.
    pub(crate) fn over_rounds(comparison: &Comparison) -> Self {
        match (comparison.low, comparison.high) {
            (Some(low), Some(high)) if low >= SHOWN.0 || high <= SHOWN.1 => Interval::OverRounds(low, high),
            _ => Interval::Unknown,
        }
    }

    /// Over rounds, else of the inside of the only one.
    pub(crate) fn of(cell: &CellFindings) -> Self {
        let over_rounds = cell.comparison.as_ref().map_or(Interval::Unknown, Self::over_rounds);
        match (over_rounds, cell.inside) {
            (Interval::Unknown, Some(inside)) => Interval::Inside(inside.low, inside.high),
            _ => over_rounds,
        }
    }

    /// Low and high.
    pub(crate) const fn ends(self) -> Option<(f64, f64)> {
        match self {
            Interval::Unknown => None,
            Interval::OverRounds(low, high) | Interval::Inside(low, high) => Some((low, high)),
        }
    }

    /// As it is written everywhere.
    pub(crate) fn text(self) -> String {
        match self {
            Interval::Unknown => number::NONE.to_owned(),
            Interval::OverRounds(low, high) => format!("{}–{}", number::ratio(low), number::ratio(high)),
            Interval::Inside(low, high) => format!("({}–{})", number::ratio(low), number::ratio(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_of_a_round_stands_in_parentheses() {
        assert_eq!(Interval::Inside(0.985, 1.015).text(), "(0.985–1.015)");
        assert_eq!(Interval::OverRounds(0.98, 1.5).text(), "0.980–1.500");
        assert_eq!(Interval::Unknown.text(), "–");
    }

    #[test]
    fn an_interval_that_excludes_nothing_is_none() {
        let text = |low: f64, high: f64| {
            let comparison = Comparison { low: Some(low), high: Some(high), ..Comparison::undecided(1.0, 3) };
            Interval::over_rounds(&comparison).text()
        };
        assert_eq!(text(1e-9, 1e9), "–");
        assert_eq!([text(0.5, 1e9), text(1e-9, 2.0)], ["0.500–>1000", "<0.001–2.000"]);
    }
}
