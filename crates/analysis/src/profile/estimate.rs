//! How what a build does or takes per operation differs from the base, from counts of samples by round.
//!
//! In: for each round the samples of both builds and what one stands for. Out: the mean difference over rounds, with
//! its interval. The samples of a round scatter by chance, as Poisson counts do; rounds differ by more than that where
//! they draw pages and plans anew. The larger of the two decides. Six rounds alone show it roughly, so many names are
//! judged with what they have in common.

use crate::findings::PerOperation;
use rqps_stats::distribution::{normal_cdf, normal_quantile, student_t_quantile, student_t_two_sided_p};
use rqps_stats::{DEFAULT_FALSE_DISCOVERY_RATE, Moderated, Pooled, Spread, q_values, sample_variance};

/// Fewer samples say nothing of a name.
const SAMPLES_MIN: u64 = 20;

/// The power at which a difference counts as one that would have been found.
const POWER: f64 = 0.8;

/// What a build shows in a round: samples, and what per operation one stands for.
pub(crate) type Counted = (u64, f64);

/// Samples and all that they stand for, by round, the base first.
pub(crate) type Sums = Vec<[(u64, f64); 2]>;

/// With what one of them stands for.
pub(crate) fn counted(sums: &Sums) -> Vec<[Counted; 2]> {
    sums.iter().map(|pair| pair.map(|(samples, sum)| (samples, sum / samples.max(1) as f64))).collect()
}

/// How counts scatter within a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scatter {
    /// As if each sample came by itself: their error is known.
    Poisson,
    /// The same, and rounds differ as they do for other names of the test.
    Pooled(Pooled),
    /// At least so, but samples come in clusters: only rounds show the error.
    Clustered,
    /// Not at all: each was counted.
    Exact,
}

/// An amount with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) amount: PerOperation,
    pub(crate) p: f64,
    pub(crate) samples: u64,
    /// What would have been found in 4 of 5 cases.
    pub(crate) mde: f64,
}

/// How samples scatter whose names are `rows`: with what those with enough samples have in common.
pub(crate) fn pooled(rows: impl Iterator<Item = Vec<[Counted; 2]>>) -> Scatter {
    let differences = rows.map(|row| Difference::of(&row, Scatter::Poisson)).filter(Difference::has_enough);
    let spreads: Vec<Spread> = differences.map(|difference| difference.spread()).collect();
    Pooled::of_counts(&spreads).map_or(Scatter::Poisson, Scatter::Pooled)
}

/// The mean difference over rounds, with what it is made of.
struct Difference {
    rounds: f64,
    samples: u64,
    base: f64,
    own: f64,
    /// Its variance, as far as it is due to chance.
    by_chance: f64,
    /// Its variance, as far as the rounds show it.
    between: f64,
}

impl Difference {
    /// The base first in each round.
    fn of(rounds: &[[Counted; 2]], scatter: Scatter) -> Self {
        let n = rounds.len().max(1) as f64;
        let mean = |of: &dyn Fn(&[Counted; 2]) -> f64| rounds.iter().map(of).sum::<f64>() / n;
        let sum = |(count, each): Counted| count as f64 * each;
        let square = |(count, each): Counted| count as f64 * each * each;
        let differences: Vec<f64> = rounds.iter().map(|pair| sum(pair[1]) - sum(pair[0])).collect();
        Self {
            rounds: n,
            samples: rounds.iter().flatten().map(|(count, _)| count).sum(),
            base: mean(&|pair| sum(pair[0])),
            own: mean(&|pair| sum(pair[1])),
            by_chance: match scatter {
                Scatter::Exact => 0.0,
                _ => mean(&|pair| square(pair[0]) + square(pair[1])) / n,
            },
            between: sample_variance(&differences).ok().flatten().unwrap_or(0.0) / n,
        }
    }

    fn has_enough(&self) -> bool {
        self.samples >= SAMPLES_MIN
    }

    /// What turns a variance into that of a round's difference, as a part of the mean amount.
    fn relative(&self) -> f64 {
        self.rounds / (0.5 * (self.base + self.own)).powi(2)
    }

    fn spread(&self) -> Spread {
        let relative = self.relative();
        Spread {
            variance: self.between * relative,
            degrees_of_freedom: self.rounds - 1.0,
            slices: self.by_chance * relative,
        }
    }

    /// Its variance by rounds and degrees of freedom, with what other names say of it.
    fn by_rounds(&self, scatter: Scatter) -> (f64, f64) {
        let moderated = match scatter {
            Scatter::Pooled(pooled) if self.samples > 0 => pooled.moderated(self.spread()),
            _ => None,
        };
        let of_pool = |found: Moderated| (found.variance / self.relative(), found.degrees_of_freedom);
        moderated.map_or((self.between, self.rounds - 1.0), of_pool)
    }
}

