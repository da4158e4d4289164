//! Plans of a test's statements, and how they compare with the peer's.

use serde::{Deserialize, Serialize};

/// A statement's plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFindings {
    /// Statement kind.
    pub statement: String,
    /// Plan as the server prints it.
    pub plan: String,
    /// Whether its structure (nodes, indexes, columns of conditions; not costs) differs from the peer's.
    pub differs: bool,
    /// Whether that is not known, since a server told no plan of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_not_compared: bool,
    /// The first node in which it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<PlanDifference>,
    /// Where it does not: the node whose estimates differ most, if any do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimates: Option<EstimateDifference>,
    /// The structure as lines, in the same words for all versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structure: Vec<String>,
    /// Whether it is a plan for all values of a prepared statement, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_generic: Option<bool>,
}

/// The first node in which a plan differs from the peer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDifference {
    /// Its place, counted from 1 at the root, as plans are printed.
    pub node: u32,
    /// What the peer has there.
    pub peer: String,
    /// What this plan has there.
    pub own: String,
}

/// Estimates of a node that differ by a factor of 2 or more, between plans of the same structure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateDifference {
    /// The node.
    pub node: String,
    /// Rows that the peer expects; at least 1.
    pub peer_rows: f64,
    /// Rows that this plan expects; at least 1.
    pub rows: f64,
}
