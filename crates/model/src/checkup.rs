//! What `rqps doctor` found on a host, as campaigns keep it.
//!
//! Made by `lab`, kept with each start of a campaign, shown by `report`.

use serde::{Deserialize, Serialize};

/// What a finding means for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing: it costs precision, or an aid is missing.
    Note,
    /// It makes numbers wrong or wide.
    Problem,
}

/// One look at a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCheckup {
    /// When it ended: UTC, RFC 3339.
    pub at: String,
    /// What was looked at.
    pub findings: Vec<HostFinding>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFinding {
    /// What, such as `swap`.
    pub about: String,
    /// What it means.
    pub level: Level,
    /// What was found.
    pub found: String,
}
