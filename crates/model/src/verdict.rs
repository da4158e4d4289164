//! The four answers rqps gives about a test.

use crate::words;

words! {
    /// How a treatment's throughput compares with the base; counts are listed in this order.
    Verdict {
        /// Slower, and the interval does not contain 1.
        Regressed = "regressed",
        /// Faster, and the interval does not contain 1.
        Improved = "improved",
        /// Shown to differ by less than the margin.
        Equal = "equal",
        /// Neither shown: more rounds are needed.
        Undecided = "undecided",
    }
}

impl Verdict {
    /// Whether something changed, for better or worse.
    pub fn is_change(self) -> bool {
        matches!(self, Verdict::Regressed | Verdict::Improved)
    }
}
