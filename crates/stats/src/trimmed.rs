//! A mean that a few spoilt cycles cannot move.
//!
//! In: the log ratios of the cycles of one round (slices of a build against those of the
//! base). Out: their trimmed mean, which becomes the round's one number, and a standard
//! error from the winsorized variance. That error takes cycles as independent and knows
//! nothing of restarts, so it judges the round's quality and never a verdict.

use crate::error::{Error, check_values};
use crate::summary::{mean_of_checked, sorted, variance_of_checked};

/// Share of the cycles left out at each end.
pub const DEFAULT_TRIM: f64 = 0.2;

/// A trimmed mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    /// Values given.
    pub n: usize,
    /// Values that were averaged.
    pub kept: usize,
    /// Mean of the kept values.
    pub mean: f64,
    /// Standard error; `None` when fewer than two values were kept.
    pub standard_error: Option<f64>,
}

impl TrimmedMean {
    /// Degrees of freedom of the standard error.
    pub fn degrees_of_freedom(&self) -> f64 {
        (self.kept - 1) as f64
    }
}

/// Leaves out the lowest and the highest `fraction` (below one half) of the values, rounded
/// down to whole values, and averages the rest. The standard error is that of Yuen (1974):
/// the values left out are pulled in to the nearest kept ones, not forgotten.
pub fn trimmed_mean(values: &[f64], fraction: f64) -> Result<TrimmedMean, Error> {
    check_values(values)?;
    if !(0.0..0.5).contains(&fraction) {
        return Err(Error::Fraction { fraction, limit: 0.5 });
    }
    let mut values = sorted(values);
    let n = values.len();
    let cut = (fraction * n as f64).floor() as usize;
    let kept = n - 2 * cut;
    let mean = mean_of_checked(&values[cut..n - cut]);
    let (lowest, highest) = (values[cut], values[n - cut - 1]);
    values[..cut].fill(lowest);
    values[n - cut..].fill(highest);
    let standard_error = variance_of_checked(&values).filter(|_| kept > 1).map(|winsorized| {
        let kept = kept as f64;
        ((n - 1) as f64 * winsorized / (kept * (kept - 1.0))).sqrt()
    });
    Ok(TrimmedMean { n, kept, mean, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::Paired;
    use proptest::prelude::*;

    /// Wilcox, Introduction to Robust Estimation: the self-awareness data of Dana (1990),
    /// 20 % trimmed mean 283, winsorized variance 21,551.4.
    #[test]
    fn reproduces_a_textbook_example() {
        let seconds = [
            77.0, 87.0, 88.0, 114.0, 151.0, 210.0, 219.0, 246.0, 253.0, 262.0, 296.0, 299.0, 306.0, 376.0, 428.0,
            515.0, 666.0, 1310.0, 2611.0,
        ];
        let trimmed = trimmed_mean(&seconds, DEFAULT_TRIM).unwrap();
        assert_eq!((trimmed.n, trimmed.kept), (19, 13));
        assert!((trimmed.mean - 3675.0 / 13.0).abs() < 1e-12);
        let standard_error = trimmed.standard_error.unwrap();
        let winsorized = standard_error.powi(2) * 13.0 * 12.0 / 18.0;
        assert!((winsorized - 21_551.4).abs() < 0.1, "{winsorized}");
    }

    #[test]
    fn small_samples_say_what_they_do_not_know() {
        assert_eq!(trimmed_mean(&[0.3], DEFAULT_TRIM).unwrap().standard_error, None);
        assert_eq!(trimmed_mean(&[1.0, 2.0, 3.0], 0.4).unwrap().standard_error, None);
        assert_eq!(trimmed_mean(&[], DEFAULT_TRIM), Err(Error::Empty));
        assert_eq!(trimmed_mean(&[1.0], 0.5), Err(Error::Fraction { fraction: 0.5, limit: 0.5 }));
    }

    proptest! {
        #[test]
        fn without_trimming_it_is_the_plain_mean(values in prop::collection::vec(-1.0..1.0f64, 2..40)) {
            let trimmed = trimmed_mean(&values, 0.0).unwrap();
            let plain = Paired::new(&values).unwrap().plain().unwrap();
            prop_assert!((trimmed.mean - plain.mean).abs() < 1e-14);
            prop_assert!((trimmed.standard_error.unwrap() - plain.standard_error).abs() < 1e-14);
        }

        #[test]
        fn a_fifth_of_the_cycles_cannot_move_it_out_of_the_rest(
            values in prop::collection::vec(-0.1..0.1f64, 10..60), spoilt in -1e6..1e6f64,
        ) {
            let mut values = values;
            let bad = values.len() / 5;
            values[..bad].fill(spoilt);
            let trimmed = trimmed_mean(&values, DEFAULT_TRIM).unwrap();
            prop_assert!(trimmed.mean.abs() <= 0.1);
        }
    }
}
