//! How wide an interval must be that is looked at while rounds are still being added.
//!
//! In: the looks at a comparison, each with its number of rounds and the share of the budget that was spent by then.
//! Out: the level that the last of them has. Whoever looks again and again and stops at the first look that shows a
//! change finds one too often, so each look has a part of the error of the whole (Lan and DeMets 1983). What a look may
//! spend follows from the share of the time that has passed, since nobody knows beforehand when looks come; how much
//! of it looks have in common follows from their rounds.

use crate::distribution::{normal_cdf, normal_density, normal_quantile, student_t_two_sided_p};

/// The error spent by a share t of the budget is α tᵉ (Kim and DeMets 1987). With 1.5 unchanged cells are decided in as
/// few rounds as the acceptance tests ask for, and the last interval is a tenth wider than that of a single look.
const EXPONENT: f64 = 1.5;

/// A look with a smaller part of the error than this cannot end anything.
const LEAST_ERROR: f64 = 1e-9;

/// Beyond so many standard deviations there is no mass left.
const FAR: f64 = 8.0;

/// Points at which the density between the boundaries is known.
const POINTS: usize = 161;

/// One look at a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Share of the budget that was spent when it was taken, up to 1.
    pub spent: f64,
    /// Rounds that the comparison had.
    pub rounds: usize,
}

/// When an estimate is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Looking {
    /// As the plan said; the levels are those of the last look.
    AsPlanned(Levels),
    /// Whenever anybody likes, and the campaign goes on.
    AtAnyTime,
}

impl Default for Looking {
    fn default() -> Looking {
        Looking::AsPlanned(Levels::ONCE)
    }
}

impl Looking {
    /// The levels of an estimate of so many rounds.
    pub fn levels(self, rounds: usize) -> Levels {
        match self {
            Looking::AsPlanned(levels) => levels,
            Looking::AtAnyTime => Levels::always_valid(rounds),
        }
    }
}

/// The levels at which an estimate's intervals exclude what they exclude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Two-sided error of the interval that shows a change, 0.05 if it is looked at once.
    pub change: f64,
    /// Two-sided error of the interval that shows equality, 0.10 if it is looked at once: each side has half of it.
    pub equal: f64,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels::ONCE
    }
}

impl Levels {
    /// Those of a single look.
    pub const ONCE: Levels = Levels { change: 0.05, equal: 0.10 };

    /// Those of a comparison of so many rounds that anybody may look at whenever he likes, and go on with: the
    /// confidence sequence of Wang and Ramdas (2023, theorem 4.2 with a Gaussian mixture of variance 1). Fewer than
    /// five rounds show no change.
    pub fn always_valid(rounds: usize) -> Levels {
        let of = |alpha: f64| {
            let n = rounds as f64;
            let c = ((1.0 + n).sqrt() / alpha).powf(2.0 / n);
            if rounds < 2 || c >= 1.0 + n {
                return LEAST_ERROR;
            }
            let standard_errors = ((n - 1.0) * (c - 1.0) / (1.0 - c / (1.0 + n))).sqrt();
            student_t_two_sided_p(standard_errors, n - 1.0)
        };
        Levels { change: of(Levels::ONCE.change), equal: of(Levels::ONCE.equal) }
    }

    /// Those of the last of these looks; of a single one where there are none.
    pub fn at_last(looks: &[Look]) -> Levels {
        if looks.is_empty() {
            return Levels::ONCE;
        }
        let of = |alpha: f64| last_level(looks, |spent| alpha * spent.clamp(0.0, 1.0).powf(EXPONENT));
        Levels { change: of(Levels::ONCE.change), equal: of(Levels::ONCE.equal) }
    }
}

/// The two-sided level of the last look, if so much of the error may be spent by each of them. Boundaries are those of
/// a Brownian motion seen at the looks (Armitage, McPherson and Rowe 1969).
fn last_level(looks: &[Look], spent_by: impl Fn(f64) -> f64) -> f64 {
    let mut walk = Walk::default();
    let (mut level, mut spent) = (0.0, 0.0);
    for look in looks {
        let may = spent_by(look.spent);
        level = walk.look(look.rounds as f64, (may - spent).max(0.0)).max(LEAST_ERROR);
        spent = spent.max(may);
    }
    level
}

/// What of a sum of rounds is still between the boundaries.
#[derive(Default)]
struct Walk {
    rounds: f64,
    /// Density at `POINTS` places from -`end` to `end`; empty before the first look.
    density: Vec<f64>,
    end: f64,
}

