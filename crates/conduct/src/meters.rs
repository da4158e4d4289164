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
        // The client first: reading the host is none of what it did for this arm.
        self.client_use[arm].add(&self.client.read().since(&client));
        self.host_use[arm].add(&self.host.read().since(&host));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_faults_go_to_the_arm_that_made_them() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut host = HostMeter::open(here).expect("a meter");
        let mut client = ClientMeter::open().expect("a meter");
        let mut meters = SliceMeters::new(&mut host, &mut client, 2);
        for _ in 0..10 {
            meters.enter();
            meters.leave(0);
            meters.enter();
            let touched = std::hint::black_box(vec![1_u8; 8 << 20]);
            meters.leave(1);
            drop(touched);
        }
        let [(idle, _), (busy, client)] = meters.finish()[..] else { panic!("two arms") };
        // Whatever else the machine does, the client's own are among them.
        assert!(client.minor_faults >= 10, "{client:?}");
        assert!(busy.page_faults >= client.minor_faults, "{busy:?} {client:?}");
        assert!(idle.seconds < busy.seconds && busy.memory_available_bytes > 0, "{idle:?} {busy:?}");
    }
}
