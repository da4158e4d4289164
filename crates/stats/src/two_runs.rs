//! What the inside of two single runs tells of the ratio of their means.
//!
//! In: the per-second series of one run each of two treatments. Out: the standard error of the
//! log ratio of their means, from pieces of their own time, and half of its 95 % interval. It
//! says how steady the two runs were: what differs from start to start and from load to load
//! is not in it, so it must never become a verdict.

use crate::distribution::student_t_quantile;
use crate::error::{Error, check_values};
use crate::summary::{mean_of_checked, variance_of_checked};

/// Fewer pieces give an interval too wide to be of use.
const FEWEST_PIECES: usize = 10;
/// More pieces are hardly narrower: t with 38 degrees of freedom is 2.02.
const MOST_PIECES: usize = 20;
/// Pieces of a few intervals hold most of what one second remembers of the one before.
const WISHED_LENGTH: usize = 5;

/// How sure the ratio of two runs is, from inside them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoRuns {
    /// Pieces that each run was cut into.
    pub pieces: usize,
    /// Log of the ratio of the two means.
    pub log_ratio: f64,
    /// Standard error of `log_ratio`.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees_of_freedom: f64,
    /// Half the width of the 95 % interval on the log scale.
    pub half95: f64,
}

/// Batch means of both runs (Conway 1963), compared as two samples of unlike spread (Welch 1947), since the
/// runs were not simultaneous. The error of a log is that of the value over the value (delta
/// method), so that a piece in which nothing happened counts as what it was.
pub fn two_runs(series: &[f64], base: &[f64]) -> Result<TwoRuns, Error> {
    let shorter = series.len().min(base.len());
    let pieces = (shorter / WISHED_LENGTH).clamp(FEWEST_PIECES, MOST_PIECES);
    let (own, other) = (Side::of(series, pieces)?, Side::of(base, pieces)?);
    let variance = own.variance + other.variance;
    let each = (pieces - 1) as f64;
    // Two runs without any spread are as good as known.
    let degrees_of_freedom = if variance > 0.0 {
        variance.powi(2) * each / (own.variance.powi(2) + other.variance.powi(2))
    } else {
        2.0 * each
    };
    let standard_error = variance.sqrt();
    Ok(TwoRuns {
        pieces,
        log_ratio: own.log_mean - other.log_mean,
        standard_error,
        degrees_of_freedom,
        half95: student_t_quantile(0.975, degrees_of_freedom) * standard_error,
    })
}

/// One run: the log of its mean, and the variance of that.
struct Side {
    log_mean: f64,
    variance: f64,
}

impl Side {
    fn of(series: &[f64], pieces: usize) -> Result<Side, Error> {
        let means = means_of_pieces(series, pieces)?;
        let mean = mean_of_checked(&means);
        if mean <= 0.0 {
            return Err(Error::NotFinite { index: 0, value: mean.ln() });
        }
        let spread = variance_of_checked(&means).expect("there are ten pieces or more");
        Ok(Side { log_mean: mean.ln(), variance: spread / (pieces as f64 * mean.powi(2)) })
    }
}

/// Means of `pieces` consecutive pieces, as nearly equal in length as whole intervals allow; nothing is left out.
fn means_of_pieces(series: &[f64], pieces: usize) -> Result<Vec<f64>, Error> {
    check_values(series)?;
    if series.len() < pieces {
        return Err(Error::TooFewValues { values: series.len(), needed: pieces });
    }
    let border = |piece: usize| piece * series.len() / pieces;
    Ok((0..pieces).map(|piece| mean_of_checked(&series[border(piece)..border(piece + 1)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_leave_nothing_out() {
        let series = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0];
        assert_eq!(means_of_pieces(&series, 3).unwrap(), [2.0, 6.0, 11.0]);
        assert_eq!(means_of_pieces(&series, 7).unwrap(), series);
        assert!(means_of_pieces(&series, 8).is_err());
    }

    #[test]
    fn is_welch_on_pieces() {
        // Ten pieces of one: means 5.5 and 11, variance of the mean 55/6/10 each side of its own scale.
        let base: Vec<f64> = (1..=10).map(f64::from).collect();
        let double: Vec<f64> = base.iter().map(|rate| 2.0 * rate).collect();
        let found = two_runs(&double, &base).unwrap();
        let relative = (55.0f64 / 6.0 / 10.0).sqrt() / 5.5;
        assert_eq!(found.pieces, 10);
        assert!((found.log_ratio - 2f64.ln()).abs() < 1e-14);
        assert!((found.standard_error - 2f64.sqrt() * relative).abs() < 1e-14);
        assert!((found.degrees_of_freedom - 18.0).abs() < 1e-9);
        assert!((found.half95 - 2.100_922 * found.standard_error).abs() < 1e-5);
    }

    #[test]
    fn the_noisier_run_rules_the_degrees_of_freedom() {
        let noisy: Vec<f64> = (0..40).map(|n| f64::from(10 + n % 7)).collect();
        let found = two_runs(&noisy, &[10.0; 60]).unwrap();
        assert!((found.degrees_of_freedom - 9.0).abs() < 1e-9, "{found:?}");
        assert_eq!(two_runs(&[3.0; 200], &[3.0; 90]).unwrap().pieces, 18);
        assert_eq!(
            two_runs(&[3.0; 999], &[3.0; 900]).unwrap(),
            TwoRuns { pieces: 20, log_ratio: 0.0, standard_error: 0.0, degrees_of_freedom: 38.0, half95: 0.0 }
        );
    }

    #[test]
    fn a_piece_without_anything_is_a_piece() {
        let mut stalled = [100.0; 50];
        stalled[10..15].fill(0.0);
        let found = two_runs(&stalled, &[100.0; 50]).unwrap();
        assert!((found.log_ratio - 0.9f64.ln()).abs() < 1e-12 && found.half95 > 0.2, "{found:?}");
    }

    #[test]
    fn nothing_is_made_of_too_little() {
        let needed = Error::TooFewValues { values: 9, needed: 10 };
        assert_eq!(two_runs(&[1.0; 9], &[1.0; 60]), Err(needed));
        assert!(two_runs(&[0.0; 30], &[1.0; 30]).is_err());
        assert_eq!(two_runs(&[], &[]), Err(Error::Empty));
    }
}
