//! Seeded random numbers of the distributions that made-up measurements need.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A stream of random numbers; the same seed gives the same.
#[derive(Debug)]
pub struct Noise(Pcg64);

impl Noise {
    /// Begins the stream of a seed.
    pub fn seeded(seed: u64) -> Noise {
        Noise(Pcg64::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How many events of a mean rate come in a unit of time.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut count, mut time) = (0, 0.0);
        loop {
            time -= (1.0 - self.uniform()).ln();
            if time >= mean {
                return count;
            }
            count += 1;
        }
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}
