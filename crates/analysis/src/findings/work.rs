//! How much a server worked per operation, as its own counters, the kernel and the CPU tell it.

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
    /// What the CPU counts: for which part of the server's CPU time it was counted, in the round with the least. Where
    /// that is not all, amounts are scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<f64>,
}

impl WorkFindings {
    /// Rounds of an exact count differ by less than this.
    pub const EXACT: f64 = 0.0005;

    /// The name of a time that is not per operation: planning each of the test's statements once.
    pub const PLANNING: &str = "planning_us";

    /// The name of how long sessions that could run wait for a CPU.
    pub const RUN_DELAY: &str = "run_delay_us";

    /// The name of how often sessions gave up their CPU to wait for something.
    pub const VOLUNTARY_SWITCHES: &str = "voluntary_switches";

    /// The name of how often the kernel took sessions off their CPU.
    pub const INVOLUNTARY_SWITCHES: &str = "involuntary_switches";

    /// The name of the page faults of sessions.
    pub const SESSION_FAULTS: &str = "session_faults";

    /// The name of what is no amount per operation: cycles of the CPU for each of its instructions.
    pub const CYCLES_PER_INSTRUCTION: &str = "cycles_per_instruction";

    /// Whether it was counted by the CPU for a part of the time, and its amounts stand for all of it.
    pub fn is_scaled(&self) -> bool {
        self.counted.is_some_and(|share| share < 1.0)
    }

    /// Whether all rounds counted the same, so that no interval is needed to compare it.
    pub fn is_steady(&self) -> bool {
        self.rounds > 1 && self.least > 0.0 && self.most / self.least - 1.0 < WorkFindings::EXACT
    }
}
