//! Who used the machine: host and client counters of each slice go to the arm that ran in it.
//!
//! In: the moments at which an arm's slice begins and ends. Out: one `HostUse` and one client `ProcessUse` an arm. What
//! an idle server does in the background falls to the arm that runs: with slices that is shared evenly, in turns the
//! idle servers are frozen.

use rqps_model::sample::{HostUse, ProcessUse};
use rqps_observe::client::ClientMeter;
use rqps_observe::host::{HostMeter, HostReading};
use rqps_observe::process::ProcessReading;
use rqps_observe::tally::Tally;

/// Readings at the last switch, and the sums by arm.
pub(crate) struct SliceMeters<'a> {
    host: &'a mut HostMeter,
    client: &'a mut ClientMeter,
    begun: Option<(HostReading, ProcessReading)>,
    host_use: Vec<HostUse>,
    client_use: Vec<ProcessUse>,
}

impl<'a> SliceMeters<'a> {
    /// Meters for a test on so many arms.
    pub(crate) fn new(host: &'a mut HostMeter, client: &'a mut ClientMeter, arms: usize) -> Self {
        SliceMeters {
            host,
            client,
            begun: None,
            host_use: vec![HostUse::default(); arms],
            client_use: vec![ProcessUse::default(); arms],
        }
    }

    /// An arm's slice begins.
    pub(crate) fn enter(&mut self) {
        self.begun = Some((self.host.read(), self.client.read()));
    }

    /// An arm's slice ends: what was used since it began was its doing.
    pub(crate) fn leave(&mut self, arm: usize) {
        let Some((host, client)) = self.begun.take() else { return };
        self.host_use[arm].add(&self.host.read().since(&host));
        self.client_use[arm].add(&self.client.read().since(&client));
    }

    /// The sums by arm: host and client.
    pub(crate) fn finish(self) -> Vec<(HostUse, ProcessUse)> {
        let available = self.host.read_full();
        let memory = available.since(&available).memory_available_bytes;
        self.host_use
            .into_iter()
            .zip(self.client_use)
            .map(|(host, client)| (HostUse { memory_available_bytes: memory, ..host }, client))
            .collect()
    }
}
