//! What these rounds could have seen, and how many more would be needed.
//!
//! In: standard error, degrees of freedom, or the noise of one round and a change to be
//! seen. Out: the minimal detectable effect and a number of rounds. Both speak of the
//! two-sided 5 % test of the plain or moderated t, and both take the noise as known: they
//! are forecasts, not tests, and must not decide a verdict.

use crate::distribution::{normal_quantile, student_t_quantile};
use crate::looks::Levels;
use crate::noncentral_t::upper_tail_and_slope;
use crate::paired::Estimate;

/// Probability with which a minimal detectable effect is found.
pub const DEFAULT_POWER: f64 = 0.8;

/// More rounds than anyone runs: beyond this the answer is "not with this noise".
const MOST_ROUNDS: usize = 1 << 20;

/// The smallest change that is found with the stated power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mde {
    /// As a log ratio, always positive.
    pub log: f64,
}

impl Mde {
    /// As a gain, exp(log) - 1: the larger of the two fractions, so that any change of at
    /// least this size, up or down, is found with at least the stated power.
    pub fn fraction(&self) -> f64 {
        self.log.exp_m1()
    }
}

impl Estimate {
    /// The change that this estimate would have shown with 80 % probability. One that is seen more than once shows less
    /// by as much as its interval is wider.
    pub fn mde80(&self) -> Mde {
        let once = mde80(self.standard_error, self.degrees_of_freedom).log;
        Mde { log: once + (self.high95 - self.mean) - half_width(self.standard_error, self.degrees_of_freedom) }
    }
}

/// Half of the 95 % interval of a single look.
fn half_width(standard_error: f64, degrees_of_freedom: f64) -> f64 {
    student_t_quantile(0.975, degrees_of_freedom) * standard_error
}

/// The change found with 80 % probability by the two-sided 5 % test.
pub fn mde80(standard_error: f64, degrees_of_freedom: f64) -> Mde {
    minimal_detectable_effect(standard_error, degrees_of_freedom, DEFAULT_POWER)
}

/// The change found with probability `power` (between 0.025 and 1) by the two-sided 5 %
/// test: the d with P(T'(d / standard error) > t(0.975)) = power, T' noncentral t.
pub fn minimal_detectable_effect(standard_error: f64, degrees_of_freedom: f64, power: f64) -> Mde {
    Mde { log: standard_error * detectable_noncentrality(degrees_of_freedom, power) }
}

/// The smallest number of rounds, at least two, whose [`mde80`] is within `target_log`,
/// when one round has standard deviation `sd` and a floor contributes
/// `prior_degrees_of_freedom` (0 without one). `None` if a million rounds would not do.
pub fn rounds_needed(sd: f64, prior_degrees_of_freedom: f64, target_log: f64) -> Option<usize> {
    rounds_until(|n| mde_of(sd, prior_degrees_of_freedom, n) <= target_log.abs())
}

/// The same where they are added to rounds whose results are known, so that the intervals are those of
/// [`Levels::always_valid`]. Some twice as many.
pub fn rounds_needed_in_all(sd: f64, prior_degrees_of_freedom: f64, target_log: f64) -> Option<usize> {
    let detectable = |n: usize| {
        let standard_error = sd / (n as f64).sqrt();
        let degrees_of_freedom = prior_degrees_of_freedom + (n - 1) as f64;
        let half = |level: f64| student_t_quantile(1.0 - 0.5 * level, degrees_of_freedom) * standard_error;
        let wider = half(Levels::always_valid(n).change) - half(Levels::ONCE.change);
        mde_of(sd, prior_degrees_of_freedom, n) + wider
    };
    rounds_until(|n| detectable(n) <= target_log.abs())
}

/// The [`mde80`] of so many rounds.
fn mde_of(sd: f64, prior_degrees_of_freedom: f64, n: usize) -> f64 {
    mde80(sd / (n as f64).sqrt(), prior_degrees_of_freedom + (n - 1) as f64).log
}

