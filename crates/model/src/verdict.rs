//! The four answers rqps gives about a test.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a treatment's throughput stands against the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Slower, and the interval does not contain 1.
    Regressed,
    /// Faster, and the interval does not contain 1.
    Improved,
    /// Shown to differ by less than the margin.
    Equal,
    /// Neither shown: more rounds are needed.
    Undecided,
}

impl Verdict {
    /// All verdicts, in the order in which counts are listed.
    pub const ALL: [Verdict; 4] = [Verdict::Regressed, Verdict::Improved, Verdict::Equal, Verdict::Undecided];

    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Regressed => "regressed",
            Verdict::Improved => "improved",
            Verdict::Equal => "equal",
            Verdict::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
