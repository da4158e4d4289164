//! Which system calls a server made in a test, as kept in rounds that explain a campaign.
//!
//! Made by `profile`, kept as a part of a sample, read by `analysis`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The system calls of a server's processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFacts {
    /// The spans of counted time together, in nanoseconds.
    pub counted_ns: u64,
    /// The part of them in which calls were recorded.
    pub recorded_ns: u64,
    /// Records that the kernel had no room for, of any process.
    pub lost: u64,
    /// By name.
    pub calls: BTreeMap<String, SyscallCount>,
}

/// One of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallCount {
    /// Calls that were recorded.
    pub samples: u64,
    /// All calls that these stand for, in the time in which calls were recorded.
    pub calls: u64,
}
