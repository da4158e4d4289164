//! What explains a ratio: costs, counters, latency, plans, settings, and the timeline of a test over time.
//!
//! In: samples and treatments as read. Out: findings of one treatment or of one beside its peer. Reaches no verdict.

pub(crate) mod answers;
pub(crate) mod cost;
pub(crate) mod counters;
pub(crate) mod counts;
pub(crate) mod cpu_events;
pub(crate) mod forced;
pub(crate) mod latency;
pub(crate) mod other_load;
pub(crate) mod plan_structure;
pub(crate) mod response;
pub(crate) mod semantic_settings;
pub(crate) mod series;
pub(crate) mod settings;
pub(crate) mod speeds;
pub(crate) mod timeline;
pub(crate) mod touching;
pub(crate) mod work;
