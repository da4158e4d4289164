//! From how many clients on one build is ahead of another: where the ratio of a test crosses 1 as clients grow.
//!
//! In: the tests of a campaign with their comparisons, of whatever suite. Out: [`CrossingFindings`], each with an
//! interval from the ends of the comparisons' intervals. Between two numbers of clients ratio and ends are taken to be
//! straight lines over the logarithm of clients, so a crossing is no better known than these are close.

use crate::findings::{Comparison, CrossingFindings, TestFindings};

/// The first crossing of each test and treatment that has one.
pub(crate) fn crossings(tests: &[TestFindings]) -> Vec<CrossingFindings> {
    let mut names: Vec<&str> = Vec::new();
    for test in tests {
        if !names.contains(&test.name.as_str()) {
            names.push(&test.name);
        }
    }
    let treatments = tests.first().map_or(0, |test| test.cells.len());
    let of = |name: &str, treatment: usize| {
        let levels = tests.iter().filter(|test| test.name == name);
        let mut levels: Vec<Level> = levels.filter_map(|test| Level::of(test, treatment)).collect();
        levels.sort_by(|one, other| one.clients.total_cmp(&other.clients));
        let (at, ends, is_ahead_above) = crossing(&levels)?;
        let [from, to] = ends.map(|end| end.map(f64::exp));
        Some(CrossingFindings { test: name.to_owned(), treatment, clients: at.exp(), from, to, is_ahead_above })
    };
    names.iter().flat_map(|name| (0..treatments).filter_map(|treatment| of(name, treatment))).collect()
}

/// A comparison at a number of clients, all as logarithms.
#[derive(Debug, Clone, Copy)]
struct Level {
    clients: f64,
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Level {
    fn of(test: &TestFindings, treatment: usize) -> Option<Level> {
        let Comparison { rqps, low, high, .. } = test.cells[treatment].comparison.as_ref()?;
        let [low, high] = [low, high].map(|end| end.map(f64::ln));
        Some(Level { clients: f64::from(test.clients).ln(), ratio: rqps.ln(), low, high })
    }
}

/// Where the ratio crosses 0 for the first time, the ends of that, and whether it rises.
fn crossing(levels: &[Level]) -> Option<(f64, [Option<f64>; 2], bool)> {
    let is_rising = levels.first()?.ratio < 0.0;
    let zero_of = |end: fn(&Level) -> Option<f64>| {
        let points: Vec<(f64, f64)> = levels.iter().filter_map(|level| Some((level.clients, end(level)?))).collect();
        zero(&points, is_rising)
    };
    let at = zero_of(|level| Some(level.ratio))?;
    let (low, high) = (zero_of(|level| level.low), zero_of(|level| level.high));
    // The end that is nearer to where it goes crosses first.
    Some((at, if is_rising { [high, low] } else { [low, high] }, is_rising))
}

/// Where a line of pieces crosses 0 for the first time in that direction.
fn zero(points: &[(f64, f64)], is_rising: bool) -> Option<f64> {
    points.windows(2).find_map(|pair| {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
        let crosses = if is_rising { y0 < 0.0 && y1 >= 0.0 } else { y0 > 0.0 && y1 <= 0.0 };
        crosses.then(|| x0 + (x1 - x0) * y0 / (y0 - y1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients, and the ratio with half the width of its interval, as logarithms.
    fn level(clients: f64, ratio: f64, half: f64) -> Level {
        Level { clients: clients.ln(), ratio, low: Some(ratio - half), high: Some(ratio + half) }
    }

    #[test]
    fn a_build_that_scales_better_is_ahead_from_some_clients_on() {
        for sign in [1.0, -1.0] {
            let levels = [level(1.0, -0.1 * sign, 0.01), level(16.0, 0.1 * sign, 0.01)];
            let (at, ends, is_rising) = crossing(&levels).unwrap();
            assert!((at.exp() - 4.0).abs() < 1e-9 && is_rising == (sign > 0.0));
            let [from, to] = ends.map(|end| end.unwrap().exp());
            assert!(1.0 < from && from < 4.0 && 4.0 < to && to < 16.0, "{from} {to}");
        }
    }

    #[test]
    fn an_end_that_does_not_cross_leaves_the_interval_open() {
        let (_, ends, _) = crossing(&[level(1.0, -0.2, 0.1), level(4.0, 0.1, 0.2)]).unwrap();
        assert!(ends[0].is_some() && ends[1].is_none());
        assert!(crossing(&[level(1.0, -0.3, 0.1), level(4.0, -0.1, 0.2)]).is_none(), "the base is ahead throughout");
        assert!(crossing(&[level(1.0, -0.3, 0.1)]).is_none(), "one number of clients tells nothing");
    }
}
