//! Location and spread of a handful of numbers.
//!
//! In: a slice. Out: mean, sample variance, median, quantile. No inference: nothing here
//! says how sure a number is. Empty and non-finite input is an error, never a NaN.

use crate::error::{Error, check_values};

/// Arithmetic mean.
pub fn mean(values: &[f64]) -> Result<f64, Error> {
    check_values(values)?;
    Ok(mean_of_checked(values))
}

/// Sample variance (divisor n - 1); `None` for a single value, which has no spread.
pub fn sample_variance(values: &[f64]) -> Result<Option<f64>, Error> {
    check_values(values)?;
    Ok(variance_of_checked(values))
}

/// Median; the mean of the two middle values when their number is even.
pub fn median(values: &[f64]) -> Result<f64, Error> {
    quantile(values, 0.5)
}

/// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
pub fn quantile(values: &[f64], fraction: f64) -> Result<f64, Error> {
    check_values(values)?;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::Fraction { fraction, limit: 1.0 });
    }
    let sorted = sorted(values);
    let position = fraction * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    let weight = position - below as f64;
    Ok(sorted[below] + weight * (sorted[above] - sorted[below]))
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

pub(crate) fn mean_of_checked(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn variance_of_checked(values: &[f64]) -> Option<f64> {
    let degrees_of_freedom = values.len().checked_sub(1).filter(|&d| d > 0)?;
    let mean = mean_of_checked(values);
    // Two passes: the log ratios are small differences around a mean that may be large.
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(squares / degrees_of_freedom as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let check = |values: &[f64], fraction: f64, expected: f64| {
            let got = quantile(values, fraction).unwrap();
            assert!((got - expected).abs() < 1e-12, "{fraction} of {values:?}: {got}");
        };
        check(&[3.0], 0.3, 3.0);
        check(&[4.0, 1.0, 3.0, 2.0], 0.0, 1.0);
        check(&[4.0, 1.0, 3.0, 2.0], 0.25, 1.75);
        check(&[4.0, 1.0, 3.0, 2.0], 0.5, 2.5);
        check(&[4.0, 1.0, 3.0, 2.0], 1.0, 4.0);
        check(&[5.0, 1.0, 3.0], 0.5, 3.0);
    }

    #[test]
    fn a_single_value_has_no_variance() {
        assert_eq!(sample_variance(&[2.0]), Ok(None));
        assert_eq!(sample_variance(&[1.0, 3.0]), Ok(Some(2.0)));
        assert_eq!(mean(&[1.0, 3.0]), Ok(2.0));
    }

    #[test]
    fn refuses_what_has_no_answer() {
        assert_eq!(median(&[]), Err(Error::Empty));
        assert_eq!(quantile(&[1.0], 1.5), Err(Error::Fraction { fraction: 1.5, limit: 1.0 }));
        assert!(matches!(mean(&[f64::NAN]), Err(Error::NotFinite { index: 0, .. })));
    }
}
