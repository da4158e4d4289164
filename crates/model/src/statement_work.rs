//! What each kind of statement of a test made a server do, as kept in rounds that explain a campaign.
//!
//! Made by `load`, kept as a part of a sample, read by `analysis`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The executions of one kind of statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementWork {
    /// Its name, as in `latency`; or that of a transaction or script of several.
    pub statement: String,
    /// How many executions were counted.
    pub executions: u32,
    /// What the server counted in all of them, in its own words: as EXPLAIN of PostgreSQL names it, such as `Shared Hit
    /// Blocks`, or a status variable, such as `status.Handler_read_key`.
    pub counts: BTreeMap<String, f64>,
    /// Why they could not be counted, where a server refused one or the client could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<String>,
}
