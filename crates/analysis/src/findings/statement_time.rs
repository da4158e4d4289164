//! How long each kind of statement takes in a test that sends several, and how that compares with the base.
//!
//! Times are what the client waits, in microseconds. They say in which statements a change is, and not why.

use super::is_beyond_chance;
use serde::{Deserialize, Serialize};

/// One kind of statement of a treatment, beside the base's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementTime {
    /// Its name, as in `latency`.
    pub statement: String,
    /// Mean response time of the base.
    pub base_us: f64,
    /// Of this treatment.
    pub us: f64,
    /// Time per operation of the base: the mean, times how many of an operation are of this kind.
    pub base_us_per_op: f64,
    /// Of this treatment.
    pub us_per_op: f64,
    /// Lower end of the 95 % interval of the ratio of means; `None` with a single round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// p corrected over all kinds of all tests.
    pub q: Option<f64>,
    /// Of the change in time per operation the share that is in these statements; `None` where nothing changed
    /// and where time is no cost.
    pub share: Option<f64>,
}

impl StatementTime {
    /// Whether it differs from the base by more than chance.
    pub fn is_sure(&self) -> bool {
        is_beyond_chance(self.low, self.high, self.q)
    }
}
