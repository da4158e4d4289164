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
}

impl PlantedCell {
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
