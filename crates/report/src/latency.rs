//! Latency of whole events, the throughput's other half: what an open loop compares, told beside every ratio for
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

/// p50, p95 and p99 of whole events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Events {
    pub(crate) p50_us: f64,
    pub(crate) p95_us: f64,
    pub(crate) p99_us: f64,
}

/// A quantile: its name, and how it is taken.
pub(crate) type Quantile = (&'static str, fn(Events) -> f64);

/// The quantiles that stand beside each other in an open loop.
pub(crate) const QUANTILES: [Quantile; 2] = [("p50", |events| events.p50_us), ("p99", |events| events.p99_us)];

/// The latency of a cell's events; steps of the Insert Benchmark have statements only.
pub(crate) fn events(cell: &CellFindings) -> Option<Events> {
    let found = cell.latency.iter().find(|latency| latency.kind == "event")?;
    let [p50_us, _, p95_us, p99_us, ..] = found.quantiles_us;
    Some(Events { p50_us, p95_us, p99_us })
}

/// One of the quantiles as it is shown.
pub(crate) fn shown(cell: &CellFindings, quantile: fn(Events) -> f64) -> String {
    events(cell).map_or_else(|| number::NONE.to_owned(), |events| number::duration_us(quantile(events)))
}

/// By how much a quantile changed from the base; empty where one of the two is not known.
pub(crate) fn change(base: &CellFindings, cell: &CellFindings, quantile: fn(Events) -> f64) -> String {
    let of = |cell| events(cell).map(quantile).filter(|us| *us > 0.0);
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
