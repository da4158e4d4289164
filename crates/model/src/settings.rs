//! Words for how a server is configured and where it runs: profile names, placement, sizing.

use crate::words;
use serde::{Deserialize, Serialize};

words! {
    /// On which CPUs server and client run. Chosen, never left to chance: docs/measurement.md says why.
    Placement {
        /// Server and client share one CPU set.
        Same = "same",
        /// Server and client have disjoint CPU sets.
        Split = "split",
        /// Left to the scheduler.
        Free = "free",
    }
}

words! {
    /// In what pages of memory the programs of servers lie.
    ProgramPages {
        /// In the small pages of the page cache, drawn anew in each round.
        Small = "small",
        /// In huge pages, in a copy that is made anew in each round.
        Huge = "huge",
    }
}

impl ProgramPages {
    /// Whether they are the usual ones, which plans do not tell.
    pub fn is_small(&self) -> bool {
        *self == ProgramPages::Small
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
