//! How a server's functions were sampled in a test, as kept beside the stacks.
//!
//! Made by `profile`, kept as a part of a sample, read by `analysis`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a reader of the stacks must know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFacts {
    /// Nanoseconds of CPU time that a sample stands for.
    pub period_ns: u64,
    /// Samples in counted time: those of the stacks.
    pub samples: u64,
    /// Samples while the server was visited, but nothing was counted: lead-ins, new sessions.
    pub uncounted: u64,
    /// Samples while the client worked on another server, or on none.
    pub background: u64,
    /// Samples of what the server did for those who ask it what its sessions wait for.
    #[serde(default)]
    pub ours: u64,
    /// Samples of the client while it visited the server; `None` in older folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u64>,
    /// Samples of any process that the kernel had no room for.
    pub lost: u64,
    /// How often the kernel held sampling back.
    pub throttled: u64,
    /// Stacks that could not be followed to their outermost frame, and whose outer frames are not known.
    pub cut: u64,
    /// Stacks that could not be followed either, and have the outer frames that whole stacks agree on.
    #[serde(default)]
    pub completed: u64,
    /// The spans of counted time together.
    pub counted_ns: u64,
    /// Files in which only those functions have names that others call.
    pub without_symbols: Vec<String>,
    /// Functions of libraries, by file: all others are the server's own or the kernel's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, Vec<String>>,
    /// Functions whose source file is known, by that file and its folder, such as `nbtree/nbtsearch.c`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, Vec<String>>,
    /// Functions in the stacks of the other servers of which this one's program has no code of their own, with those
    /// that they were inlined into; `None` where nothing tells whether they were.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent: BTreeMap<String, Option<Vec<String>>>,
}
