//! Zipf's law over 1..=n by rejection-inversion, as the published driver draws its skewed keys.
//!
//! W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM
//! TOMACS 6(3), 1996. Rank 1 is the lowest key and keys are not scattered, so that hot rows are neighbours, as there.

use crate::random::unit_interval;
use rand_pcg::Pcg64;

/// The exponent that the published driver uses by default.
const EXPONENT: f64 = 0.8;

/// A distribution over 1..=n in which k is drawn in proportion to k^-0.8.
#[derive(Debug, Clone, Copy)]
pub struct Zipfian {
    count: f64,
    integral_first: f64,
    integral_last: f64,
    /// Below this distance from the rounded value a draw is accepted without evaluating the density.
    squeeze: f64,
}

impl Zipfian {
    /// The distribution over 1..=`count`.
    pub fn new(count: u64) -> Zipfian {
        let count = count.max(1) as f64;
        Zipfian {
            count,
            integral_first: integral(1.5) - 1.0,
            integral_last: integral(count + 0.5),
            squeeze: 2.0 - inverse_integral(integral(2.5) - density(2.0)),
        }
    }

    /// Draws a number from 1 to the count.
    #[inline]
    pub fn draw(&self, random: &mut Pcg64) -> u64 {
        loop {
            let height = self.integral_last + unit_interval(random) * (self.integral_first - self.integral_last);
            let x = inverse_integral(height);
            let rank = x.round().clamp(1.0, self.count);
            if rank - x <= self.squeeze || height >= integral(rank + 0.5) - density(rank) {
                return rank as u64;
            }
        }
    }
}

/// k^-s.
fn density(x: f64) -> f64 {
    x.powf(-EXPONENT)
}

/// The integral of the density, up to a constant.
fn integral(x: f64) -> f64 {
    (x.powf(1.0 - EXPONENT) - 1.0) / (1.0 - EXPONENT)
}

fn inverse_integral(y: f64) -> f64 {
    (1.0 + y * (1.0 - EXPONENT)).max(0.0).powf(1.0 / (1.0 - EXPONENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn frequencies_follow_the_law() {
        const DRAWS: u32 = 200_000;
        for count in [1u64, 2, 3, 10, 1000] {
            let zipfian = Zipfian::new(count);
            let mut random = stream(5, Purpose::Keys, count, 0);
            let mut counts = vec![0u32; count as usize + 1];
            for _ in 0..DRAWS {
                counts[zipfian.draw(&mut random) as usize] += 1;
            }
            let total: f64 = (1..=count).map(|k| density(k as f64)).sum();
            for k in (1..=count).take(20) {
                let share = density(k as f64) / total;
                let expected = share * f64::from(DRAWS);
                let deviation = (expected * (1.0 - share)).sqrt();
                let seen = f64::from(counts[k as usize]);
                assert!((seen - expected).abs() <= 5.0 * deviation, "{k} of {count}: {seen} for {expected}");
            }
        }
    }

    #[test]
    fn large_tables_stay_within_bounds() {
        let zipfian = Zipfian::new(50_000_000);
        let mut random = stream(5, Purpose::Keys, 0, 0);
        let drawn: Vec<u64> = (0..10_000).map(|_| zipfian.draw(&mut random)).collect();
        assert!(drawn.iter().all(|k| (1..=50_000_000).contains(k)));
        assert!(drawn.contains(&1) && drawn.iter().any(|k| *k > 10_000_000));
    }
}
