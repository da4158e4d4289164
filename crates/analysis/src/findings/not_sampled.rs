//! What was not sampled, and why.

use rqps_model::Sampling;
use serde::{Deserialize, Serialize};

/// Something that rounds that explain the campaign would have told of a treatment in a test, and that none of them
/// could sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotSampled {
    /// What.
    pub what: Sampling,
    /// Why not, in the last of these rounds, with what lifts it.
    pub why: String,
}
