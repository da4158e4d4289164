//! The noise that the simulations assume, from seeded random numbers.
//!
//! In: a seed's stream and the coefficient of variation (CV) of one run of a freshly
//! started server. Out: log ratios of rounds, and floors as an A/A calibration would find
//! them. Of the variance CV² half is drift (80 % of it shared by the builds of a round,
//! which pairing removes), 40 % belongs to the restart, 10 % to the run itself.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rqps_stats::{Estimate, Floor, Paired};

/// Replicates behind each simulated rate, if not said otherwise.
pub(crate) const REPLICATES: usize = 20_000;
/// Standard deviation of a round's log ratio over the CV: √(2 (0.5 · 0.2 + 0.4 + 0.1)).
pub(crate) const PAIR_SD: f64 = 1.095_445_115_010_332_2;
/// Cells of a test differ in their noise as if each variance were a mean of so many squares.
const CELL_DEGREES_OF_FREEDOM: usize = 10;

/// How the noise of a restart is distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// The textbook case.
    Normal,
    /// Heavy tails: t with 3 degrees of freedom.
    HeavyTails,
    /// 30 % of the starts land in a slow mode.
    Bimodal,
    /// 3 % of the runs meet with an incident of five standard deviations.
    Outliers,
}

/// All shapes, for loops.
pub(crate) const SHAPES: [Shape; 4] = [Shape::Normal, Shape::HeavyTails, Shape::Bimodal, Shape::Outliers];

/// A stream of random numbers.
pub(crate) struct Noise {
    generator: Pcg64,
    spare: Option<f64>,
}

impl Noise {
    /// A stream of its own per experiment.
    pub(crate) fn new(stream: u64) -> Self {
        const SEED: u64 = 20_250_601;
        Self { generator: Pcg64::seed_from_u64(SEED + stream), spare: None }
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Sum of so many squared normals.
    pub(crate) fn chi_squared(&mut self, degrees_of_freedom: usize) -> f64 {
        (0..degrees_of_freedom).map(|_| self.normal().powi(2)).sum()
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// One of the values.
    pub(crate) fn choice(&mut self, values: &[f64]) -> f64 {
        values[self.below(values.len())]
    }

    /// Noise of one restart: mean 0, variance 1.
    fn restart(&mut self, shape: Shape) -> f64 {
        match shape {
            Shape::Normal => self.normal(),
            Shape::HeavyTails => self.normal() / self.chi_squared(3).sqrt(),
            Shape::Bimodal => {
                let slow = if self.uniform() < 0.3 { 1.0 } else { 0.0 };
                0.95 * (0.3 - slow) / 0.21f64.sqrt() + (1.0 - 0.95f64 * 0.95).sqrt() * self.normal()
            }
            Shape::Outliers => {
                let hit = if self.uniform() < 0.03 { 5.0 } else { 0.0 };
                (self.normal() - hit + 0.15) / (1.0 + 25.0 * 0.03 * 0.97f64).sqrt()
            }
        }
    }

    /// Log ratios of `n` rounds around `log_change`.
    pub(crate) fn rounds(&mut self, n: usize, cv: f64, log_change: f64, shape: Shape) -> Vec<f64> {
        let mut round = || match shape {
            Shape::Normal => PAIR_SD * self.normal(),
            // Drift that the round does not share, and the run: 2 (0.5 · 0.2 + 0.1).
            _ => 0.4f64.sqrt() * (self.normal() + self.restart(shape) - self.restart(shape)),
        };
        (0..n).map(|_| log_change + cv * round()).collect()
    }

    /// The CV of one cell of a test whose root mean square CV is `cv`.
    pub(crate) fn cell_cv(&mut self, cv: f64) -> f64 {
        let degrees_of_freedom = CELL_DEGREES_OF_FREEDOM as f64;
        cv * ((degrees_of_freedom - 2.0) / self.chi_squared(CELL_DEGREES_OF_FREEDOM)).sqrt()
    }

    /// A floor as 12 A/A pairs of 6 rounds find it, times `bias`.
    pub(crate) fn floor(&mut self, cv: f64, bias: f64) -> Floor {
        const PAIRS: usize = 12;
        const OWN: usize = 5;
        let variance = |noise: &mut Self| (noise.cell_cv(cv) * PAIR_SD).powi(2) * noise.chi_squared(OWN) / OWN as f64;
        let mean = (0..PAIRS).map(|_| variance(self)).sum::<f64>() / PAIRS as f64;
        Floor::new(bias * mean.sqrt()).unwrap()
    }

    /// A cell judged as in production, with the floor of its test.
    pub(crate) fn moderated_cell(&mut self, n: usize, cv: f64, change: f64, shape: Shape) -> Estimate {
        let floor = self.floor(cv, 1.0);
        let cell_cv = self.cell_cv(cv);
        Paired::new(&self.rounds(n, cell_cv, change.ln_1p(), shape)).unwrap().moderated(&floor).unwrap()
    }

    /// Standard normals with autocorrelation `phi`.
    pub(crate) fn autocorrelated(&mut self, count: usize, phi: f64) -> Vec<f64> {
        let mut state = self.normal();
        let mut next = || {
            state = phi * state + (1.0 - phi * phi).sqrt() * self.normal();
            state
        };
        (0..count).map(|_| next()).collect()
    }

    /// A steady per-second series: mean 1, CV 5 %, autocorrelation `phi`.
    pub(crate) fn series(&mut self, seconds: usize, phi: f64) -> Vec<f64> {
        self.autocorrelated(seconds, phi).into_iter().map(|state| 1.0 + 0.05 * state).collect()
    }
}

/// Share of `replicates` for which `event` holds.
pub(crate) fn rate(replicates: usize, mut event: impl FnMut() -> bool) -> f64 {
    (0..replicates).filter(|_| event()).count() as f64 / replicates as f64
}

/// The 95 % interval leaves "no change" out.
pub(crate) fn excludes_zero(estimate: &Estimate) -> bool {
    estimate.low95 > 0.0 || estimate.high95 < 0.0
}

#[test]
fn shapes_are_standardised() {
    for shape in SHAPES {
        let mut noise = Noise::new(1);
        let rounds = noise.rounds(400_000, 1.0, 0.0, shape);
        let mean = rqps_stats::mean(&rounds).unwrap();
        let variance = rqps_stats::sample_variance(&rounds).unwrap().unwrap();
        assert!(mean.abs() < 0.01, "{shape:?}: mean {mean}");
        // Fourth moments of t(3) are infinite, so its variance converges slowly.
        assert!((variance / PAIR_SD.powi(2) - 1.0).abs() < 0.05, "{shape:?}: variance {variance}");
    }
}