/// The first number of rounds that is enough; more always are.
fn rounds_until(enough: impl Fn(usize) -> bool) -> Option<usize> {
    let mut above = 2;
    while !enough(above) {
        if above >= MOST_ROUNDS {
            return None;
        }
        above *= 2;
    }
    // Too few below, enough above: the detectable effect falls with every round.
    let mut below = above / 2;
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if enough(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    Some(above)
}

/// The noncentrality at which the upper one of two 2.5 % tails rejects with `power`.
fn detectable_noncentrality(degrees_of_freedom: f64, power: f64) -> f64 {
    let critical = student_t_quantile(0.975, degrees_of_freedom);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut noncentrality = (critical + normal_quantile(power)).max(0.1);
    for _ in 0..100 {
        let (tail, slope) = upper_tail_and_slope(critical, degrees_of_freedom, noncentrality);
        if tail < power {
            low = noncentrality;
        } else {
            high = noncentrality;
        }
        let newton = noncentrality + (power - tail) / slope;
        // Power rises with the change but not convexly; where Newton leaves the bracket, bisect.
        let next = match (newton > low && newton < high, high.is_finite()) {
            (true, _) => newton,
            (false, true) => 0.5 * (low + high),
            (false, false) => 2.0 * noncentrality,
        };
        if (next - noncentrality).abs() <= 1e-12 * next {
            return next;
        }
        noncentrality = next;
    }
    noncentrality
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::noncentral_t_upper_tail;
    use crate::paired::Paired;
    use proptest::prelude::*;

    #[test]
    fn power_at_the_effect_is_what_was_asked() {
        for degrees_of_freedom in [1.0, 2.0, 7.0, 13.0, 200.0] {
            for power in [0.03, 0.5, 0.8, 0.99] {
                let effect = minimal_detectable_effect(0.01, degrees_of_freedom, power).log;
                let critical = student_t_quantile(0.975, degrees_of_freedom);
                let reached = noncentral_t_upper_tail(critical, degrees_of_freedom, effect / 0.01);
                assert!((reached - power).abs() < 1e-10, "df {degrees_of_freedom} power {power}: {reached}");
            }
        }
    }

    #[test]
    fn fractions_are_both_ways() {
        let mde = Mde { log: 1.02f64.ln() };
        assert!((mde.fraction() - 0.02).abs() < 1e-15);
    }

    /// R's `power.t.test(delta = 0.8, sd = 1, power = 0.8, type = "paired")` asks for
    /// 14.3028 pairs; dz = 0.5 takes 34 (G*Power's standard example).
    #[test]
    fn rounds_needed_reproduces_published_sample_sizes() {
        assert_eq!(rounds_needed(1.0, 0.0, 0.8), Some(15));
        assert_eq!(rounds_needed(1.0, 0.0, -0.5), Some(34));
        assert_eq!(rounds_needed(1.0, 0.0, 100.0), Some(2));
        assert_eq!(rounds_needed(1.0, 0.0, 0.0), None);
        assert_eq!(rounds_needed(1.0, 0.0, 1e-6), None);
    }

    #[test]
    fn rounds_that_are_added_are_enough_for_wider_intervals() {
        let seen = |n: usize| {
            let paired = Paired { n, mean: 0.0, median: 0.0, sd: Some(0.01) };
            paired.plain().unwrap().seen_at(Levels::always_valid(n)).mde80().log
        };
        let (anew, in_all) = (rounds_needed(0.01, 0.0, 0.01).unwrap(), rounds_needed_in_all(0.01, 0.0, 0.01).unwrap());
        assert!(seen(in_all) <= 0.01 && seen(in_all - 1) > 0.01, "{in_all}: {}", seen(in_all));
        assert!((anew + anew / 2..=3 * anew).contains(&in_all), "{in_all} and {anew}");
    }

    proptest! {
        /// Slow reference: count up from two.
        #[test]
        fn rounds_needed_is_the_first_that_suffices(sd in 0.002..0.05f64, target in 0.01..0.05f64, prior in 0.0..5.0f64) {
            let suffices = |n: &usize| {
                mde80(sd / (*n as f64).sqrt(), prior + (*n - 1) as f64).log <= target
            };
            prop_assert_eq!(rounds_needed(sd, prior, target), (2..10_000).find(suffices));
        }
    }
}
