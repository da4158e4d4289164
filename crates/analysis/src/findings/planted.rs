//! Changes that were planted, and what the campaign made of them.
//!
//! Part of the contract between `analysis` and `report`; ratios are fractions in full precision.

use super::comparison::Comparison;
use serde::{Deserialize, Serialize};

/// What is true of a cell in which a change was planted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedCell {
    /// The throughput that was left of what it would have been, geometric mean over the rounds compared.
    pub ratio: f64,
    /// The same of each round, from 1.
    pub by_round: Vec<(u32, f64)>,
    /// What burning cost besides its time, as a share of what was burned, in logarithms of the ratio; a part of it.
    pub side_cost: f64,
    /// What this test's own slices say of that, where burns were short and long in turn.
    pub side_cost_seen: Option<SideCost>,
}

/// An estimate of what burning cost besides its time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SideCost {
    /// As a share of what was burned.
    pub share: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl PlantedCell {
    /// Counts in that besides what was burned this share of it was lost.
    pub(crate) fn add(&mut self, side_cost: f64) {
        self.side_cost = side_cost;
        let ratios = self.by_round.iter_mut().map(|(_, ratio)| ratio).chain([&mut self.ratio]);
        ratios.for_each(|ratio| *ratio = ratio.powf(1.0 + side_cost));
    }

    /// Whether a comparison's interval holds the true ratio; `None` without an interval.
    pub fn is_held(&self, comparison: &Comparison) -> Option<bool> {
        let (low, high) = comparison.low.zip(comparison.high)?;
        Some((low..=high).contains(&self.ratio))
    }
}

/// What became of a planted change over all tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedFindings {
    /// Index of the treatment in which it was planted.
    pub treatment: usize,
    /// The share of a statement's time that was to be wasted.
    pub share: f64,
    /// The true ratio, geometric mean over tests.
    pub ratio: f64,
    /// The smallest true ratio of a test.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// What burning cost besides its time, as a share of what was burned, mean over tests; a part of the ratios.
    pub side_cost: f64,
    /// Tests with an interval.
    pub intervals: u32,
    /// Those whose whole interval is below 1: the change is found.
    pub found: u32,
    /// Those whose interval holds the true ratio.
    pub held: u32,
    /// Intervals of the base measured again as it is, where it was.
    pub unplanted_intervals: u32,
    /// Those that do not hold 1: a change is found that nobody planted.
    pub unplanted_found: u32,
}
