//! How much a server worked per operation, as its own counters tell it.

use serde::{Deserialize, Serialize};

/// One kind of work, in the unit of `Cost`: per statement, for `scan` per thousand rows, of steps per row or query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkFindings {
    /// Which, such as `buffer_hits`; `MeasureComparison::measure` has the same name.
    pub name: String,
    /// Over all rounds.
    pub per_op: f64,
    /// In the round with the least of it.
    pub least: f64,
    /// In the round with the most of it.
    pub most: f64,
    /// Rounds that have a count.
    pub rounds: u32,
}

impl WorkFindings {
    /// Rounds of an exact count differ by less than this.
    pub const EXACT: f64 = 0.0005;

    /// Whether all rounds counted the same, so that no interval is needed to compare it.
    pub fn is_steady(&self) -> bool {
        self.rounds > 1 && self.least > 0.0 && self.most / self.least - 1.0 < WorkFindings::EXACT
    }
}
