//! Small SVG pictures that scale with the page: horizontal places in percent, so that strokes and dots keep their size.
//!
//! One picture a file. Labels are HTML beside the picture (see [`Plot`]), because text inside a stretched SVG is
//! stretched too. Colours come from classes and CSS variables, so one picture serves light, dark and print.

pub(crate) mod flame;
pub(crate) mod interval;
pub(crate) mod lane;
pub(crate) mod latency;
pub(crate) mod path;
pub(crate) mod ratio_axis;
pub(crate) mod series;
pub(crate) mod spread;
pub(crate) mod users;

use serde::Serialize;

/// A label at a place along an axis, in percent from left or top.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tick {
    /// Percent.
    pub(crate) at: f64,
    /// Text.
    pub(crate) label: String,
}

/// A picture with axes: the page sets labels around the drawing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Plot {
    /// The drawing; made of numbers and class names only.
    pub(crate) svg: minijinja::Value,
    /// Labels at the left.
    pub(crate) ys: Vec<Tick>,
    /// Labels below.
    pub(crate) xs: Vec<Tick>,
    /// What a reader must know about the axes.
    pub(crate) note: String,
}

/// Rounds to a tenth of a percent, which is less than a pixel, and keeps pictures small.
fn tenth(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// Marks text as SVG that needs no escape. Only for what this module wrote itself.
fn drawn(svg: String) -> minijinja::Value {
    minijinja::Value::from_safe_string(svg)
}

/// Ticks at 1, 2 and 5 times powers of ten between two positive ends.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let all = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade)));
    let within: Vec<f64> = all.filter(|tick| *tick >= low * 0.999 && *tick <= high * 1.001).collect();
    let tens = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
    if within.len() > 6 { within.into_iter().filter(tens).collect() } else { within }
}

/// Three to six round ticks between two ends of a linear axis.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 4.0;
    if rough <= 0.0 || !rough.is_finite() {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(linear_ticks(4700.0, 5100.0), [4700.0, 4800.0, 4900.0, 5000.0, 5100.0]);
        assert_eq!(linear_ticks(0.0, 22_000.0), [0.0, 10_000.0, 20_000.0]);
        assert_eq!(linear_ticks(5.0, 5.0), [5.0]);
        assert_eq!(log_ticks(40.0, 900.0), [50.0, 100.0, 200.0, 500.0]);
        assert_eq!(log_ticks(1.0, 1e4), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
    }
}
