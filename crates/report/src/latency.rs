//! Latency of whole events, the throughput's other half: what an open loop compares, next to every ratio for
//! scripts.
//!
//! In: findings. Out: quantiles of a cell in microseconds with their verdicts, in which tests a quantile changed, and
//! how far rQPS is from the quotient of the two throughputs beside it.

use crate::{number, suite, text, verdict_style};
use rqps_analysis::findings::{CellFindings, Comparison, Findings, MeasureComparison, TestFindings};
use rqps_model::{Interleave, Verdict, plural};

/// What stands below a table of an open loop.
pub(crate) const OPEN_LOOP: &str = "Open loop: throughput is the requested rate, so it has no verdict where both \
                                    builds kept up. The latency of events has one, counted from the planned start of \
                                    each.";

/// What the measure of steadiness is called.
const SLOW_SECONDS: &str = "the share of seconds at less than half the usual rate";

/// Tests that a line about a quantile names.
const NAMED: usize = 4;

/// rQPS further from the quotient than this is explained.
const EXPLAINED: f64 = 0.02;

/// Places in [`rqps_analysis::findings::LatencyFindings::quantiles_us`].
pub(crate) const P50: usize = 0;
pub(crate) const P99: usize = 3;

/// A quantile: its name and place.
pub(crate) type Quantile = (&'static str, usize);

/// The quantiles that stand beside each other in an open loop.
pub(crate) const QUANTILES: [Quantile; 2] = [("p50", P50), ("p99", P99)];

/// The latency of a cell's events; steps of the Insert Benchmark have statements only.
pub(crate) fn events(cell: &CellFindings) -> Option<&[f64; 6]> {
    cell.latency.iter().find(|latency| latency.kind == "event").map(|latency| &latency.quantiles_us)
}

/// One of the quantiles as it is shown.
pub(crate) fn shown(cell: &CellFindings, quantile: usize) -> String {
    events(cell).map_or_else(|| number::NONE.to_owned(), |events| number::duration_us(events[quantile]))
}

/// One of the quantiles as it is shown, with the glyph of its verdict.
pub(crate) fn shown_judged(cell: &CellFindings, (name, quantile): Quantile) -> String {
    match cell.measure(name) {
        Some(one) => format!("{} {}", shown(cell, quantile), verdict_style::glyph(one.verdict)),
        None => shown(cell, quantile),
    }
}

/// The ratio of a measure with its interval: `1.34 (1.20 to 1.50)`.
pub(crate) fn interval(one: &MeasureComparison) -> String {
    let ends = one.low.zip(one.high).map(|(low, high)| format!(" ({} to {})", number::ratio(low), number::ratio(high)));
    number::ratio(one.ratio) + &ends.unwrap_or_default()
}

/// A line for each quantile that changed in some test, and one for steadiness. In a closed loop p50 is left out, as it
/// tells what throughput has told.
pub(crate) fn changes(findings: &Findings, treatment: usize) -> Vec<String> {
    let quantiles = MeasureComparison::LATENCY.into_iter().skip(usize::from(!findings.is_open_loop()));
    let quantiles = quantiles.filter_map(|name| changes_of(findings, treatment, name, &format!("{name} latency")));
    let slow = changes_of(findings, treatment, MeasureComparison::SLOW_SECONDS, SLOW_SECONDS);
    quantiles.chain(slow).collect()
}

fn changes_of(findings: &Findings, treatment: usize, name: &str, title: &str) -> Option<String> {
    let all: Vec<(&TestFindings, &MeasureComparison)> =
        findings.tests.iter().filter_map(|test| Some((test, test.cells[treatment].measure(name)?))).collect();
    let noun = findings.campaign.suite.noun();
    let of = |verdict: Verdict| {
        let of_verdict = all.iter().filter(|(_, one)| one.verdict == verdict);
        let mut changed: Vec<(&TestFindings, &MeasureComparison)> = of_verdict.copied().collect();
        changed.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
        let names: Vec<String> = changed.iter().take(NAMED).map(|one| named(findings, *one)).collect();
        let more = if changed.len() > NAMED { ", …" } else { "" };
        let count = plural(changed.len() as u32, noun);
        (!changed.is_empty()).then(|| format!("{verdict} in {count} ({}{more})", names.join(", ")))
    };
    let changed: Vec<String> = [Verdict::Regressed, Verdict::Improved].into_iter().filter_map(of).collect();
    (!changed.is_empty()).then(|| format!("{title} {}", changed.join(", ")))
}

/// How much a measure changed, whichever way.
fn size(one: &MeasureComparison) -> f64 {
    if one.is_difference { one.ratio.abs() } else { one.ratio.ln().abs() }
}

/// A test with its change, and with its clients where the campaign has several numbers of them.
fn named(findings: &Findings, (test, one): (&TestFindings, &MeasureComparison)) -> String {
    let level = match findings.campaign.clients.len() {
        0 | 1 => String::new(),
        _ => format!(" at {}", plural(test.clients, "client")),
    };
    let change = if one.is_difference { number::points(one.ratio) } else { number::change(one.ratio) };
    format!("{}{level} {change}", text::plain(&suite::row(findings, test)))
}

/// By how much a quantile changed from the base; empty where one of the two is not known.
pub(crate) fn change(base: &CellFindings, cell: &CellFindings, quantile: usize) -> String {
    let of = |cell| events(cell).map(|events| events[quantile]).filter(|us| *us > 0.0);
    of(base).zip(of(cell)).map_or_else(String::new, |(base, this)| number::change(this / base))
}

/// Why rQPS is not the quotient of the two throughputs, where in some cell it is not nearly so.
pub(crate) fn quotient_note(findings: &Findings) -> Option<String> {
    let cells = findings.tests.iter().flat_map(|test| (0..test.cells.len()).map(move |at| (test, at)));
    let apart = cells.filter_map(|(test, at)| Some((test, apart(findings, test, at)?)));
    let (test, most) = apart.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, most)| *most > EXPLAINED)?;
    let percent = number::percent(most);
    Some(format!("rQPS is trimmed over slices: up to {percent} off the quotient ({})", test.name))
}

/// The comparison of a cell whose ratio is trimmed over cycles of slices.
fn trimmed(test: &TestFindings, treatment: usize) -> Option<&Comparison> {
    let is_trimmed =
        |comparison: &&Comparison| test.interleave == Some(Interleave::Slices) && comparison.cycle_se.is_some();
    test.cells[treatment].comparison.as_ref().filter(is_trimmed)
}

/// Whether any ratio is trimmed over cycles of slices.
pub(crate) fn is_trimmed(findings: &Findings) -> bool {
    findings.tests.iter().any(|test| (0..test.cells.len()).any(|at| trimmed(test, at).is_some()))
}

/// By how much rQPS differs from the quotient over the same rounds, as a fraction.
fn apart(findings: &Findings, test: &TestFindings, treatment: usize) -> Option<f64> {
    let comparison = trimmed(test, treatment)?;
    let of = |treatment: usize, round: u32| {
        let by_round = &test.cells[treatment].throughput_by_round;
        by_round.get((round - 1) as usize).copied().flatten().map(f64::ln)
    };
    let quotients =
        comparison.by_round.iter().map(|one| Some(of(treatment, one.round)? - of(findings.base, one.round)?));
    let quotients: Vec<f64> = quotients.collect::<Option<_>>()?;
    let mean = quotients.iter().sum::<f64>() / quotients.len() as f64;
    Some((comparison.rqps.ln() - mean).abs().exp_m1())
}
