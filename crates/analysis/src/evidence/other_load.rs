//! What ran on the machine beside the servers and the client, while a test ran.
//!
//! In: the samples of all treatments of a test. Out: its share of the machine's CPU time. A host's CPU time is of a
//! treatment's own slices, its server's of the whole test, idle servers' background work included: only summed over all
//! treatments do the two show what was of neither. What the kernel does in threads of its own counts as well.

use super::cost::{Used, client_cpu_s, host_cpu_s, machine_s, server_cpu_s};
use crate::read::measured::Measured;

/// The share of the machine's CPU time that neither servers nor client used; `None` where nothing was observed.
pub(crate) fn share<'a>(samples: impl Iterator<Item = &'a Measured>) -> Option<f64> {
    let used = Used::of(samples);
    let machine_s = used.sum(machine_s);
    let others_s = used.sum(|used| host_cpu_s(used) - server_cpu_s(used) - client_cpu_s(used));
    (machine_s > 0.0).then(|| (others_s / machine_s).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Slices;

    /// Ten seconds on two CPUs.
    fn used(host_s: f64, server_s: f64, client_s: f64) -> Measured {
        let mut measured = measured(1, 1, Slices::default());
        let resources = &mut measured.sample.resources;
        (resources.host.seconds, resources.host.cpus) = (10.0, 2);
        resources.host.cpu_user_s = 0.75 * host_s;
        resources.host.cpu_system_s = 0.25 * host_s;
        resources.server.cpu_user_s = server_s;
        resources.client.cpu_system_s = client_s;
        measured
    }

    #[test]
    fn what_is_neither_servers_nor_clients_is_other_load() {
        let check = |samples: &[Measured], expected: Option<f64>| {
            let found = share(samples.iter());
            let is_close = found.zip(expected).is_some_and(|(found, expected)| (found - expected).abs() < 1e-9);
            assert!(is_close || found == expected, "{found:?} and not {expected:?}");
        };
        check(&[used(10.0, 7.0, 3.0)], Some(0.0));
        check(&[used(19.0, 7.0, 3.0)], Some(0.45));
        // The second server worked while it was the first one's turn, and says so in its own time.
        check(&[used(14.0, 6.0, 2.0), used(8.0, 12.0, 2.0)], Some(0.0));
        check(&[used(5.0, 7.0, 3.0)], Some(0.0));
        let mut failed = used(19.0, 0.0, 0.0);
        failed.sample.failure = Some("server died".to_owned());
        check(&[failed], None);
        check(&[], None);
    }
}
