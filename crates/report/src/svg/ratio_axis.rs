//! The axis of all ratios: logarithmic, 1.0 in the middle, wide enough for most intervals; what does not fit is marked.

use super::{Tick, tenth};

/// Half widths (as the factor at the right end) with the ticks that suit them.
const SPANS: [(f64, &[f64]); 9] = [
    (1.03, &[0.98, 0.99, 1.0, 1.01, 1.02]),
    (1.06, &[0.96, 0.98, 1.0, 1.02, 1.04]),
    (1.12, &[0.9, 0.95, 1.0, 1.05, 1.1]),
    (1.25, &[0.85, 0.9, 1.0, 1.1, 1.2]),
    (1.5, &[0.7, 0.8, 1.0, 1.2, 1.4]),
    (2.2, &[0.5, 0.7, 1.0, 1.4, 2.0]),
    (4.5, &[0.25, 0.5, 1.0, 2.0, 4.0]),
    (12.0, &[0.1, 0.3, 1.0, 3.0, 10.0]),
    (120.0, &[0.01, 0.1, 1.0, 10.0, 100.0]),
];

/// Share of the intervals that must fit; a few large changes must not flatten all others.
const FITTING: f64 = 0.85;

/// Of no more intervals than this all must fit.
const FEW: usize = 3;

/// A ratio axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RatioAxis {
    span: usize,
}

impl RatioAxis {
    /// The narrowest axis on which most of the intervals fit, and the margin too.
    pub(crate) fn fit(intervals: &[(f64, f64)], margin: f64) -> Self {
        let needed = match intervals.len() {
            n if n <= FEW => n,
            n => (FITTING * n as f64).floor() as usize,
        };
        Self::narrowest(intervals, needed, margin)
    }

    /// The narrowest axis on which everything fits.
    pub(crate) fn around(values: &[f64], margin: f64) -> Self {
        let intervals: Vec<(f64, f64)> = values.iter().map(|value| (*value, *value)).collect();
        Self::narrowest(&intervals, values.len(), margin)
    }

    fn narrowest(intervals: &[(f64, f64)], needed: usize, margin: f64) -> Self {
        let fits = |span: usize| {
            let end = SPANS[span].0;
            let inside = intervals.iter().filter(|(low, high)| *low > 1.0 / end && *high < end).count();
            margin.ln_1p() < end.ln() * 0.8 && inside >= needed
        };
        RatioAxis { span: (0..SPANS.len()).find(|span| fits(*span)).unwrap_or(SPANS.len() - 1) }
    }

    /// Place of a ratio in percent from the left; beyond 0 or 100 where it does not fit.
    pub(crate) fn place(self, ratio: f64) -> f64 {
        tenth(50.0 + 50.0 * ratio.ln() / SPANS[self.span].0.ln())
    }

    /// The labelled ratios.
    pub(crate) fn ticks(self) -> Vec<Tick> {
        // Rust writes the shortest decimal that reads back the same, which is how these constants are written above.
        let label = |ratio: f64| if ratio == 1.0 { "1.0".to_owned() } else { ratio.to_string() };
        SPANS[self.span].1.iter().map(|ratio| Tick { at: self.place(*ratio), label: label(*ratio) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_in_the_middle_and_the_axis_is_symmetric_in_the_logarithm() {
        let axis = RatioAxis::fit(&[(0.99, 1.01)], 0.02);
        assert_eq!(axis.place(1.0), 50.0);
        assert_eq!(axis.place(1.02) - 50.0, 50.0 - axis.place(1.0 / 1.02));
    }

    #[test]
    fn a_few_large_changes_do_not_flatten_the_rest() {
        let mut intervals = vec![(0.99, 1.01); 30];
        intervals.push((1.88, 1.92));
        let axis = RatioAxis::fit(&intervals, 0.02);
        assert_eq!(axis, RatioAxis { span: 0 });
        assert!(axis.place(1.88) > 100.0);
        assert_eq!(RatioAxis::fit(&[(0.99, 1.01), (0.99, 1.01), (0.02, 100.0), (0.99, 1.01)], 0.02), axis);
        assert!(RatioAxis::fit(&[(0.99, 1.01), (1.88, 1.92)], 0.02).place(1.92) < 100.0);
        assert!(RatioAxis::around(&[0.98, 1.92], 0.02).place(1.92) < 100.0);
    }

    #[test]
    fn the_margin_is_always_inside() {
        let axis = RatioAxis::fit(&[(0.999, 1.001)], 0.05);
        assert!(axis.place(1.05) < 95.0);
    }
}
