//! How far a campaign came: `status.json`, incomplete until the end was reached.
//!
//! In and out: plain values, times as text from the caller; this room reads no clock.

use rqps_model::checkup::HostCheckup;
use rqps_model::facts::HostChange;
use rqps_model::plan::TimeLimit;
use rqps_model::{FORMAT, Format};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether the campaign reached its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Being measured, or broken off: `rqps resume` continues it.
    Incomplete,
    /// Every sample of the plan is there.
    Complete,
}

/// One time that rqps began or continued the campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// UTC, RFC 3339.
    pub at: String,
    /// Version of rqps.
    pub rqps_version: String,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// What was not as when the campaign was begun: `hosts/` has the machine of the first start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_changes: Vec<HostChange>,
    /// What `rqps doctor` had found before it, in the same boot; `None` where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkup: Option<HostCheckup>,
}

/// The content of `status.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Results format.
    pub format: Format,
    /// The machine: the name of its file in `hosts/`.
    pub host: String,
    /// Whether the end was reached.
    pub state: State,
    /// When and how it was begun, then each continuation.
    pub starts: Vec<Start>,
    /// When the end was reached: UTC, RFC 3339.
    pub finished_at: Option<String>,
    /// Seconds for loading the data set, by treatment.
    pub load_seconds: BTreeMap<String, f64>,
    /// Share of the campaign's time that was spent when its last round ended, where it has a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
    /// The time as `rqps more` extended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended: Option<TimeLimit>,
    /// The rounds that had begun when it was extended for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_after: Option<u32>,
}

impl Status {
    pub(crate) fn begun(start: Start, host: String) -> Status {
        Status {
            format: FORMAT,
            host,
            state: State::Incomplete,
            starts: vec![start],
            finished_at: None,
            load_seconds: BTreeMap::new(),
            spent: None,
            extended: None,
            extended_after: None,
        }
    }

    /// Whether `rqps more` has added rounds to it, of which so many have begun.
    pub fn has_grown(&self, rounds_begun: u32) -> bool {
        self.extended.is_some() && self.extended_after.is_none_or(|after| after < rounds_begun)
    }

    /// When the campaign was begun; empty if that was not written.
    pub fn started_at(&self) -> &str {
        self.starts.first().map_or("", |start| start.at.as_str())
    }
}
