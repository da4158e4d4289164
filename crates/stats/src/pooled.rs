//! How rounds differ where few rounds have many counts, such as the samples in each function.
//!
//! In: the [`Spread`] of each count, as a part of its size. Out: a [`Pooled`] spread, which lends each count the
//! degrees of freedom that the others have in common with it (after Smyth 2004; for counts, Lund and others 2012).
//! Counts scatter by chance, which is known of each by itself, and rounds differ by a part of the size that is alike
//! for all: variance = rounds + chance. How much it is alike is estimated too. A count that scatters more than that
//! allows, or is larger than all that were pooled, is judged by its own rounds alone.

use crate::distribution::{digamma, trigamma};
use crate::prior::{Spread, fit_starts, log_variance};
use crate::summary::{mean, sample_variance};

/// Counts that it takes.
const FEWEST: usize = 10;

/// Degrees of freedom at most, however alike counts are: one of them may still be another case, and four times the
/// weight of six rounds is as good as any.
const MOST_DEGREES_OF_FREEDOM: f64 = 20.0;

/// Standard deviations of a log variance beyond which a count is not like the others: one in a hundred that is.
const UNLIKE: f64 = 2.33;

/// What counts have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// The relative variance by which rounds differ beyond chance.
    rounds: f64,
    degrees_of_freedom: f64,
    /// The relative variance that chance makes of the largest count.
    least_chance: f64,
}

/// A relative variance and its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moderated {
    /// Of a round's difference.
    pub variance: f64,
    /// Those of the rounds and of the pool together.
    pub degrees_of_freedom: f64,
}

impl Pooled {
    /// What `counts` have in common, chance as their `slices`; `None` from fewer than ten.
    pub fn of_counts(counts: &[Spread]) -> Option<Self> {
        let known: Vec<&Spread> =
            counts.iter().filter(|count| count.variance > 0.0 && count.degrees_of_freedom > 0.0).collect();
        if known.len() < FEWEST {
            return None;
        }
        let rounds = fit_starts(&known);
        let rest = |count: &&Spread| log_variance(count) - (rounds + count.slices).ln();
        let rests: Vec<f64> = known.iter().map(rest).collect();
        let of_few_rounds: Vec<f64> = known.iter().map(|count| trigamma(0.5 * count.degrees_of_freedom)).collect();
        let spread = sample_variance(&rests).ok().flatten()?;
        let degrees_of_freedom = degrees_of_freedom(spread - mean(&of_few_rounds).ok()?);
        let least_chance = known.iter().map(|count| count.slices).fold(f64::INFINITY, f64::min);
        Some(Self { rounds, degrees_of_freedom, least_chance })
    }

    /// The variance of a count; `None` where it is not like the others. What is the larger, the more of its
    /// variance is that of rounds, and smaller counts show little of that.
    pub fn moderated(&self, count: Spread) -> Option<Moderated> {
        let common = self.rounds + count.slices;
        let (own, pool) = (0.5 * count.degrees_of_freedom, 0.5 * self.degrees_of_freedom);
        // The logarithm of the ratio of two variances is about normal (Fisher's z).
        let log_ratio = (count.variance / common).ln() - digamma(own) + own.ln() + digamma(pool) - pool.ln();
        let is_like = log_ratio <= UNLIKE * (trigamma(own) + trigamma(pool)).sqrt();
        let degrees_of_freedom = self.degrees_of_freedom + count.degrees_of_freedom;
        let squares = self.degrees_of_freedom * common + count.degrees_of_freedom * count.variance;
        let is_known = count.slices >= self.least_chance && common > 0.0;
        (is_like && is_known).then(|| Moderated { variance: squares / degrees_of_freedom, degrees_of_freedom })
    }
}

