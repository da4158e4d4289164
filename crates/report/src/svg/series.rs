//! Throughput over time of all builds: rounds side by side from left to right, one line a build.

use super::path::{Path, averaged, thinned};
use super::{Plot, Tick, drawn, linear_ticks, tenth};
use crate::{number, verdict_style};
use rqps_analysis::findings::TestFindings;
use std::fmt::Write;

/// Points a line has over all rounds together; more than a screen shows pixels would be wasted.
const POINTS: usize = 320;

/// With more builds than this a line shows means of stretches, since extremes would hide each other.
const FEW: usize = 4;

/// Share of a round's panel that is left empty before the next.
const GAP: f64 = 0.06;

/// Draws the test's series; `None` where no treatment has any.
pub(crate) fn plot(test: &TestFindings, colours: &[String], unit: &str) -> Option<Plot> {
    let rounds = test.cells.iter().map(|cell| cell.series.len()).max().unwrap_or(0);
    let points = || test.cells.iter().flat_map(|cell| &cell.series).flatten();
    let longest = points().map(|(second, _)| *second).filter(|s| s.is_finite()).fold(0.0, f64::max);
    let largest = points().map(|(_, value)| *value).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let smallest = points().map(|(_, value)| *value).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min);
    if rounds == 0 || longest <= 0.0 || largest <= 0.0 {
        return None;
    }
    let few = test.cells.len() <= FEW;
    // Zero is shown where little would be gained by leaving it out; else the note says that it is not.
    let from_zero = smallest < 0.55 * largest;
    let pad = 0.06 * (largest - smallest).max(0.02 * largest);
    let (low, high) = (if from_zero { 0.0 } else { smallest - pad }, largest + pad);
    let height = |value: f64| 1.0 - (value - low) / (high - low);
    let left = |round: usize| round as f64 / rounds as f64;
    let width = (1.0 - GAP) / rounds as f64;
    let mut svg = String::from("<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let ticks = linear_ticks(low, high);
    for tick in &ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {:.0}h1000\"/>", height(*tick) * 1000.0);
    }
    for round in 1..rounds {
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{:.0} 0v1000\"/>",
            (left(round) - GAP / 2.0 / rounds as f64) * 1000.0
        );
    }
    for (index, cell) in test.cells.iter().enumerate() {
        let mut path = Path::default();
        for (round, series) in cell.series.iter().enumerate() {
            let thin = match few {
                true => thinned(series, (POINTS / rounds).max(8)),
                false => averaged(series, (POINTS / 4 / rounds).max(6)),
            };
            path.line(thin.into_iter().map(|(second, v)| (left(round) + width * second / longest, height(v))));
        }
        if !path.data().is_empty() {
            let colour = &colours[index];
            let class = if cell.series.iter().all(|series| series.len() < 2) { "s lone" } else { "s" };
            let _ = write!(
                svg,
                "<path class=\"{class}\" data-s=\"{index}\" style=\"stroke:{colour}\" d=\"{}\"/>",
                path.data()
            );
        }
    }
    svg.push_str("</svg>");
    let ys =
        ticks.iter().map(|tick| Tick { at: tenth(height(*tick) * 100.0), label: number::grouped(*tick) }).collect();
    let xs = (0..rounds).map(|round| Tick {
        at: tenth((left(round) + width / 2.0) * 100.0),
        label: if round == 0 { "round 1".to_owned() } else { (round + 1).to_string() },
    });
    let means = if few { "" } else { " Means of stretches." };
    let broken = if from_zero { "" } else { " The axis does not start at 0." };
    let note = format!("{unit}; rounds side by side, {} s each.{means}{broken}", number::significant(longest, 2));
    Some(Plot { svg: drawn(svg), ys, xs: xs.collect(), note })
}

/// Colours of the treatments: ink for the base, then a palette that avoids the verdicts' blue and orange.
pub(crate) fn colours(treatments: usize, base: usize) -> Vec<String> {
    let mut rank = 0;
    let mut colour = |index: usize| {
        if index == base {
            return "var(--s0)".to_owned();
        }
        rank += 1;
        verdict_style::series_colour(rank, treatments.saturating_sub(1))
    };
    (0..treatments).map(&mut colour).collect()
}
