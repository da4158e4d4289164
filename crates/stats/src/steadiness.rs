//! Was the server in its steady state while it was measured?
//!
//! In: a per-second series of one run and a batch length. Out: the trend over the window
//! and whether it is both real and large enough to spoil the run. It raises an alarm and
//! cuts nothing: a cut that depends on the data differs between builds and biases their ratio.

use crate::batch::means_of_batches;
use crate::distribution::{normal_cdf, student_t_two_sided_p};
use crate::error::Error;
use crate::summary::mean_of_checked;

/// A real trend is as rare in a steady run as a normal value this many standard errors out.
const ALARM_STANDARD_ERRORS: f64 = 3.0;
/// A trend that matters changes the rate by more than this fraction over the window.
const ALARM_TREND: f64 = 0.01;
/// Fewer leave a line through the batches too little to be judged by.
const FEWEST_BATCHES: usize = 4;

/// The straight line through a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Change of the rate from start to end of the window, as a fraction of its mean.
    pub trend: f64,
    /// The trend in standard errors.
    pub t: f64,
    /// Probability of such a trend in a steady run.
    pub p_value: f64,
    /// The trend is beyond three standard errors and beyond one percent: suppress the verdict.
    pub unsteady: bool,
}

/// Fits a line through the batch means, which takes care of the memory from second to second.
pub fn steadiness(series: &[f64], batch_length: usize) -> Result<Steadiness, Error> {
    let means = means_of_batches(series, batch_length, FEWEST_BATCHES)?;
    let batches = means.len() as f64;
    let centre = mean_of_checked(&means);
    // Times run from -1/2 to 1/2 over the window, so that the slope is the trend.
    let times = || (0..means.len()).map(|batch| (batch as f64 + 0.5) / batches - 0.5);
    let spread: f64 = times().map(|time| time * time).sum();
    let slope = times().zip(&means).map(|(time, mean)| time * (mean - centre)).sum::<f64>() / spread;
    let residual: f64 = times().zip(&means).map(|(time, mean)| (mean - centre - slope * time).powi(2)).sum();
    let degrees_of_freedom = batches - 2.0;
    let t = if slope == 0.0 { 0.0 } else { slope / (residual / degrees_of_freedom / spread).sqrt() };
    let p_value = student_t_two_sided_p(t, degrees_of_freedom);
    let trend = if slope == 0.0 { 0.0 } else { slope / centre };
    // With few batches |t| > 3 is nothing rare; ask for what is as rare as 3 in a normal.
    let real = p_value < 2.0 * normal_cdf(-ALARM_STANDARD_ERRORS);
    Ok(Steadiness { trend, t, p_value, unsteady: real && trend.abs() > ALARM_TREND })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_a_straight_line() {
        // From 0.9 to 1.1 over the window, with a little ripple.
        let line = |second: i32| 0.9 + 0.2 * (f64::from(second) + 0.5) / 100.0 + 0.001 * f64::from(second % 2);
        let series: Vec<f64> = (0..100).map(line).collect();
        for (batch_length, expected) in [(5, 0.2), (10, 0.2), (24, 0.2 * 0.96 / 0.996)] {
            let result = steadiness(&series, batch_length).unwrap();
            assert!((result.trend - expected).abs() < 0.001, "{batch_length}: {result:?}");
            assert!(result.unsteady, "{batch_length}: {result:?}");
        }
    }

    #[test]
    fn small_or_unsure_trends_are_no_alarm() {
        let drift: Vec<f64> = (0..100).map(|i| 1.0 + 0.005 * f64::from(i) / 100.0).collect();
        let result = steadiness(&drift, 5).unwrap();
        assert!(result.t > 3.0 && !result.unsteady, "{result:?}");
        let ripple: Vec<f64> = (0..100).map(|i| 1.0 + 0.2 * f64::from(i * 7 % 10) / 10.0).collect();
        assert!(!steadiness(&ripple, 5).unwrap().unsteady);
        let constant = steadiness(&[1.0; 40], 5).unwrap();
        assert_eq!((constant.t, constant.trend, constant.p_value, constant.unsteady), (0.0, 0.0, 1.0, false));
        // A server that did nothing is steady too, and no division by its rate.
        assert_eq!(steadiness(&[0.0; 40], 5).unwrap().trend, 0.0);
    }

    #[test]
    fn needs_four_batches() {
        let error = Error::TooFewBatches { values: 39, batch_length: 10, needed: 4 };
        assert_eq!(steadiness(&[1.0; 39], 10), Err(error));
    }
}