/// The estimate over rounds, the base first in each.
pub(crate) fn estimate(rounds: &[[Counted; 2]], scatter: Scatter) -> Estimate {
    let found = Difference::of(rounds, scatter);
    let difference = found.own - found.base;
    let (by_rounds, of_rounds) = found.by_rounds(scatter);
    let error = found.by_chance.max(by_rounds).sqrt();
    let is_of_samples = matches!(scatter, Scatter::Poisson | Scatter::Pooled(_));
    // Samples are many, rounds few.
    // One round shows no error: the least is better than none, but proves nothing.
    let is_unknown = !is_of_samples && rounds.len() < 2;
    let is_of_rounds = !is_unknown && (by_rounds > found.by_chance || !is_of_samples);
    let degrees_of_freedom = is_of_rounds.then_some(of_rounds);
    let quantile = |probability: f64| match degrees_of_freedom {
        Some(degrees_of_freedom) => student_t_quantile(probability, degrees_of_freedom),
        None => normal_quantile(probability),
    };
    let z = (difference / error).abs();
    let p = match degrees_of_freedom {
        _ if z.is_nan() || is_unknown => 1.0,
        Some(degrees_of_freedom) => student_t_two_sided_p(z, degrees_of_freedom),
        None => (2.0 * normal_cdf(-z)).min(1.0),
    };
    let half = quantile(0.975) * error;
    let (low, high) = (difference - half, difference + half);
    let amount = PerOperation { base: found.base, own: found.own, difference, low, high, q: None, is_sure: false };
    Estimate { amount, p, samples: found.samples, mde: half + quantile(POWER) * error }
}

/// Those of several rows that have enough samples, by index, judged together.
pub(crate) fn judged(rows: impl Iterator<Item = Vec<[Counted; 2]>>, scatter: Scatter) -> Vec<(usize, Estimate)> {
    let estimates = rows.map(|row| estimate(&row, scatter)).enumerate();
    let mut enough: Vec<(usize, Estimate)> = estimates.filter(|(_, found)| found.samples >= SAMPLES_MIN).collect();
    let p_values: Vec<f64> = enough.iter().map(|(_, found)| found.p).collect();
    let q_values = q_values(&p_values).expect("p-values are from 0 to 1");
    for ((_, found), q) in enough.iter_mut().zip(q_values) {
        found.amount.q = Some(q);
        found.amount.is_sure = q <= DEFAULT_FALSE_DISCOVERY_RATE;
    }
    enough
}

