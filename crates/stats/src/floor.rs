//! The noise floor: how much two runs of the very same build differ on a test.
//!
//! In: log ratios of A/A pairs, or a standard deviation known from earlier. Out: a
//! [`Floor`] that lends a cell with few rounds some degrees of freedom (Smyth 2004). It
//! must not be estimated from the comparison that it is then used to judge.

use crate::error::{Error, check_values};
use crate::summary::variance_of_checked;

/// Weight of a floor, in rounds it counts for. More would be more powerful and less safe:
/// at 10, a floor that is 30 % too low doubles the rate of false changes.
pub const DEFAULT_FLOOR_DEGREES_OF_FREEDOM: f64 = 4.0;

/// Expected standard deviation of one round's log ratio where nothing changed, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    sd: f64,
    degrees_of_freedom: f64,
}

impl Floor {
    /// A floor of `sd` with the default weight of 4 degrees of freedom.
    pub fn new(sd: f64) -> Result<Self, Error> {
        Self::with_degrees_of_freedom(sd, DEFAULT_FLOOR_DEGREES_OF_FREEDOM)
    }

    /// A floor of `sd` that weighs as much as `degrees_of_freedom` of the cell's own.
    pub fn with_degrees_of_freedom(sd: f64, degrees_of_freedom: f64) -> Result<Self, Error> {
        if !(sd.is_finite() && sd > 0.0) {
            return Err(Error::FloorSd { sd });
        }
        if !(degrees_of_freedom.is_finite() && degrees_of_freedom > 0.0) {
            return Err(Error::FloorDegreesOfFreedom { degrees_of_freedom });
        }
        Ok(Self { sd, degrees_of_freedom })
    }

    /// What two floors say together: variances weighed by their degrees of freedom, and no more weight than the
    /// default.
    pub fn joined(self, other: Floor) -> Floor {
        let weight = self.degrees_of_freedom + other.degrees_of_freedom;
        let squares = self.degrees_of_freedom * self.sd.powi(2) + other.degrees_of_freedom * other.sd.powi(2);
        Floor { sd: (squares / weight).sqrt(), degrees_of_freedom: weight.min(DEFAULT_FLOOR_DEGREES_OF_FREEDOM) }
    }

    /// Standard deviation of one round's log ratio.
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// Weight, in degrees of freedom.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }
}

/// What A/A pairs say of the noise, before it is weighed down to a [`Floor`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorEstimate {
    /// Root of the mean variance within the pairs, weighted by their degrees of freedom.
    pub sd: f64,
    /// Degrees of freedom of that mean: rounds minus one, summed over pairs.
    pub degrees_of_freedom: f64,
    /// Pairs with at least two rounds.
    pub pairs: usize,
}

impl FloorEstimate {
    /// The floor to judge cells by; it never weighs more than what it was measured with.
    pub fn floor(&self) -> Floor {
        Floor { sd: self.sd, degrees_of_freedom: self.degrees_of_freedom.min(DEFAULT_FLOOR_DEGREES_OF_FREEDOM) }
    }
}

/// Pools the noise of A/A pairs of one test: per pair its log ratios by round.
///
/// Each pair's own mean is taken out, since two copies of the data may differ for good;
/// pairs of one round say nothing and are passed over.
pub fn pooled_floor(pairs: &[&[f64]]) -> Result<FloorEstimate, Error> {
    let (mut squares, mut degrees_of_freedom, mut counted) = (0.0, 0.0, 0);
    for log_ratios in pairs {
        check_values(log_ratios)?;
        if let Some(variance) = variance_of_checked(log_ratios) {
            let own = (log_ratios.len() - 1) as f64;
            squares += own * variance;
            degrees_of_freedom += own;
            counted += 1;
        }
    }
    if squares <= 0.0 {
        return Err(Error::FloorWithoutNoise { pairs: pairs.len() });
    }
    Ok(FloorEstimate { sd: (squares / degrees_of_freedom).sqrt(), degrees_of_freedom, pairs: counted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_by_degrees_of_freedom() {
        // Variances 2 (1 df) and 1 (2 df), whatever the means; the single round is passed over.
        let estimate = pooled_floor(&[&[1.0, 3.0], &[10.0, 11.0, 12.0], &[5.0]]).unwrap();
        assert!((estimate.sd.powi(2) - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!((estimate.degrees_of_freedom, estimate.pairs), (3.0, 2));
        assert_eq!(estimate.floor().degrees_of_freedom(), 3.0);
    }

    #[test]
    fn a_long_calibration_still_weighs_four() {
        let rounds: Vec<f64> = (0..60).map(|i| f64::from(i % 2) * 0.01).collect();
        let floor = pooled_floor(&[&rounds]).unwrap().floor();
        assert_eq!(floor.degrees_of_freedom(), DEFAULT_FLOOR_DEGREES_OF_FREEDOM);
    }

    #[test]
    fn floors_are_joined_by_their_weight() {
        let of = |sd, weight| Floor::with_degrees_of_freedom(sd, weight).unwrap();
        let joined = of(0.01, 1.0).joined(of(0.02, 2.0));
        assert!((joined.sd().powi(2) - 3e-4).abs() < 1e-15);
        assert_eq!(joined.degrees_of_freedom(), 3.0);
        assert_eq!(joined.joined(of(0.02, 3.0)).degrees_of_freedom(), DEFAULT_FLOOR_DEGREES_OF_FREEDOM);
    }

    #[test]
    fn refuses_floors_that_are_none() {
        assert_eq!(pooled_floor(&[&[0.1], &[0.2]]), Err(Error::FloorWithoutNoise { pairs: 2 }));
        assert_eq!(pooled_floor(&[&[0.1, 0.1]]), Err(Error::FloorWithoutNoise { pairs: 1 }));
        assert_eq!(pooled_floor(&[&[]]), Err(Error::Empty));
        assert_eq!(Floor::new(0.0), Err(Error::FloorSd { sd: 0.0 }));
        assert!(Floor::new(f64::NAN).is_err());
        assert!(Floor::with_degrees_of_freedom(0.01, -1.0).is_err());
    }
}
