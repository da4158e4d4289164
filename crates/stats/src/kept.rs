//! What an earlier A/A on the same host says of the noise of a cell.
//!
//! In: the variance of starts that it showed of the cell's test, and how the campaign's other cells spread, each beside
//! what was shown of its own test. Out: a [`Floor`], where the campaign agrees: noise of another day is not noise of
//! this one, unless the cells that are not judged by it say so. The cell's own rounds must not be among them.

use crate::floor::Floor;
use crate::prior::{Spread, log_variance};

/// Weight of what was kept, in degrees of freedom.
pub const KEPT_DEGREES_OF_FREEDOM: f64 = 2.0;

/// Other cells that it takes to say whether a campaign agrees.
const FEWEST_CELLS: usize = 3;

/// It agrees if its variances are within this factor of those kept, as a geometric mean.
const AGREES: f64 = 1.5;

/// What was shown of a test, as variances of a round's log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// That servers' starts account for.
    pub starts: f64,
    /// Degrees of freedom that it was measured with.
    pub degrees_of_freedom: f64,
}

impl Kept {
    /// Of rounds whose log ratios have this standard deviation, of which slices explain a standard error.
    pub fn of_rounds(sd: f64, slice_se: f64, rounds: u32) -> Kept {
        let starts = (sd.powi(2) - slice_se.powi(2)).max(0.0);
        Kept { starts, degrees_of_freedom: f64::from(rounds) - 1.0 }
    }

    /// The floor of a cell whose slices account for the variance `slices` of its rounds.
    pub fn floor(&self, slices: f64) -> Option<Floor> {
        let weight = self.degrees_of_freedom.min(KEPT_DEGREES_OF_FREEDOM);
        Floor::with_degrees_of_freedom((self.starts + slices).sqrt(), weight).ok()
    }
}

/// Whether cells spread as was shown of their tests.
pub fn agree(cells: &[(Spread, Kept)]) -> bool {
    let log_ratio = |(cell, kept): &(Spread, Kept)| {
        let expected = kept.starts + cell.slices;
        (cell.variance > 0.0 && cell.degrees_of_freedom > 0.0 && expected > 0.0)
            .then(|| log_variance(cell) - expected.ln())
    };
    let ratios: Vec<f64> = cells.iter().filter_map(log_ratio).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    ratios.len() >= FEWEST_CELLS && mean.abs() <= AGREES.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::digamma;

    /// A cell whose sample variance is what is usual of this variance.
    fn cell(variance: f64, slices: f64) -> Spread {
        let degrees_of_freedom: f64 = 5.0;
        let half = 0.5 * degrees_of_freedom;
        Spread { variance: variance * (digamma(half) - half.ln()).exp(), degrees_of_freedom, slices }
    }

    #[test]
    fn starts_are_kept_and_slices_are_those_of_today() {
        let kept = Kept::of_rounds(0.005, 0.004, 12);
        let floor = kept.floor(16e-6).unwrap();
        assert!((floor.sd() - 0.005).abs() < 1e-12);
        assert_eq!(floor.degrees_of_freedom(), KEPT_DEGREES_OF_FREEDOM);
        assert!((kept.floor(0.0).unwrap().sd() - 0.003).abs() < 1e-12);
        assert_eq!(Kept::of_rounds(0.005, 0.004, 2).floor(0.0).unwrap().degrees_of_freedom(), 1.0);
        assert_eq!(Kept::of_rounds(0.004, 0.005, 12).floor(0.0), None, "no floor of nothing");
    }

    #[test]
    fn a_noisier_or_quieter_campaign_does_not_agree() {
        let kept = Kept { starts: 1e-4, degrees_of_freedom: 11.0 };
        let all = |times: f64| vec![(cell(times * 2e-4, 1e-4), kept); 8];
        assert!(agree(&all(1.0)) && agree(&all(1.4)) && agree(&all(0.7)));
        assert!(!agree(&all(1.6)) && !agree(&all(0.6)));
        assert!(!agree(&all(1.0)[..2]) && !agree(&[]), "too few to say");
    }
}
