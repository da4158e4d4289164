//! What a campaign is made from: the plan and everything on this machine that it needs. Only data.

use rqps_machine::{Cache, Lease};
use rqps_model::Plan;
use rqps_model::facts::BuildFacts;
use rqps_server::Profiles;
use rqps_suites::Suite;
use std::path::Path;

/// Everything that a campaign needs.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The statements that suites know.
    pub suites: &'a [Suite],
    /// The build of each treatment, in plan order.
    pub builds: &'a [BuildFacts],
    /// Configuration profiles.
    pub profiles: &'a Profiles,
    /// The cache, which also holds leases.
    pub cache: &'a Cache,
    /// Notes what is made.
    pub lease: &'a Lease,
    /// Where data folders are made; `None` = the usual place.
    pub data_parent: Option<&'a Path>,
    /// How often the campaign was resumed.
    pub resumed: usize,
}