/// The degrees of freedom with which logarithms of variances spread by `variance`, by bisection.
fn degrees_of_freedom(variance: f64) -> f64 {
    const STEPS: usize = 50;
    let (mut low, mut high) = (0.01, MOST_DEGREES_OF_FREEDOM);
    if trigamma(0.5 * high) >= variance {
        return high;
    }
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if trigamma(0.5 * middle) > variance {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    const ROUNDS: f64 = 6.0;

    fn uniform(random: &mut Pcg64) -> f64 {
        (f64::from(random.next_u32()) + 0.5) / (f64::from(u32::MAX) + 1.0)
    }

    /// A sample variance of six rounds.
    fn spread(random: &mut Pcg64, variance: f64, slices: f64) -> Spread {
        let rounds: Vec<f64> =
            (0..ROUNDS as usize).map(|_| normal_quantile(uniform(random)) * variance.sqrt()).collect();
        let variance = sample_variance(&rounds).unwrap().unwrap();
        Spread { variance, degrees_of_freedom: ROUNDS - 1.0, slices }
    }

    #[test]
    fn counts_that_scatter_by_chance_alone_are_pooled_as_far_as_it_goes() {
        let mut random = Pcg64::seed_from_u64(1);
        let chances = (1..=200).map(|size| 1.0 / f64::from(size));
        let counts: Vec<Spread> = chances.map(|chance| spread(&mut random, chance, chance)).collect();
        let pooled = Pooled::of_counts(&counts).unwrap();
        assert!(pooled.rounds < 5e-4, "{pooled:?}");
        assert!(pooled.degrees_of_freedom > 12.0, "{pooled:?}");
        let found = pooled.moderated(Spread { variance: 0.02, degrees_of_freedom: 5.0, slices: 0.01 }).unwrap();
        assert!(found.variance > 0.01 && found.variance < 0.014, "{found:?}");
        assert_eq!(found.degrees_of_freedom, pooled.degrees_of_freedom + 5.0);
    }

    #[test]
    fn what_rounds_add_is_a_part_of_the_size() {
        let mut random = Pcg64::seed_from_u64(2);
        let (rounds, mut slices) = (0.01, 0.1);
        let mut counts = Vec::new();
        for _ in 0..300 {
            slices *= 0.97;
            counts.push(spread(&mut random, rounds + slices, slices));
        }
        let pooled = Pooled::of_counts(&counts).unwrap();
        assert!((pooled.rounds / rounds).ln().abs() < 0.3, "{pooled:?}");
    }

    #[test]
    fn counts_that_are_not_alike_lend_little() {
        let mut random = Pcg64::seed_from_u64(3);
        // From one to a hundred times what the smallest has.
        let counts: Vec<Spread> =
            (0..200).map(|at| spread(&mut random, 10f64.powf(f64::from(at) / 100.0), 1e-6)).collect();
        let pooled = Pooled::of_counts(&counts).unwrap();
        assert!(pooled.degrees_of_freedom < 2.5, "{pooled:?}");
    }

    #[test]
    fn one_that_scatters_more_is_judged_by_itself() {
        let mut random = Pcg64::seed_from_u64(4);
        let counts: Vec<Spread> = (0..100).map(|_| spread(&mut random, 0.01, 0.01)).collect();
        let pooled = Pooled::of_counts(&counts).unwrap();
        let of = |variance| pooled.moderated(Spread { variance, degrees_of_freedom: 5.0, slices: 0.01 });
        assert!(of(0.02).is_some());
        assert_eq!(of(0.09), None);
        assert!(of(0.0).is_some(), "rounds that agree are like the others");
        let larger = Spread { variance: 0.001, degrees_of_freedom: 5.0, slices: 0.001 };
        assert_eq!(pooled.moderated(larger), None, "none of this size was seen");
    }

    #[test]
    fn few_counts_have_nothing_in_common() {
        let few = [Spread { variance: 0.1, degrees_of_freedom: 5.0, slices: 0.1 }; 9];
        assert_eq!(Pooled::of_counts(&few), None);
        let one_round = [Spread { variance: 0.1, degrees_of_freedom: 0.0, slices: 0.1 }; 50];
        assert_eq!(Pooled::of_counts(&one_round), None);
    }
}
