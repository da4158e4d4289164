//! Warnings that the client was the limit, or that its sessions waited for one another.
//!
//! In: what client, server and host used. Out: warnings. Thresholds are named here with their reason.

use super::cell::Cell;
use super::{advised, warning};
use crate::digits::percent;
use crate::evidence::cost::{Used, client_cpu_s, machine_s, server_cpu_s};
use crate::findings::Warning;
use crate::read::measured::Measured;
use rqps_model::{Interleave, WarningKind};

/// A client that takes more of the machine than this leaves too little to the server.
const CLIENT_SHARE_OF_MACHINE: f64 = 0.5;
/// A client that is busy more than this share of its own CPUs is the limit.
const CLIENT_SHARE_OF_ITS_CPUS: f64 = 0.9;
/// A thread that is busy more than this share of the time is the limit.
const CLIENT_THREAD_SHARE: f64 = 0.9;
/// Sessions that are idle for more of their time than the rest stand beside slices that last longer for one than for
/// another.
const BUSY_SHARE: f64 = 0.9;

pub(super) fn client(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if let Some(busy) = busy_threads(cell) {
        found.push(busy);
        return;
    }
    let used = Used::of(cell.samples());
    let [client_s, server_s, machine_s] = [client_cpu_s, server_cpu_s, machine_s].map(|of| used.sum(of));
    let wall_s = used.sum(|used| used.host.seconds);
    if client_s <= 0.0 {
        return;
    }
    let settings = cell.settings;
    let own_cpus = settings.client_cpus.iter().filter(|cpu| !settings.server_cpus.contains(cpu)).count();
    let is_apart = own_cpus > 0 && own_cpus == settings.client_cpus.len();
    let share_of_own = client_s / (own_cpus as f64 * wall_s);
    let message = if server_s > 0.0 && client_s > server_s {
        format!("the client used {:.1} times the server's CPU time", client_s / server_s)
    } else if machine_s > 0.0 && client_s > CLIENT_SHARE_OF_MACHINE * machine_s {
        format!("the client used {} of the machine", percent(client_s / machine_s))
    } else if is_apart && wall_s > 0.0 && share_of_own > CLIENT_SHARE_OF_ITS_CPUS {
        format!("the client's own CPUs were busy {} of the time", percent(share_of_own))
    } else {
        return;
    };
    found.push(warning(WarningKind::ClientBound, message));
}

/// The client's threads where they were the limit.
fn busy_threads(cell: &Cell<'_>) -> Option<Warning> {
    let (mut cpu_s, mut thread_s) = (0.0, 0.0);
    for (_, record) in cell.recorded_with_number() {
        cpu_s += record.client_cpu_ns as f64 / 1e9;
        thread_s += f64::from(record.threads) * record.seconds;
    }
    let share = cpu_s / thread_s;
    (thread_s > 0.0 && share > CLIENT_THREAD_SHARE).then(|| {
        let message = format!("the client's threads were busy {} of the time", percent(share));
        warning(WarningKind::ClientBound, message)
    })
}

/// Sessions that had ended their slice and waited for others that had not: throughput is per busy time and leaves that
/// out. A single session has no others to wait for. What failed is not in the busy time either, and is reported as
/// errors.
pub(super) fn idle_sessions(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if !cell.is_closed {
        return;
    }
    let (mut busy_s, mut all_s, mut in_slices) = (0.0, 0.0, false);
    let may_wait = |m: &&Measured| {
        m.has_number() && m.sample.clients > 1 && m.sample.interleave.is_some() && m.sample.errors.is_empty()
    };
    for sample in cell.samples().filter(may_wait).map(|m| &m.sample) {
        busy_s += sample.busy_ns as f64 / 1e9;
        all_s += f64::from(sample.clients) * sample.seconds;
        in_slices |= sample.interleave == Some(Interleave::Slices);
    }
    if all_s <= 0.0 || busy_s >= BUSY_SHARE * all_s {
        return;
    }
    let (edges, longer) = if in_slices { ("slices", "longer slices (`--slice`), ") } else { ("turns", "") };
    let message = format!(
        "sessions were busy {} of the time: at the ends of {edges} they wait for one another, which throughput leaves \
         out",
        percent(busy_s / all_s)
    );
    found.push(advised(
        WarningKind::IdleSessions,
        message,
        &format!("take {longer}fewer clients than CPUs, or a quieter machine"),
    ));
}
