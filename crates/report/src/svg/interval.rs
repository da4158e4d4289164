//! One row of an interval plot: margin band, 1.0, grid, the 95 % interval with its estimate, and each round as a dot.

use super::ratio_axis::RatioAxis;
use super::{drawn, tenth};
use crate::look;
use rqps_analysis::findings::Comparison;
use std::fmt::Write;

/// Where the interval is drawn in a row of 22 pixels: in its middle, or higher to leave the rounds a line of their own.
const MIDDLE: u32 = 11;
const UPPER: u32 = 8;
const ROUNDS: u32 = 17;

/// What a row shows beside the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Only the interval.
    Hidden,
    /// Each round's ratio as a dot.
    Dots,
}

/// Draws the row; `None` draws the empty axis, so that columns line up.
pub(crate) fn row(axis: RatioAxis, comparison: Option<&Comparison>, margin: f64, rounds: Rounds) -> minijinja::Value {
    let mut svg = String::from("<svg class=\"iv\" width=\"100%\" height=\"22\" aria-hidden=\"true\">");
    background(&mut svg, axis, margin);
    if let Some(comparison) = comparison {
        let _ = write!(svg, "<g class=\"{}\">", look::hue(comparison.verdict));
        if rounds == Rounds::Dots {
            dots(&mut svg, axis, comparison);
        }
        estimate(&mut svg, axis, comparison, if rounds == Rounds::Dots { UPPER } else { MIDDLE });
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    drawn(svg)
}

fn background(svg: &mut String, axis: RatioAxis, margin: f64) {
    let (left, right) = (axis.place(1.0 - margin), axis.place(1.0 + margin));
    let _ = write!(svg, "<rect class=\"band\" x=\"{left}%\" width=\"{}%\" height=\"100%\"/>", tenth(right - left));
    for tick in axis.ticks() {
        let class = if tick.at == 50.0 { "one" } else { "grid" };
        let _ = write!(svg, "<line class=\"{class}\" x1=\"{0}%\" x2=\"{0}%\" y2=\"100%\"/>", tick.at);
    }
}

fn dots(svg: &mut String, axis: RatioAxis, comparison: &Comparison) {
    for (_, ratio) in &comparison.by_round {
        let at = axis.place(*ratio);
        if (0.0..=100.0).contains(&at) {
            let _ = write!(svg, "<circle class=\"rd\" cx=\"{at}%\" cy=\"{ROUNDS}\" r=\"2.2\"/>");
        }
    }
}

fn estimate(svg: &mut String, axis: RatioAxis, comparison: &Comparison, height: u32) {
    let at = axis.place(comparison.rqps);
    if let (Some(low), Some(high)) = (comparison.low, comparison.high) {
        let (left, right) = (axis.place(low).clamp(0.0, 100.0), axis.place(high).clamp(0.0, 100.0));
        if left < right {
            let _ = write!(svg, "<line class=\"ci\" x1=\"{left}%\" x2=\"{right}%\" y1=\"{height}\" y2=\"{height}\"/>");
        }
        // An open arrow: only the interval's end lies beyond; a full one below: the estimate itself does.
        if axis.place(high) > 100.0 && at <= 100.0 {
            let _ = write!(
                svg,
                "<svg x=\"100%\" y=\"{height}\" class=\"out\"><path class=\"open\" d=\"M-4-4l5 4-5 4\"/></svg>"
            );
        }
        if axis.place(low) < 0.0 && at >= 0.0 {
            let _ = write!(
                svg,
                "<svg x=\"0\" y=\"{height}\" class=\"out\"><path class=\"open\" d=\"M4-4l-5 4 5 4\"/></svg>"
            );
        }
    }
    let _ = match at {
        at if at > 100.0 => {
            write!(svg, "<svg x=\"100%\" y=\"{height}\" class=\"out\"><path d=\"M-8-5.5l9 5.5-9 5.5z\"/></svg>")
        }
        at if at < 0.0 => {
            write!(svg, "<svg x=\"0\" y=\"{height}\" class=\"out\"><path d=\"M8-5.5l-9 5.5 9 5.5z\"/></svg>")
        }
        at => write!(svg, "<circle class=\"pt\" cx=\"{at}%\" cy=\"{height}\" r=\"4\"/>"),
    };
}

/// Whether the estimate or an end of the interval lies beyond the axis.
pub(crate) fn is_clipped(axis: RatioAxis, comparison: &Comparison) -> bool {
    let ends = [Some(comparison.rqps), comparison.low, comparison.high];
    ends.into_iter().flatten().any(|ratio| !(0.0..=100.0).contains(&axis.place(ratio)))
}
