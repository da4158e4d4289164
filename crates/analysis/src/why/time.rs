//! Where the time of an operation goes that a build takes more or less of: on the CPU of server or client, or on none.

use super::moved::{WORTH_A_SHARE, moved};
use crate::findings::{Cause, CellFindings, Cost, Moved, WorkFindings};

/// More of a change than this is "most of it", less than the rest of it hardly any.
const MOST: f64 = 0.7;

/// The kernel's function that writes a file to its device and waits for it.
const FLUSH: &str = "do_fsync_[k]";

/// CPU of server and client, and what neither accounts for; the largest share first.
pub(super) fn causes(
    [cell, base_cell]: [&CellFindings; 2],
    [own, base]: [&Cost; 2],
    change_us: Option<f64>,
) -> Vec<Cause> {
    let share = |moved: Option<Moved>| Some(moved.map_or(0.0, |moved| moved.to - moved.from) / change_us?);
    let server = moved(cell, Cost::SERVER_CPU.name, base.server_cpu_us);
    let client = moved(cell, Cost::CLIENT_CPU.name, base.client_cpu_us);
    let run_delay_of_base = base_cell.work(WorkFindings::RUN_DELAY);
    let run_delay = run_delay_of_base.and_then(|found| share(moved(cell, WorkFindings::RUN_DELAY, found.per_op)));
    let waiting = change_us.and_then(|change_us| waiting(cell, base, change_us, run_delay));
    let server_cause =
        server.map(|moved| Cause::ServerCpu { moved, share: share(server), kernel: in_kernel(own, base) });
    // The client is the same program beside every build: it is named only where it accounts for something.
    let is_told = |share: &Option<f64>| share.is_some_and(|share| share.abs() >= WORTH_A_SHARE);
    let client_cause = client.map(|moved| (moved, share(client))).filter(|(_, share)| is_told(share));
    let client_cause = client_cause.map(|(moved, share)| Cause::ClientCpu { moved, share });
    let mut causes: Vec<Cause> = server_cause.into_iter().chain(client_cause).chain(waiting).collect();
    causes.sort_by(|a, b| share_of(b).total_cmp(&share_of(a)));
    causes
}

/// The share of a change that neither server nor client spent on a CPU, where it is most of it, and more than half even
/// if both used as much as their intervals allow; or more than half of it and found in waits with a name. What a server
/// calls a wait may be its own CPU time, such as that of writing to a file, so that names alone prove nothing. In a
/// flush it is both: a session waits for the device in it, and the kernel's CPU on the way there is no work of its own.
///
/// `run_delay` is the share in which sessions are ready to run: they wait for nothing but a CPU.
fn waiting(cell: &CellFindings, base: &Cost, change_us: f64, run_delay: Option<f64>) -> Option<Cause> {
    let (share, least) = off_cpu(cell, base, change_us)?;
    let for_cpu = |share: f64| run_delay.filter(|part| *part > 0.5 * share);
    if share >= MOST && least > 0.5 {
        return Some(Cause::Waiting { share, flush_cpu: None, for_cpu: for_cpu(share) });
    }
    let named = named_waits(cell, change_us)?;
    let flush_cpu = flush_cpu(cell, change_us);
    let told = |share: f64, flush_cpu| {
        let share = share.min(named);
        (share > 0.5).then_some(Cause::Waiting { share, flush_cpu, for_cpu: None })
    };
    told(share, None).or_else(|| told(share + flush_cpu?, flush_cpu))
}

/// The share of a change that neither server nor client spent on a CPU, and the least that it is if both used as much
/// as their intervals allow.
pub(super) fn off_cpu(cell: &CellFindings, base: &Cost, change_us: f64) -> Option<(f64, f64)> {
    let shares = |name: &str, from_us: f64| {
        let measure = cell.measure(name)?;
        let share = |ratio: f64| from_us * (ratio - 1.0) / change_us;
        Some((share(measure.ratio), share(measure.low?).max(share(measure.high?))))
    };
    let (server, server_most) = shares(Cost::SERVER_CPU.name, base.server_cpu_us)?;
    let (client, client_most) = shares(Cost::CLIENT_CPU.name, base.client_cpu_us)?;
    Some((1.0 - server - client, 1.0 - server_most - client_most))
}

/// The share of a change that is CPU in the kernel's flush of files.
fn flush_cpu(cell: &CellFindings, change_us: f64) -> Option<f64> {
    let flush = cell.profile.as_ref()?.inclusive.iter().find(|function| function.name == FLUSH)?;
    let share = flush.amount.difference_us / change_us;
    (flush.amount.is_sure && share > 0.0).then_some(share)
}

/// The share of a change that rounds that explain found in waits with a name.
fn named_waits(cell: &CellFindings, change_us: f64) -> Option<f64> {
    let waits = cell.waits.as_ref()?.moved().filter(|event| event.is_wait);
    Some(waits.map(|event| event.amount.difference_us).sum::<f64>() / change_us)
}

fn share_of(cause: &Cause) -> f64 {
    match cause {
        Cause::ServerCpu { share, .. } | Cause::ClientCpu { share, .. } => share.unwrap_or(0.0),
        Cause::Waiting { share, .. } => *share,
        Cause::Plan { .. } | Cause::Work { .. } | Cause::Count { .. } => 0.0,
    }
}

/// The share of the change of the server's CPU that is in the kernel, where that is most of it or hardly any.
fn in_kernel(own: &Cost, base: &Cost) -> Option<f64> {
    let kernel_us = |cost: &Cost| cost.server_cpu_us * (1.0 - cost.server_user_share);
    let share = (kernel_us(own) - kernel_us(base)) / (own.server_cpu_us - base.server_cpu_us);
    (share >= MOST || share <= 1.0 - MOST).then_some(share).filter(|share| share.is_finite())
}
