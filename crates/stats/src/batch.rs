//! How sure is the mean of one run? Batch means of a per-second series.
//!
//! In: a series of equally long intervals and a batch length. Out: the standard error of
//! the mean with the series' autocorrelation in it, and the number of independent values
//! it is worth. This is a check of a run's quality: what differs between runs is not in
//! it, so it must never stand for the error of a comparison.

use crate::distribution::student_t_quantile;
use crate::error::{Error, check_values};
use crate::summary::{mean_of_checked, variance_of_checked};

/// Fewest batches that give a variance.
const FEWEST_BATCHES: usize = 2;

/// The mean of a series and its error, by batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchMeans {
    /// Number of whole batches.
    pub batches: usize,
    /// Intervals in the batches; the remainder at the end is left out.
    pub intervals: usize,
    /// Mean over those intervals.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Lower end of the 95 % interval of the mean.
    pub low95: f64,
    /// Upper end of the 95 % interval of the mean.
    pub high95: f64,
    /// How many independent intervals would give the same standard error; at most `intervals`.
    pub effective_sample_size: f64,
}

/// Batch means (Conway 1963): batches longer than the memory of the series are as good as
/// independent, and the variance of their means is that of the whole, scaled.
pub fn batch_means(series: &[f64], batch_length: usize) -> Result<BatchMeans, Error> {
    let means = means_of_batches(series, batch_length, FEWEST_BATCHES)?;
    let batches = means.len();
    let intervals = batches * batch_length;
    let mean = mean_of_checked(&means);
    let between = variance_of_checked(&means).expect("there are two batches or more");
    let within = variance_of_checked(&series[..intervals]).expect("two batches have two intervals or more");
    let standard_error = (between / batches as f64).sqrt();
    let half = student_t_quantile(0.975, (batches - 1) as f64) * standard_error;
    let effective = within / standard_error.powi(2);
    Ok(BatchMeans {
        batches,
        intervals,
        mean,
        standard_error,
        low95: mean - half,
        high95: mean + half,
        // A constant series has no error and loses nothing; `min` also turns 0 / 0 into that.
        effective_sample_size: effective.min(intervals as f64),
    })
}

/// Means of consecutive whole batches; the remainder at the end is left out.
pub(crate) fn means_of_batches(series: &[f64], batch_length: usize, needed: usize) -> Result<Vec<f64>, Error> {
    check_values(series)?;
    let too_few = Error::TooFewBatches { values: series.len(), batch_length, needed };
    if batch_length == 0 || series.len() / batch_length < needed {
        return Err(too_few);
    }
    Ok(series.chunks_exact(batch_length).map(mean_of_checked).collect())
}

/// Means of `pieces` consecutive pieces, as nearly equal in length as whole intervals allow; nothing is left out.
pub(crate) fn means_of_pieces(series: &[f64], pieces: usize) -> Result<Vec<f64>, Error> {
    check_values(series)?;
    if series.len() < pieces {
        return Err(Error::TooFewBatches { values: series.len(), batch_length: 1, needed: pieces });
    }
    let border = |piece: usize| piece * series.len() / pieces;
    Ok((0..pieces).map(|piece| mean_of_checked(&series[border(piece)..border(piece + 1)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_one_are_the_ordinary_mean() {
        let series = [1.0, 3.0, 2.0, 4.0];
        let result = batch_means(&series, 1).unwrap();
        assert_eq!((result.batches, result.intervals, result.mean), (4, 4, 2.5));
        assert!((result.standard_error - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert!((result.effective_sample_size - 4.0).abs() < 1e-12);
    }

    #[test]
    fn runs_of_equal_values_are_worth_one_each() {
        // Five blocks of ten equal values: the series has five independent values, not fifty.
        let blocks = [3.0, 1.0, 2.0, 5.0, 4.0];
        let series: Vec<f64> = blocks.iter().flat_map(|&x| [x; 10]).collect();
        let result = batch_means(&series, 10).unwrap();
        assert!((result.standard_error - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((result.effective_sample_size - 5.0).abs() < 1.0, "{}", result.effective_sample_size);
    }

    #[test]
    fn pieces_leave_nothing_out() {
        let series = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0];
        assert_eq!(means_of_pieces(&series, 3).unwrap(), [2.0, 6.0, 11.0]);
        assert_eq!(means_of_pieces(&series, 7).unwrap(), series);
        assert!(means_of_pieces(&series, 8).is_err());
    }

    #[test]
    fn odd_input_is_answered_not_guessed() {
        assert_eq!(batch_means(&[1.0; 7], 3).unwrap().intervals, 6);
        assert_eq!(batch_means(&[1.0; 7], 3).unwrap().effective_sample_size, 6.0);
        assert_eq!(batch_means(&[1.0; 30], 20), Err(Error::TooFewBatches { values: 30, batch_length: 20, needed: 2 }));
        assert!(batch_means(&[1.0; 30], 0).is_err());
        assert_eq!(batch_means(&[], 5), Err(Error::Empty));
    }
}
