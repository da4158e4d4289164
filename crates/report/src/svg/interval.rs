//! One row of an interval plot: margin band, 1.0, grid, the interval with its estimate, and each round as a dot.
//!
//! In: an axis and a comparison. Out: a drawing. The 95 % interval over rounds is a thick line; what the inside of a
//! single round tells is a hollow, dashed box, which nobody takes for the other.

use super::ratio_axis::RatioAxis;
use super::{drawn, tenth};
use crate::interval::Interval;
use crate::verdict_style;
use rqps_analysis::findings::Comparison;
use std::fmt::Write;

/// Where the interval is drawn in a row of 22 pixels: in its middle, or higher to leave the rounds a line of their own.
const MIDDLE: u32 = 11;
const UPPER: u32 = 8;
const ROUNDS: u32 = 17;

/// Half the height of the box: taller than the estimate, so that it is seen around it however narrow it is.
const HALF_BOX: u32 = 6;

/// What a row shows beside the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Only the interval.
    Hidden,
    /// Each round's ratio as a dot.
    Dots,
}

/// Draws the row; `None` draws the empty axis, so that columns line up.
pub(crate) fn row(
    axis: RatioAxis,
    shown: Option<(&Comparison, Interval)>,
    margin: f64,
    rounds: Rounds,
) -> minijinja::Value {
    let mut svg = String::from("<svg class=\"iv\" width=\"100%\" height=\"22\" aria-hidden=\"true\">");
    background(&mut svg, axis, margin);
    if let Some((comparison, interval)) = shown {
        let _ = write!(svg, "<g class=\"{}\">", verdict_style::hue(comparison.verdict));
        if rounds == Rounds::Dots {
            dots(&mut svg, axis, comparison);
        }
        let height = if rounds == Rounds::Dots { UPPER } else { MIDDLE };
        let at = axis.place(comparison.rqps);
        extent(&mut svg, axis, interval, at, height);
        estimate(&mut svg, at, height);
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
    for round in &comparison.by_round {
        let at = axis.place(round.rqps);
        if (0.0..=100.0).contains(&at) {
            let _ = write!(svg, "<circle class=\"rd\" cx=\"{at}%\" cy=\"{ROUNDS}\" r=\"2.2\"/>");
        }
    }
}

/// The interval around an estimate that stands at a place.
fn extent(svg: &mut String, axis: RatioAxis, interval: Interval, at: f64, height: u32) {
    let Some((low, high)) = interval.ends() else { return };
    let (low, high) = (axis.place(low), axis.place(high));
    let (left, right) = (low.clamp(0.0, 100.0), high.clamp(0.0, 100.0));
    if left < right {
        match interval {
            Interval::Inside(..) => hollow(svg, (low, high), height),
            _ => line(svg, "ci", (left, height), (right, height)),
        }
    }
    // An open arrow: only the interval's end lies beyond; a full one, of the estimate: that does, too.
    if high > 100.0 && at <= 100.0 {
        arrow(svg, "100%", height, "class=\"open\" d=\"M-4-4l5 4-5 4\"");
    }
    if low < 0.0 && at >= 0.0 {
        arrow(svg, "0", height, "class=\"open\" d=\"M4-4l-5 4 5 4\"");
    }
}

/// An arrow at an end of the axis.
fn arrow(svg: &mut String, x: &str, height: u32, path: &str) {
    let _ = write!(svg, "<svg x=\"{x}\" y=\"{height}\" class=\"out\"><path {path}/></svg>");
}

/// A box of four dashed lines; open at the side on which it goes on beyond the axis.
fn hollow(svg: &mut String, (low, high): (f64, f64), height: u32) {
    let (left, right) = (low.clamp(0.0, 100.0), high.clamp(0.0, 100.0));
    let (top, bottom) = (height - HALF_BOX, height + HALF_BOX);
    for y in [top, bottom] {
        line(svg, "in", (left, y), (right, y));
    }
    for end in [low, high].into_iter().filter(|end| (0.0..=100.0).contains(end)) {
        line(svg, "in", (end, top), (end, bottom));
    }
}

fn line(svg: &mut String, class: &str, (x1, y1): (f64, u32), (x2, y2): (f64, u32)) {
    let _ = write!(svg, "<line class=\"{class}\" x1=\"{x1}%\" x2=\"{x2}%\" y1=\"{y1}\" y2=\"{y2}\"/>");
}

fn estimate(svg: &mut String, at: f64, height: u32) {
    match at {
        at if at > 100.0 => arrow(svg, "100%", height, "d=\"M-8-5.5l9 5.5-9 5.5z\""),
        at if at < 0.0 => arrow(svg, "0", height, "d=\"M8-5.5l-9 5.5 9 5.5z\""),
        at => _ = write!(svg, "<circle class=\"pt\" cx=\"{at}%\" cy=\"{height}\" r=\"4\"/>"),
    }
}

/// Whether the estimate or an end of the interval lies beyond the axis.
pub(crate) fn is_clipped(axis: RatioAxis, rqps: f64, interval: Interval) -> bool {
    let (low, high) = interval.ends().unwrap_or((rqps, rqps));
    [rqps, low, high].into_iter().any(|ratio| !(0.0..=100.0).contains(&axis.place(ratio)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_of_a_round_is_a_box_and_no_line() {
        let axis = RatioAxis::around(&[0.96, 1.04], 0.02);
        let drawn = |interval| {
            let mut svg = String::new();
            extent(&mut svg, axis, interval, 50.0, MIDDLE);
            ["\"ci\"", "\"in\"", "\"open\""].map(|class| svg.matches(class).count())
        };
        assert_eq!(drawn(Interval::OverRounds(0.97, 1.03)), [1, 0, 0]);
        assert_eq!(drawn(Interval::Inside(0.97, 1.03)), [0, 4, 0]);
        assert_eq!(drawn(Interval::Inside(0.97, 1.5)), [0, 3, 1]);
        assert_eq!(drawn(Interval::Inside(0.5, 1.5)), [0, 2, 2]);
        assert_eq!(drawn(Interval::Unknown), [0, 0, 0]);
    }
}
