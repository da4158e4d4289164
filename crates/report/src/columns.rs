//! The columns in which one build stands beside the base, test by test, as terminal and Markdown show them.
//!
//! In: findings, a test and a build. Out: heads and texts. In an open loop throughput is the requested rate, so latency
//! takes the place of the MDE.

use crate::interval::Interval;
use crate::latency::{self, QUANTILES, Quantile};
use crate::{number, rounds, suite, text, verdict_style};
use rqps_analysis::findings::{CellFindings, Comparison, Findings, TestFindings};

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Throughput of the base.
    Base,
    /// Throughput of the build.
    New,
    /// Relative throughput.
    Ratio,
    /// The same with the verdict's glyph, where no column has the verdict.
    RatioWithGlyph,
    /// A quantile of the base's latency.
    BaseLatency(Quantile),
    /// A quantile of the build's latency.
    NewLatency(Quantile),
    /// The 95 % interval of the ratio.
    Interval,
    /// The minimal detectable effect.
    Mde,
    /// The verdict in words.
    Verdict,
}

/// All columns of a campaign; of an open loop other ones than of a closed one.
pub(crate) fn all(findings: &Findings) -> Vec<Column> {
    let latencies = QUANTILES.into_iter().flat_map(|of| [Column::BaseLatency(of), Column::NewLatency(of)]);
    let front = [Column::Base, Column::New, Column::Ratio].into_iter();
    match findings.is_open_loop() {
        true => front.chain(latencies).chain([Column::Interval, Column::Verdict]).collect(),
        false => front.chain([Column::Interval, Column::Mde, Column::Verdict]).collect(),
    }
}

impl Column {
    /// What stands above it.
    pub(crate) fn head(self, findings: &Findings) -> String {
        match self {
            Column::Base => format!("base {}", suite::unit(findings)),
            Column::New => format!("new {}", suite::unit(findings)),
            Column::Ratio => "rQPS".to_owned(),
            // The glyph stands behind the digits.
            Column::RatioWithGlyph => "rQPS  ".to_owned(),
            Column::BaseLatency((name, _)) => format!("base {name}"),
            Column::NewLatency((name, _)) => format!("new {name}"),
            Column::Interval => "95 % interval".to_owned(),
            Column::Mde => "MDE".to_owned(),
            Column::Verdict => "verdict".to_owned(),
        }
    }

    /// Whether it is coloured by the verdict.
    pub(crate) const fn is_judged(self) -> bool {
        matches!(self, Column::Ratio | Column::RatioWithGlyph | Column::Verdict)
    }

    /// What stands in it; a verdict with its remark where there is room for `remarks`.
    pub(crate) fn text(self, findings: &Findings, test: &TestFindings, build: usize, remarks: bool) -> String {
        let (base, cell) = (&test.cells[findings.base], &test.cells[build]);
        let none = || number::NONE.to_owned();
        let comparison = cell.comparison.as_ref();
        match self {
            Column::Base => base.throughput.map_or_else(none, number::throughput),
            Column::New => cell.throughput.map_or_else(none, number::throughput),
            Column::Ratio => {
                let sign = rounds::ratio_sign(findings, test, build);
                comparison.map_or_else(none, |c| number::ratio(c.rqps) + sign)
            }
            Column::RatioWithGlyph => match comparison {
                Some(c) => format!("{} {}", number::ratio(c.rqps), verdict_style::glyph(c.verdict)),
                None => format!("{}  ", number::NONE),
            },
            Column::BaseLatency((_, quantile)) => latency::shown(base, quantile),
            Column::NewLatency(quantile) => latency::shown_judged(cell, quantile),
            Column::Interval => Interval::of(cell).text(),
            Column::Mde => comparison.and_then(|c| c.mde).map_or_else(none, number::percent),
            Column::Verdict => match comparison {
                Some(comparison) => verdict(cell, comparison, remarks && !findings.is_open_loop()),
                None if cell.rounds == 0 => "no number".to_owned(),
                None => "not compared".to_owned(),
            },
        }
    }
}

fn verdict(cell: &CellFindings, comparison: &Comparison, remarks: bool) -> String {
    let (glyph, word) = (verdict_style::glyph(comparison.verdict), verdict_style::word(cell, comparison));
    match &comparison.remark {
        Some(remark) if remarks => format!("{glyph} {word}: {}", text::plain(remark)),
        // The glyph says undecided; why it is so although the interval lies on one side, the remark says.
        Some(remark) if comparison.is_taken_back() => format!("{glyph} {}", text::plain(remark)),
        _ => format!("{glyph} {word}"),
    }
}
