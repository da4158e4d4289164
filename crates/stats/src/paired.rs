//! From one log ratio per round to an estimate with its intervals.
//!
//! In: log(QPS(version) / QPS(base)), one number per round, and perhaps a noise floor.
//! Out: [`Paired`], which describes and always exists, and [`Estimate`], which infers and
//! exists from two rounds on. A verdict is made from an [`Estimate`] only, so that a single
//! round cannot be judged by mistake. Rounds are the replicates: slices, turns, seconds
//! and sessions inside a round must have been condensed before.

use crate::distribution::{student_t_quantile, student_t_two_sided_p};
use crate::error::{Error, check_values};
use crate::floor::Floor;
use crate::looks::Levels;
use crate::summary::{mean_of_checked, sorted, variance_of_checked};

/// The log ratios of a cell, described.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Number of rounds.
    pub n: usize,
    /// Mean log ratio; its exponential is rQPS, the geometric mean of the rounds' ratios.
    pub mean: f64,
    /// Median log ratio.
    pub median: f64,
    /// Standard deviation of one round's log ratio; `None` for a single round.
    pub sd: Option<f64>,
}

impl Paired {
    /// Describes the log ratios of the rounds, in any order.
    pub fn new(log_ratios: &[f64]) -> Result<Self, Error> {
        check_values(log_ratios)?;
        // Sorted first, so that the order of rounds cannot change the last digit of a sum.
        let sorted = sorted(log_ratios);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) };
        Ok(Self {
            n: sorted.len(),
            mean: mean_of_checked(&sorted),
            median,
            sd: variance_of_checked(&sorted).map(f64::sqrt),
        })
    }

    /// Student's paired t from the cell's own rounds; `None` for a single round.
    pub fn plain(&self) -> Option<Estimate> {
        Some(self.infer(self.sd?, (self.n - 1) as f64))
    }

    /// The t with the cell's variance moderated by the floor's: `None` for a single round,
    /// which a floor does not turn into a replicate.
    pub fn moderated(&self, floor: &Floor) -> Option<Estimate> {
        let own = (self.n - 1) as f64;
        let prior = floor.degrees_of_freedom();
        let squares = prior * floor.sd().powi(2) + own * self.sd?.powi(2);
        Some(self.infer((squares / (prior + own)).sqrt(), prior + own))
    }

    /// Moderated where a floor is known, plain where not.
    pub fn estimate(&self, floor: Option<&Floor>) -> Option<Estimate> {
        floor.map_or_else(|| self.plain(), |floor| self.moderated(floor))
    }

    fn infer(&self, sd: f64, degrees_of_freedom: f64) -> Estimate {
        let standard_error = sd / (self.n as f64).sqrt();
        let estimate = Estimate {
            n: self.n,
            mean: self.mean,
            sd,
            median: self.median,
            standard_error,
            degrees_of_freedom,
            levels: Levels::ONCE,
            p_value: student_t_two_sided_p(t_statistic(self.mean, standard_error), degrees_of_freedom),
            low95: self.mean,
            high95: self.mean,
            low90: self.mean,
            high90: self.mean,
            skewed: false,
        };
        estimate.with_intervals()
    }
}

/// The mean log ratio of a cell and how sure it is. All but `n`, the degrees of freedom and
/// the p-value are on the log scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Number of rounds.
    pub n: usize,
    /// Mean log ratio.
    pub mean: f64,
    /// Standard deviation of one round, moderated if a floor was used.
    pub sd: f64,
    /// Median log ratio.
    pub median: f64,
    /// Standard error of the mean, `sd` / √n.
    pub standard_error: f64,
    /// Degrees of freedom of `sd`, the floor's included.
    pub degrees_of_freedom: f64,
    /// Levels of the intervals: those of a single look, or of the last of several.
    pub levels: Levels,
    /// Two-sided p-value of "no change", raised as far as looks before lower the level.
    pub p_value: f64,
    /// Lower end of the 95 % interval, which holds at all looks together.
    pub low95: f64,
    /// Upper end of the 95 % interval.
    pub high95: f64,
    /// Lower end of the 90 % interval, the one that decides on "equal".
    pub low90: f64,
    /// Upper end of the 90 % interval.
    pub high90: f64,
    /// Mean and median are further apart than half the width of the 95 % interval.
    pub skewed: bool,
}

impl Estimate {
    /// As the last of several looks at it sees it: with wider intervals, so that all looks together err as often as a
    /// single one would.
    #[must_use]
    pub fn seen_at(self, levels: Levels) -> Estimate {
        let p_value = (self.p_value * (self.levels.change / levels.change)).min(1.0);
        Estimate { levels, p_value, ..self }.with_intervals()
    }

    fn with_intervals(self) -> Estimate {
        let half = |level: f64| student_t_quantile(1.0 - 0.5 * level, self.degrees_of_freedom) * self.standard_error;
        let (half95, half90) = (half(self.levels.change), half(self.levels.equal));
        Estimate {
            low95: self.mean - half95,
            high95: self.mean + half95,
            low90: self.mean - half90,
            high90: self.mean + half90,
            skewed: (self.mean - self.median).abs() > half95,
            ..self
        }
    }

    /// Mean over its standard error; infinite where the rounds agree to the last bit on a change.
    pub fn t(&self) -> f64 {
        t_statistic(self.mean, self.standard_error)
    }

    /// rQPS, the geometric mean of the rounds' ratios.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The 95 % interval of rQPS.
    pub fn ratio95(&self) -> (f64, f64) {
        (self.low95.exp(), self.high95.exp())
    }
}

