//! What is run: which servers, with how many clients, for how long; and the moments between slices.
//!
//! In: nothing. Out: the types that callers give to `run` and get from it. What makes no sense, or cannot run on this
//! machine, is refused here.

use super::placing::ClientCpus;
use super::schedule::Schedule;
use super::seconds::RowSink;
use crate::error::LoadError;
use rqps_model::plan::Arrival;
use rqps_wire::Endpoint;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files besides sessions that the process may need.
const OTHER_FILES: u64 = 64;

/// How a workload is run.
#[derive(Debug, Clone, Copy)]
pub struct Exercise<'a> {
    /// The servers.
    pub arms: &'a [Endpoint],
    /// Clients of each arm.
    pub clients: u32,
    /// Threads that drive them.
    pub threads: u32,
    /// Where those threads run.
    pub cpus: ClientCpus<'a>,
    /// How long everything lasts.
    pub schedule: Schedule,
    /// When events are due.
    pub arrival: Arrival,
    /// Seed of this round and test.
    pub seed: u64,
    /// By arm: the share of a statement's time that its sessions burn between two statements, a change that is planted.
    /// Arms beyond its end, and those with 0, run as they are.
    pub planted: &'a [f64],
    /// Takes what each arm did in each second.
    pub rows: RowSink<'a>,
    /// Whether to keep when work was counted, slice by slice, for those who sample the servers meanwhile.
    pub keeps_spans: bool,
}

impl<'a> Exercise<'a> {
    /// A closed loop on one thread that runs anywhere, with nothing planted and nothing kept besides its sums.
    pub fn new(arms: &'a [Endpoint], clients: u32, schedule: Schedule, seed: u64) -> Exercise<'a> {
        Exercise {
            arms,
            clients,
            threads: 1,
            cpus: ClientCpus::default(),
            schedule,
            arrival: Arrival::Closed,
            seed,
            planted: &[],
            rows: RowSink::NONE,
            keeps_spans: false,
        }
    }

    /// Threads that are really used.
    pub(crate) fn threads_used(&self) -> u32 {
        self.threads.clamp(1, self.clients.max(1))
    }
}

/// What an arm is visited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// New sessions, with a few uncounted events.
    Connect,
    /// Uncounted slices.
    WarmUp,
    /// Counted slices.
    Counted,
}

/// What happens next, or has just happened, while no server works for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// Clients begin to work. Threads that the caller starts here run anywhere; ours are not on their CPUs yet.
    Begin,
    /// All is counted, and the sessions are still there.
    End,
    /// The arm will be visited now: thaw its server, read counters.
    Enter {
        /// Index of the arm.
        arm: usize,
        /// What for.
        phase: Phase,
    },
    /// The visit is over, or paused with statements under way: freeze its server, read counters.
    Leave {
        /// Index of the arm.
        arm: usize,
        /// What for.
        phase: Phase,
    },
}

/// The caller's hook.
pub(super) type Hook<'h> = dyn FnMut(Switch) -> Result<(), LoadError> + 'h;

/// Whether it can run; room for open files is made where there is too little.
pub(super) fn check(exercise: &Exercise<'_>, sessions: usize) -> Result<(), LoadError> {
    if exercise.clients == 0 || exercise.arms.is_empty() {
        return Err(LoadError::Shape("an exercise needs at least one client and one server".to_owned()));
    }
    if let Arrival::Poisson { rate_per_s } | Arrival::Even { rate_per_s } = exercise.arrival
        && !(rate_per_s.is_finite() && rate_per_s > 0.0)
    {
        return Err(LoadError::Shape(format!("a rate of {rate_per_s} events a second cannot be planned")));
    }
    let is_share = |share: &f64| (0.0..1.0).contains(share);
    let planted = exercise.planted;
    if planted.len() > exercise.arms.len() || !planted.iter().all(is_share) {
        return Err(LoadError::Shape("a change is planted in an arm, as a share of a statement's time".to_owned()));
    }
    if !planted.is_empty() && exercise.arrival != Arrival::Closed {
        return Err(LoadError::Shape("a change is planted in a closed loop only".to_owned()));
    }
    // Each session has its socket, the watchdog's copy of it and, where it is alone on its thread, what waits for it.
    let needed = 3 * sessions as u64 * u64::from(exercise.clients) * exercise.arms.len() as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        if limit.maximum.is_some_and(|maximum| maximum < needed) {
            return Err(LoadError::Shape(format!(
                "{needed} open files are needed and {} allowed; raise `ulimit -n` or use fewer clients",
                limit.maximum.unwrap_or(0)
            )));
        }
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
            .map_err(|error| LoadError::System { doing: "allowing more open files", error: error.into() })?;
    }
    Ok(())
}
