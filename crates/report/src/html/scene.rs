//! What the parts of the page share: the campaign with the treatments' names and colours, and how a comparison, a
//! throughput, a warning and the absence of a number are written.
//!
//! In: findings. Out: views of single values, the same wherever they stand on the page. It knows no part of the page.

use crate::footnote::{begun, ended};
use crate::interval::Interval;
use crate::svg::series;
use crate::{latency, number, order, rounds, verdict_style};
use rqps_analysis::findings::{CellFindings, Comparison, Findings, TestFindings, Warning};
use rqps_model::{Verdict, WarningKind, plural};
use serde::Serialize;

/// What all parts of the page need.
pub(super) struct Scene<'a> {
    pub(super) findings: &'a Findings,
    /// Treatments' short names.
    pub(super) names: Vec<String>,
    /// Treatments' colours in charts.
    pub(super) colours: Vec<String>,
    /// Treatments other than the base.
    pub(super) others: Vec<usize>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(findings: &'a Findings) -> Scene<'a> {
        Scene {
            findings,
            names: order::short_names(findings),
            colours: series::colours(findings.treatments.len(), findings.base),
            others: order::others(findings),
        }
    }

    pub(super) fn margin(&self) -> f64 {
        self.findings.campaign.margin
    }

    /// The number of clients in words; empty where the campaign has one level only.
    pub(super) fn level(&self, clients: u32) -> String {
        let is_only = self.findings.tests.iter().all(|test| test.clients == clients);
        if is_only { String::new() } else { plural(clients, "client") }
    }

    /// Builds by name, separated by commas; all of several are `all builds`.
    pub(super) fn joined(&self, builds: &[usize]) -> String {
        if builds.len() == self.names.len() && builds.len() > 1 {
            return "all builds".to_owned();
        }
        builds.iter().map(|index| self.names[*index].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Treatments in display order: the base first.
    pub(super) fn base_first(&self) -> Vec<usize> {
        std::iter::once(self.findings.base).chain(self.others.iter().copied()).collect()
    }
}

/// A comparison as the page writes it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Shown {
    /// Class with hue and saturation.
    pub(super) class: String,
    /// Class with hue only.
    pub(super) hue: &'static str,
    pub(super) glyph: &'static str,
    pub(super) word: &'static str,
    pub(super) ratio: String,
    pub(super) interval: String,
    /// Whether the interval is one over rounds, or that of a single round's inside.
    pub(super) is_inside: bool,
    pub(super) mde: String,
    pub(super) q: String,
    pub(super) n: u32,
    pub(super) remark: String,
    /// Size of the change in percent, for filtering.
    pub(super) size: String,
}

/// Size of a change in percent, for the filter, which rounds nothing up to a border.
pub(super) fn size(comparison: &Comparison) -> String {
    format!("{:.2}", ((comparison.rqps - 1.0).abs() * 1e4).floor() / 100.0)
}

pub(super) fn shown(comparison: &Comparison) -> Shown {
    Shown {
        class: verdict_style::class(comparison),
        hue: verdict_style::hue(comparison.verdict),
        glyph: verdict_style::glyph(comparison.verdict),
        word: comparison.verdict.name(),
        ratio: number::ratio(comparison.rqps),
        interval: Interval::over_rounds(comparison).text(),
        is_inside: false,
        mde: comparison.mde.map_or_else(|| number::NONE.to_owned(), number::percent),
        q: comparison.q.map_or_else(|| number::NONE.to_owned(), number::probability),
        n: comparison.n,
        remark: remark(comparison),
        size: size(comparison),
    }
}

/// The comparison of a cell: signed where it does not compare, and with the interval of its inside if it is of one
/// round.
pub(super) fn shown_cell(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Option<Shown> {
    let cell = &test.cells[index];
    let mut shown = shown(cell.comparison.as_ref()?);
    shown.ratio.push_str(rounds::ratio_sign(scene.findings, test, index));
    let interval = Interval::of(cell);
    (shown.interval, shown.is_inside) = (interval.text(), matches!(interval, Interval::Inside(..)));
    Some(shown)
}

/// Anchor of a test.
pub(super) fn test_id(index: usize) -> String {
    format!("t{index}")
}

/// Why a cell has no ratio.
pub(super) fn absence(cell: &CellFindings) -> String {
    let warnings = cell.warnings.iter().map(|warning| warning.cause.clone());
    std::iter::once("no comparison".to_owned()).chain(warnings).collect::<Vec<_>>().join("\n")
}

/// Each quantile of the events' latency: `p50 104 µs → 110 µs`.
pub(super) fn latency_change(test: &TestFindings, base: usize, index: usize) -> Vec<String> {
    let of = |index: usize, quantile| latency::shown(&test.cells[index], quantile);
    let quantiles = latency::QUANTILES.iter();
    quantiles.map(|(name, quantile)| format!("{name} {} → {}", of(base, *quantile), of(index, *quantile))).collect()
}

/// The remark, and how many rounds would settle it where that many are feasible.
fn remark(comparison: &Comparison) -> String {
    let needed = match comparison.rounds_within_reach() {
        Some(rounds) if comparison.verdict == Verdict::Undecided => {
            Some(format!("about {} would settle it", plural(rounds, "round")))
        }
        _ => None,
    };
    comparison.remark.iter().cloned().chain(needed).collect::<Vec<_>>().join("; ")
}

/// A warning as the page writes it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Notice {
    pub(super) kind: WarningKind,
    pub(super) cause: String,
    pub(super) advice: String,
    /// The whole list where the cause has the first of it; else empty.
    pub(super) in_full: String,
}

pub(super) fn notice(warning: &Warning) -> Notice {
    Notice {
        kind: warning.kind,
        cause: ended(&warning.cause),
        advice: warning.advice.as_deref().map(|advice| begun(&ended(advice))).unwrap_or_default(),
        in_full: warning.in_full.clone().unwrap_or_default(),
    }
}

/// With a sign where it was measured alongside too few writes.
pub(super) fn throughput(cell: &CellFindings) -> String {
    let sign = if cell.is_sla_missed() { rounds::MISSED } else { "" };
    cell.throughput.map_or_else(|| number::NONE.to_owned(), |value| number::grouped(value) + sign)
}
