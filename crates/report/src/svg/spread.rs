//! Values of many cells as dots on one logarithmic axis, with the median marked: how the noise is spread.

use super::{Tick, drawn, log_ticks, tenth};
use std::fmt::Write;

/// A logarithmic axis shared by several rows of dots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpreadAxis {
    low: f64,
    high: f64,
}

impl SpreadAxis {
    /// An axis on which all positive values fit; `None` without any.
    pub(crate) fn fit(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.filter(|v| v.is_finite() && *v > 0.0) {
            ends = Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        ends.map(|(low, high)| SpreadAxis { low: low * 0.8, high: high * 1.25 })
    }

    fn place(self, value: f64) -> f64 {
        tenth((value / self.low).ln() / (self.high / self.low).ln() * 100.0)
    }

    /// Labels in percent of throughput.
    pub(crate) fn ticks(self) -> Vec<Tick> {
        let label = |value: f64| format!("{} %", (value * 1e6).round() / 1e4);
        let ticks = log_ticks(self.low, self.high);
        ticks.into_iter().map(|value| Tick { at: self.place(value), label: label(value) }).collect()
    }

    /// One row of dots with a bar at the median.
    pub(crate) fn row(self, sorted: &[f64]) -> minijinja::Value {
        let mut svg = String::from("<svg class=\"iv\" width=\"100%\" height=\"22\" aria-hidden=\"true\">");
        for tick in self.ticks() {
            let _ = write!(svg, "<line class=\"grid\" x1=\"{0}%\" x2=\"{0}%\" y2=\"100%\"/>", tick.at);
        }
        for value in sorted.iter().filter(|v| **v > 0.0) {
            let _ = write!(svg, "<circle class=\"dot\" cx=\"{}%\" cy=\"11\" r=\"3\"/>", self.place(*value));
        }
        if let Some(median) = quantile(sorted, 0.5) {
            let _ = write!(svg, "<line class=\"med\" x1=\"{0}%\" x2=\"{0}%\" y1=\"2\" y2=\"20\"/>", self.place(median));
        }
        svg.push_str("</svg>");
        drawn(svg)
    }
}

/// Quantile of sorted values, linear between neighbours.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)?) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[5.0], 0.9), Some(5.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
