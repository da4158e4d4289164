//! Where a server's threads left the CPU in a test, and for how long, as kept in rounds that explain a campaign.
//!
//! Made by `profile`, kept as a part of a sample, read by `analysis`.

use serde::{Deserialize, Serialize};

/// The threads of a server off the CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedFacts {
    /// Sampled switches after which a thread was off the CPU in counted time.
    pub samples: u64,
    /// Of these, stacks that could not be followed to their outermost frame.
    pub cut: u64,
    /// Records of switches that the kernel had no room for, of any process.
    pub lost: u64,
    /// The spans of counted time together, in nanoseconds.
    pub counted_ns: u64,
    /// Where threads left the CPU.
    pub stacks: Vec<BlockedStack>,
}

/// A stack in which threads left the CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockedStack {
    /// Functions from the outermost on, with `;` between them.
    pub stack: String,
    /// Whether the thread could have gone on: another one took its CPU.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ready: bool,
    /// Sampled switches.
    pub samples: u64,
    /// The time off the CPU within counted time that these stand for, of all threads together.
    pub ns: u64,
}
