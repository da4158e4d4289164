//! Words for how a server is configured and where it runs: profile names, placement, sizing.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// On which CPUs server and client run. Chosen, never left to chance: docs/measurement.md says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Server and client share one CPU set.
    Same,
    /// Server and client have disjoint CPU sets.
    Split,
    /// Left to the scheduler.
    Free,
}

impl Placement {
    /// All placements.
    pub const ALL: [Placement; 3] = [Placement::Same, Placement::Split, Placement::Free];

    /// The word used by `--placement`.
    pub const fn name(self) -> &'static str {
        match self {
            Placement::Same => "same",
            Placement::Split => "split",
            Placement::Free => "free",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no placement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown placement `{0}`; expected same, split or free")]
pub struct UnknownPlacement(pub String);

impl FromStr for Placement {
    type Err = UnknownPlacement;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Placement::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| UnknownPlacement(text.to_owned()))
    }
}

/// The machine that a profile is sized for: all of the host, or the part that the user gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineClass {
    /// CPU cores.
    pub cores: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

impl MachineClass {
    /// The suffix of a configuration's name, such as `c8r32`.
    pub fn suffix(self) -> String {
        let gib = (self.memory_bytes as f64 / f64::from(1u32 << 30)).round().max(1.0);
        format!("c{}r{gib}", self.cores)
    }
}

/// CPUs of one side of a benchmark, in ascending order; empty means all.
pub type CpuSet = Vec<usize>;
