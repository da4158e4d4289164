//! Latency of whole events, the throughput's other half: what an open loop compares, next to every ratio for
//! scripts.
//!
//! In: findings. Out: quantiles of a cell in microseconds, and how far rQPS is from the quotient of the two throughputs
//! beside it. It must not judge: latency has no verdict.

use crate::number;
use rqps_analysis::findings::{CellFindings, Findings, TestFindings};
use rqps_model::Interleave;

/// What stands below a table of an open loop.
pub(crate) const OPEN_LOOP: &str = "Open loop: throughput is the requested rate, so it has no verdict where both \
                                    builds kept up. Compare the latency of events, counted from the planned start of \
                                    each.";

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

/// By how much rQPS differs from the quotient, as a fraction.
fn apart(findings: &Findings, test: &TestFindings, treatment: usize) -> Option<f64> {
    let (cell, base) = (&test.cells[treatment], &test.cells[findings.base]);
    let quotient = cell.throughput? / base.throughput?;
    let rqps = cell.comparison.as_ref().filter(|_| test.interleave == Some(Interleave::Slices))?.rqps;
    Some((rqps / quotient).ln().abs().exp() - 1.0)
}
