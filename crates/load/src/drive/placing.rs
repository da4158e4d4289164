//! Pins each thread of the client to a CPU, and with it what serves its sessions on the server.
//!
//! In: CPUs, and the caller's way to pin what serves a session. Out: how sessions were spread. A session whose two
//! sides are on different CPUs is several times slower than one whose sides share a CPU (docs/measurement.md), so
//! neither is left to the scheduler. It is done when a session is new, never in counted time.

use super::port::monotonic_ns;
use rqps_model::sample::SessionPlacement;
use rqps_wire::Session;
use std::fmt::Debug;

/// Pins what serves a session, a process or a thread of the server, to a CPU.
pub trait PlaceSession: Sync + Debug {
    /// Pins it and reads the CPU back; the error is the reason why it could not.
    fn place(&self, arm: usize, session: &mut Session, cpu: usize) -> Result<(), String>;
}

/// Where the client's threads run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCpus<'a> {
    /// Their CPUs; empty leaves them where they are.
    pub set: &'a [usize],
    /// If given, each thread has one of the CPUs, together with what serves its sessions; otherwise all share all.
    pub by_session: Option<&'a dyn PlaceSession>,
}

impl<'a> ClientCpus<'a> {
    /// The CPUs of a thread.
    pub(crate) fn of_thread(&self, thread: usize) -> &'a [usize] {
        match self.set {
            [] => &[],
            cpus if self.by_session.is_some() => std::slice::from_ref(&cpus[thread % cpus.len()]),
            cpus => cpus,
        }
    }

    /// Pins what serves a thread's new sessions to the CPU of the thread.
    pub(crate) fn place<'s>(
        &self,
        arm: usize,
        thread: usize,
        sessions: impl Iterator<Item = &'s mut Session>,
    ) -> Option<SessionPlacement> {
        let (place, [cpu]) = (self.by_session?, self.of_thread(thread)) else { return None };
        let mut placement = SessionPlacement::default();
        let begun_ns = monotonic_ns();
        for session in sessions {
            match place.place(arm, session, *cpu) {
                Ok(()) => *placement.sessions_by_cpu.entry(*cpu).or_default() += 1,
                Err(refused) => _ = placement.refused.get_or_insert(refused),
            }
        }
        placement.seconds = (monotonic_ns() - begun_ns) as f64 / 1e9;
        Some(placement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Anywhere;

    impl PlaceSession for Anywhere {
        fn place(&self, _: usize, _: &mut Session, _: usize) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn threads_are_spread_evenly_only_where_sessions_are_placed() {
        let shared = ClientCpus { set: &[2, 5], by_session: None };
        assert_eq!([0, 1, 2].map(|thread| shared.of_thread(thread)), [&[2, 5]; 3]);
        let apart = ClientCpus { by_session: Some(&Anywhere), ..shared };
        assert_eq!([0, 1, 2].map(|thread| apart.of_thread(thread)), [&[2], &[5], &[2]]);
        assert_eq!(ClientCpus::default().of_thread(1), &[] as &[usize]);
    }
}
