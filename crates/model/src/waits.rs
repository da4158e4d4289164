//! What sessions of a server were found doing at moments of a test, as kept in rounds that explain a campaign.
//!
//! Made by `observe`, kept as a part of a sample, read by `analysis`.

use serde::{Deserialize, Serialize};

/// All moments of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitFacts {
    /// Moments in counted time at which the server said what its sessions did.
    pub moments: u64,
    /// Moments in the server's own slices, but not in counted time: lead-ins, new sessions.
    pub uncounted: u64,
    /// The spans of counted time together, in nanoseconds.
    pub counted_ns: u64,
    /// What was found in counted time.
    pub found: Vec<Found>,
}

/// One thing that sessions or background processes did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Found {
    /// Who did it.
    pub who: Who,
    /// Whether that is waiting.
    pub doing: Doing,
    /// What it was, in the server's words: `Lock/transactionid`, `State/updating`; empty where the server says nothing.
    pub what: String,
    /// How often it was found, each session at each moment counted once.
    pub count: u64,
}

/// Who does something in a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// A session of a client.
    Session,
    /// A process or thread of the server itself, parallel workers included.
    Background,
}

/// What a session does as far as waiting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It waits for its client: there is nothing to do.
    Idle,
    /// It works: on a CPU, ready to run, or in a wait that the server does not tell.
    Working,
    /// It waits for something that the server names.
    Waiting,
}
