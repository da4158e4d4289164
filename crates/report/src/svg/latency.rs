//! Latency by percentile: the horizontal axis gives every nine the same room, the vertical one is logarithmic.

use super::path::{Path, thinned};
use super::{Plot, Tick, drawn, log_ticks, tenth};
use crate::number;
use rqps_analysis::findings::{LatencyFindings, TestFindings};
use std::fmt::Write;

/// Percentiles that are labelled.
const LABELLED: [(f64, &str); 6] =
    [(0.0, ""), (50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (99.99, "p99.99")];

/// Draws the curves of one statement kind; `None` where no treatment has one.
pub(crate) fn plot(test: &TestFindings, kind: &str, colours: &[String]) -> Option<Plot> {
    let curves: Vec<(usize, Vec<(f64, f64)>)> = test
        .cells
        .iter()
        .enumerate()
        .filter_map(|(index, cell)| Some((index, curve(cell.latency.iter().find(|l| l.kind == kind)?))))
        .filter(|(_, curve)| curve.len() > 1)
        .collect();
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let nines = points().map(|point| point.0).fold(0.0, f64::max);
    let low = points().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.1).fold(0.0, f64::max);
    if nines <= 0.0 || high <= low {
        return None;
    }
    let (bottom, top) = ((low * 0.93).ln(), (high * 1.07).ln());
    let height = |us: f64| 1.0 - (us.ln() - bottom) / (top - bottom);
    let mut svg = String::from("<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let ticks = log_ticks(low * 0.93, high * 1.07);
    for tick in &ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {:.0}h1000\"/>", height(*tick) * 1000.0);
    }
    let labelled = || LABELLED.iter().filter(|(percentile, _)| nines_of(*percentile) <= nines);
    for (percentile, _) in labelled() {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{:.0} 0v1000\"/>", nines_of(*percentile) / nines * 1000.0);
    }
    for (index, curve) in &curves {
        let mut path = Path::default();
        path.line(thinned(curve, 80).into_iter().map(|(x, us)| (x / nines, height(us))));
        let colour = &colours[*index];
        let _ = write!(svg, "<path class=\"s\" data-s=\"{index}\" style=\"stroke:{colour}\" d=\"{}\"/>", path.data());
    }
    svg.push_str("</svg>");
    let ys = ticks.iter().map(|us| Tick { at: tenth(height(*us) * 100.0), label: number::duration_us(*us) });
    let xs = labelled().map(|(percentile, label)| Tick {
        at: tenth(nines_of(*percentile) / nines * 100.0),
        label: (*label).to_owned(),
    });
    let note = format!("Latency of each {kind} by percentile, all rounds; both axes logarithmic.");
    Some(Plot { svg: drawn(svg), ys: ys.collect(), xs: xs.collect(), note })
}

/// The curve over nines; what lies beyond five nines, such as the largest, is left to the table.
fn curve(latency: &LatencyFindings) -> Vec<(f64, f64)> {
    let points = latency.curve.iter().filter(|(percentile, us)| *percentile <= 99.999 && *us > 0.0);
    points.map(|(percentile, us)| (nines_of(*percentile), *us)).collect()
}

/// 90 → 1, 99 → 2, 99.9 → 3.
fn nines_of(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-5).log10()
}