/// A row judged by itself.
pub(crate) fn alone(row: &[[Counted; 2]], scatter: Scatter) -> PerOperation {
    let Estimate { amount, p, .. } = estimate(row, scatter);
    PerOperation { q: Some(p), is_sure: p <= DEFAULT_FALSE_DISCOVERY_RATE, ..amount }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Estimate, Scatter};
    use rqps_madeup::Noise;

    fn estimate(rounds: &[[Counted; 2]]) -> Estimate {
        super::estimate(rounds, Scatter::Poisson)
    }

    #[test]
    fn one_in_twenty_intervals_of_equal_builds_leaves_zero_out() {
        let mut random = Noise::seeded(1);
        let trials = 2_000;
        let mut missed = 0;
        for _ in 0..trials {
            let rounds: Vec<[Counted; 2]> =
                (0..6).map(|_| [(random.poisson(60.0), 0.1), (random.poisson(60.0), 0.1)]).collect();
            let Estimate { amount, .. } = estimate(&rounds);
            missed += u32::from(amount.low > 0.0 || amount.high < 0.0);
        }
        // Taking the larger of two errors is careful: at most one in twenty, and not next to none.
        let share = f64::from(missed) / f64::from(trials);
        assert!((0.01..=0.055).contains(&share), "{share}");
    }

    #[test]
    fn a_difference_as_large_as_promised_is_found_in_four_of_five_cases() {
        let mut random = Noise::seeded(2);
        let pair = |random: &mut Noise, own: f64| [(random.poisson(100.0), 1.0), (random.poisson(own), 1.0)];
        let mut rounds = |own: f64| (0..6).map(|_| pair(&mut random, own)).collect::<Vec<_>>();
        let trials = 500;
        let promised = (0..trials).map(|_| estimate(&rounds(100.0)).mde).sum::<f64>() / f64::from(trials);
        let found = (0..trials).filter(|_| estimate(&rounds(100.0 + promised)).amount.low > 0.0);
        let share = found.count() as f64 / f64::from(trials);
        assert!((0.7..0.95).contains(&share), "{share}");
    }

    #[test]
    fn rounds_that_differ_widen_the_interval() {
        let even = estimate(&[[(100, 1.0), (150, 1.0)]; 4]);
        assert!(even.amount.low > 0.0 && even.p < 1e-6, "{even:?}");
        let uneven: [[Counted; 2]; 4] = [100, 200, 100, 200].map(|own| [(100, 1.0), (own, 1.0)]);
        let uneven = estimate(&uneven);
        assert!((uneven.amount.difference - 50.0).abs() < 1e-9 && uneven.amount.low < 0.0, "{uneven:?}");
    }

    /// Functions of equal builds, the first of which differs: by round, samples of six rounds.
    fn functions(random: &mut Noise, moves_from: f64, moves_to: f64) -> Vec<Vec<[Counted; 2]>> {
        let sizes = (0..60).map(|at| 5.0 + f64::from(at));
        let means = [(moves_from, moves_to)].into_iter().chain(sizes.map(|size| (size, size)));
        let of_round = |random: &mut Noise, (base, own)| [(random.poisson(base), 0.1), (random.poisson(own), 0.1)];
        means.map(|pair| (0..6).map(|_| of_round(random, pair)).collect()).collect()
    }

    #[test]
    fn many_functions_find_one_that_differs_which_its_rounds_alone_do_not() {
        let mut random = Noise::seeded(4);
        let trials = 200;
        let (mut by_rounds, mut by_pool, mut false_part) = (0, 0, 0.0);
        for _ in 0..trials {
            let rows = functions(&mut random, 25.0, 50.0);
            let pooled = super::pooled(rows.iter().cloned());
            let named = |scatter| {
                let judged = super::judged(rows.iter().cloned(), scatter);
                judged.into_iter().filter(|(_, found)| found.amount.is_sure).map(|(at, _)| at).collect::<Vec<_>>()
            };
            by_rounds += u32::from(named(Scatter::Poisson).contains(&0));
            let named = named(pooled);
            by_pool += u32::from(named.contains(&0));
            false_part += named.iter().filter(|&&at| at != 0).count() as f64 / named.len().max(1) as f64;
        }
        assert!(by_rounds * 100 < trials * 90, "{by_rounds}");
        assert!(by_pool * 100 > trials * 97, "{by_pool}");
        assert!(false_part / f64::from(trials) <= 0.05, "{false_part}");
    }

    #[test]
    fn pooled_intervals_of_equal_functions_leave_zero_out_in_one_of_twenty() {
        let mut random = Noise::seeded(5);
        let (mut missed, mut all) = (0, 0);
        for _ in 0..100 {
            let rows = functions(&mut random, 30.0, 30.0);
            let pooled = super::pooled(rows.iter().cloned());
            assert!(matches!(pooled, Scatter::Pooled(_)));
            for (_, found) in super::judged(rows.into_iter(), pooled) {
                missed += u32::from(found.amount.low > 0.0 || found.amount.high < 0.0);
                all += 1;
            }
        }
        let share = f64::from(missed) / f64::from(all);
        assert!((0.02..=0.055).contains(&share), "{share}");
    }

    #[test]
    fn samples_that_come_in_clusters_are_judged_by_rounds() {
        let mut random = Noise::seeded(3);
        let trials = 2_000;
        let mut missed = 0;
        for _ in 0..trials {
            // Each wait is met five times.
            let mut count = || 5 * random.poisson(40.0);
            let rounds: Vec<[Counted; 2]> = (0..6).map(|_| [(count(), 0.1), (count(), 0.1)]).collect();
            let Estimate { amount, .. } = super::estimate(&rounds, Scatter::Clustered);
            missed += u32::from(amount.low > 0.0 || amount.high < 0.0);
        }
        let share = f64::from(missed) / f64::from(trials);
        assert!((0.02..=0.065).contains(&share), "{share}");
    }

    #[test]
    fn what_is_counted_alike_in_all_rounds_has_no_error() {
        let exact = |own| super::estimate(&[[(20, 4.0), (20, own)]; 2], Scatter::Exact);
        let (same, more) = (exact(4.0), exact(4.05));
        assert_eq!((same.p, same.amount.low, same.amount.high), (1.0, 0.0, 0.0));
        assert_eq!((more.p, more.amount.low), (0.0, more.amount.high));
        let one_round = super::estimate(&[[(20, 4.0), (20, 5.0)]], Scatter::Exact);
        assert_eq!(one_round.p, 1.0, "nothing shows that the next would be the same");
    }

    #[test]
    fn nothing_is_shown_by_no_samples() {
        let none = estimate(&[[(0, 1.0), (0, 1.0)]; 3]);
        assert_eq!((none.p, none.samples, none.amount.difference), (1.0, 0, 0.0));
        let one_round = estimate(&[[(100, 1.0), (100, 1.0)]]);
        assert!(one_round.amount.low < -20.0 && one_round.amount.high > 20.0, "{one_round:?}");
    }
}