/// Rounds that agree exactly leave 0 / 0, which is no evidence of a change rather than a NaN.
fn t_statistic(mean: f64, standard_error: f64) -> f64 {
    if mean == 0.0 { 0.0 } else { mean / standard_error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

    /// Student (1908), gain in hours of sleep, as R's `t.test` prints it today.
    #[test]
    fn reproduces_students_own_example() {
        let estimate = Paired::new(&SLEEP).unwrap().plain().unwrap();
        assert!((estimate.mean - 1.58).abs() < 1e-12);
        assert!((estimate.t() - 4.0621).abs() < 5e-5);
        assert!((estimate.p_value - 0.002_833).abs() < 5e-7);
        assert!((estimate.low95 - 0.700_114_2).abs() < 5e-8);
        assert!((estimate.high95 - 2.459_885_8).abs() < 5e-8);
        assert_eq!((estimate.median, estimate.degrees_of_freedom, estimate.skewed), (1.3, 9.0, false));
    }

    #[test]
    fn a_single_round_is_described_but_never_judged() {
        let single = Paired::new(&[-0.3]).unwrap();
        assert_eq!(single, Paired { n: 1, mean: -0.3, median: -0.3, sd: None });
        assert_eq!(single.plain(), None);
        assert_eq!(single.moderated(&Floor::new(0.01).unwrap()), None);
        assert_eq!(Paired::new(&[]), Err(Error::Empty));
        assert!(matches!(Paired::new(&[0.0, f64::NEG_INFINITY]), Err(Error::NotFinite { index: 1, .. })));
    }

    #[test]
    fn rounds_that_agree_exactly_give_numbers_not_nan() {
        let same = Paired::new(&[0.0, 0.0, 0.0]).unwrap().plain().unwrap();
        assert_eq!((same.p_value, same.t(), same.low95, same.high95), (1.0, 0.0, 0.0, 0.0));
        let moved = Paired::new(&[0.25, 0.25]).unwrap().plain().unwrap();
        assert_eq!((moved.p_value, moved.t(), moved.low95), (0.0, f64::INFINITY, 0.25));
    }

    #[test]
    fn the_last_of_several_looks_has_wider_intervals_and_agrees_with_its_p_value() {
        let once = Paired::new(&SLEEP).unwrap().plain().unwrap();
        assert_eq!(once.seen_at(Levels::ONCE), once);
        let levels = Levels { change: 0.002, equal: 0.01 };
        let seen = once.seen_at(levels);
        // The two-sided p of this example is 0.00283: below 0.05, above 0.002.
        assert!(once.low95 > 0.0 && seen.low95 < 0.0 && seen.p_value > 0.05, "{seen:?}");
        assert!((seen.p_value - once.p_value * 25.0).abs() < 1e-12);
        assert!(seen.high90 < seen.high95 && seen.high90 > once.high90);
        assert!(seen.mde80().log > once.mde80().log);
    }

    #[test]
    fn one_bad_round_of_ten_raises_skewed() {
        let mut rounds = [0.001, -0.001, 0.002, -0.002, 0.0, 0.001, -0.001, 0.0005, -0.0005, 0.0];
        assert!(!Paired::new(&rounds).unwrap().plain().unwrap().skewed);
        rounds[3] = -0.2;
        let floor = Floor::new(0.002).unwrap();
        assert!(Paired::new(&rounds).unwrap().moderated(&floor).is_some_and(|e| !e.skewed));
        // The bad round widens the interval too: of ten rounds it takes three to be seen.
        rounds[4] = -0.2;
        rounds[5] = -0.2;
        assert!(Paired::new(&rounds).unwrap().moderated(&floor).is_some_and(|e| e.skewed));
    }

    proptest! {
        #[test]
        fn order_of_rounds_is_irrelevant(rounds in prop::collection::vec(-0.5..0.5f64, 1..20), turn in 0usize..20) {
            let mut turned = rounds.clone();
            turned.rotate_left(turn % rounds.len());
            turned.reverse();
            prop_assert_eq!(Paired::new(&rounds).unwrap(), Paired::new(&turned).unwrap());
        }

        #[test]
        fn exchanging_version_and_base_flips_the_sign(rounds in prop::collection::vec(-0.5..0.5f64, 2..20)) {
            let there = Paired::new(&rounds).unwrap().plain().unwrap();
            let flipped: Vec<f64> = rounds.iter().map(|x| -x).collect();
            let back = Paired::new(&flipped).unwrap().plain().unwrap();
            prop_assert!((there.mean + back.mean).abs() < 1e-14);
            prop_assert!((there.low95 + back.high95).abs() < 1e-12);
            prop_assert!((there.high90 + back.low90).abs() < 1e-12);
            prop_assert!((there.p_value - back.p_value).abs() < 1e-9);
            prop_assert_eq!(there.skewed, back.skewed);
        }

        #[test]
        fn p_value_and_interval_agree(rounds in prop::collection::vec(-0.02..0.03f64, 2..12), sd in 0.001..0.05f64) {
            let paired = Paired::new(&rounds).unwrap();
            let moderated = paired.moderated(&Floor::new(sd).unwrap()).unwrap();
            for estimate in [paired.plain().unwrap(), moderated] {
                let excludes_zero = estimate.low95 > 0.0 || estimate.high95 < 0.0;
                prop_assert!(excludes_zero == (estimate.p_value < 0.05) || (estimate.p_value - 0.05).abs() < 1e-9);
                prop_assert!(estimate.low95 <= estimate.low90 && estimate.high90 <= estimate.high95);
            }
            let own = paired.sd.unwrap();
            prop_assert!(moderated.sd >= own.min(sd) - 1e-12 && moderated.sd <= own.max(sd) + 1e-12);
        }
    }
}
