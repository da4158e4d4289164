//! Pins each thread of the client to a CPU, and with it what serves its sessions on the server; and says when sessions
//! come and go.
//!
//! In: CPUs, and what the caller does about the server's side of sessions. Out: how sessions were spread. A session
//! whose two sides are on different CPUs is several times slower than one whose sides share a CPU
//! (docs/measurement.md), so neither is left to the scheduler. It is done when a session is new, never in counted time.

use super::port::monotonic_ns;
use rqps_model::sample::SessionPlacement;
use rqps_wire::Session;
use std::fmt::Debug;

/// The server's side of sessions: the process or thread of the server that serves each. All sessions of a thread of the
/// client to an arm come and go together.
pub trait ServerSide: Sync + Debug {
    /// A session is new, and is there for a purpose, where sessions differ in it. What serves it is pinned to the CPU,
    /// if one is given, and that is read back; the error is the reason why it could not.
    fn opened(
        &self,
        arm: usize,
        thread: usize,
        session: (&mut Session, &'static str),
        cpu: Option<usize>,
    ) -> Result<(), String>;

    /// The sessions of a thread are about to be closed, to make room for new ones.
    fn closing(&self, arm: usize, thread: usize);
}

/// Where the client's threads run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCpus<'a> {
    /// Their CPUs; empty leaves them where they are.
    pub set: &'a [usize],
    /// Whether each thread has one of the CPUs, together with what serves its sessions; otherwise all share all.
    pub by_session: bool,
    /// The server's side of sessions, where somebody looks after it.
    pub server_side: Option<&'a dyn ServerSide>,
}

impl<'a> ClientCpus<'a> {
    /// The CPUs of a thread.
    pub(crate) fn of_thread(&self, thread: usize) -> &'a [usize] {
        match self.set {
            [] => &[],
            cpus if self.by_session => std::slice::from_ref(&cpus[thread % cpus.len()]),
            cpus => cpus,
        }
    }

    /// A thread has new sessions, each with its purpose: what serves them goes to the CPU of the thread.
    pub(crate) fn opened<'s>(
        &self,
        arm: usize,
        thread: usize,
        sessions: impl Iterator<Item = (&'s mut Session, &'static str)>,
    ) -> Option<SessionPlacement> {
        let server_side = self.server_side?;
        let cpu = self.of_thread(thread).first().copied().filter(|_| self.by_session);
        let mut placement = SessionPlacement::default();
        let begun_ns = monotonic_ns();
        for session in sessions {
            match (server_side.opened(arm, thread, session, cpu), cpu) {
                (Ok(()), Some(cpu)) => *placement.sessions_by_cpu.entry(cpu).or_default() += 1,
                (Err(refused), _) => _ = placement.refused.get_or_insert(refused),
                (Ok(()), None) => {}
            }
        }
        placement.seconds = (monotonic_ns() - begun_ns) as f64 / 1e9;
        cpu.map(|_| placement)
    }

    /// A thread's sessions will be closed.
    pub(crate) fn closing(&self, arm: usize, thread: usize) {
        if let Some(server_side) = self.server_side {
            server_side.closing(arm, thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_spread_evenly_only_where_sessions_are_placed() {
        let shared = ClientCpus { set: &[2, 5], ..ClientCpus::default() };
        assert_eq!([0, 1, 2].map(|thread| shared.of_thread(thread)), [&[2, 5]; 3]);
        let apart = ClientCpus { by_session: true, ..shared };
        assert_eq!([0, 1, 2].map(|thread| apart.of_thread(thread)), [&[2], &[5], &[2]]);
        assert_eq!(ClientCpus::default().of_thread(1), &[] as &[usize]);
    }
}