impl Walk {
    /// Goes on to so many rounds and lets that part of the error out there; the level of this look.
    fn look(&mut self, rounds: f64, error: f64) -> f64 {
        let step = rounds - self.rounds;
        if step <= 0.0 {
            return 0.0;
        }
        let far = FAR * rounds.sqrt();
        let end = if error < LEAST_ERROR { far } else { self.boundary(step.sqrt(), error, far) };
        self.density = places(end).map(|place| self.density_after(place, step.sqrt())).collect();
        (self.rounds, self.end) = (rounds, end);
        if error < LEAST_ERROR { 0.0 } else { 2.0 * normal_cdf(-end / rounds.sqrt()) }
    }

    /// Where so much of what is left comes out, by bisection.
    fn boundary(&self, sd: f64, error: f64, far: f64) -> f64 {
        const STEPS: usize = 50;
        if self.density.is_empty() {
            return -sd * normal_quantile(0.5 * error);
        }
        let (mut low, mut high) = (0.0, far);
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            let outside = 2.0 * self.integral(|place| normal_cdf((place - middle) / sd));
            if outside > error { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    fn density_after(&self, place: f64, sd: f64) -> f64 {
        if self.density.is_empty() {
            return normal_density(place / sd) / sd;
        }
        self.integral(|before| normal_density((place - before) / sd) / sd)
    }

    /// The integral of a function over the density, by Simpson's rule.
    fn integral(&self, of: impl Fn(f64) -> f64) -> f64 {
        let width = 2.0 * self.end / (POINTS - 1) as f64;
        let weight = |at: usize| match at {
            0 => 1.0,
            at if at == POINTS - 1 => 1.0,
            at if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let parts = places(self.end).zip(&self.density).enumerate();
        parts.map(|(at, (place, density))| weight(at) * density * of(place)).sum::<f64>() * width / 3.0
    }
}

fn places(end: f64) -> impl Iterator<Item = f64> {
    (0..POINTS).map(move |at| end * (2.0 * at as f64 / (POINTS - 1) as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evenly(looks: usize) -> Vec<Look> {
        (1..=looks).map(|rounds| Look { spent: rounds as f64 / looks as f64, rounds }).collect()
    }

    #[test]
    fn boundaries_are_those_of_the_tables() {
        // Five looks with the spending function like O'Brien and Fleming's, 0.025 on each side (Lan and DeMets 1983,
        // and every table since).
        let last = |looks: usize| {
            let like_obrien_fleming = |spent: f64| 4.0 * normal_cdf(normal_quantile(0.5 * 0.025) / spent.sqrt());
            -normal_quantile(0.5 * last_level(&evenly(5)[..looks], like_obrien_fleming))
        };
        for (looks, expected) in [(1, 4.877), (2, 3.357), (3, 2.680), (4, 2.290), (5, 2.031)] {
            assert!((last(looks) - expected).abs() < 2e-3, "look {looks}: {} for {expected}", last(looks));
        }
    }

    #[test]
    fn one_look_at_the_end_is_the_usual_interval() {
        assert_eq!(Levels::at_last(&[]), Levels::ONCE);
        let levels = Levels::at_last(&[Look { spent: 1.0, rounds: 7 }]);
        assert!((levels.change - 0.05).abs() < 1e-9 && (levels.equal - 0.10).abs() < 1e-9);
    }

    #[test]
    fn an_early_look_is_dear_and_what_it_spent_is_missing_later() {
        let looks = evenly(10);
        let first = Levels::at_last(&looks[..1]);
        assert!((first.change - 0.05 * 0.1f64.powf(1.5)).abs() < 1e-9, "{first:?}");
        let last = Levels::at_last(&looks);
        assert!((0.022..0.03).contains(&last.change), "{last:?}");
        assert!((0.045..0.065).contains(&last.equal), "{last:?}");
        // A second look at the same rounds, or one that may spend nothing, shows nothing new.
        assert_eq!(Levels::at_last(&[looks[3], looks[3]]).change, LEAST_ERROR);
    }

    #[test]
    fn an_interval_that_holds_whenever_one_looks_is_wider_and_needs_five_rounds() {
        assert_eq!(Levels::always_valid(4).change, LEAST_ERROR);
        for rounds in [5, 10, 24, 60] {
            let Levels { change, equal } = Levels::always_valid(rounds);
            assert!(LEAST_ERROR < change && change < equal && equal < 0.05, "{rounds}: {change} {equal}");
        }
    }

    #[test]
    fn more_rounds_between_looks_are_more_news() {
        let rare = [Look { spent: 0.5, rounds: 5 }, Look { spent: 1.0, rounds: 10 }];
        let frequent = [Look { spent: 0.5, rounds: 9 }, Look { spent: 1.0, rounds: 10 }];
        assert!(Levels::at_last(&rare).change < Levels::at_last(&frequent).change);
    }
}
