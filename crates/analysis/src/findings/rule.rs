//! What engineers of the field read from several figures or tests at once.

use serde::{Deserialize, Serialize};

/// A rule that holds for a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// More context switches at the same CPU time, with several clients: contention.
    Contention,
    /// A loss differs with the length of a range.
    Ranges {
        /// The test with the shortest range, and its rQPS.
        shortest: (String, f64),
        /// The test with the longest range, and its rQPS.
        longest: (String, f64),
        /// Whether the loss shrinks with longer ranges, and so is one per statement; else it grows, and is one per row.
        is_per_statement: bool,
    },
    /// Of tests that differ in nothing but the index, those of the secondary index lost, and those of the primary key
    /// did not.
    SecondaryIndex,
    /// More instructions, each of which takes as long as before.
    MoreCode,
    /// The same instructions, which take longer.
    SlowerCode {
        /// The misses of branches, caches and TLB of which there are more, by the names of `WorkFindings`; the most
        /// first.
        misses: Vec<String>,
    },
}
