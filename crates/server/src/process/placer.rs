//! Pins what serves a session, a process of its own or a thread of the server, to a CPU.
//!
//! In: a session of a running server, a CPU. Out: the thread, pinned, as read back, or the reason why not. It touches
//! nothing that is not the server's, and must not choose the CPU.

use super::Server;
use crate::{Result, ServerError, dbms, placement};
use rqps_machine::proctree::ProcessId;
use rqps_model::Engine;
use rqps_wire::Session;
use std::sync::{Mutex, PoisonError};

/// Places sessions of one server, also from several threads.
#[derive(Debug)]
pub struct SessionPlacer {
    engine: Engine,
    server: ProcessId,
    /// One at a time: some threads are found by what they do while only their own session is at work.
    turn: Mutex<()>,
}

impl Server {
    /// What places sessions of this server.
    pub fn session_placer(&self) -> SessionPlacer {
        SessionPlacer { engine: self.target.endpoint.engine, server: self.process, turn: Mutex::new(()) }
    }
}

impl SessionPlacer {
    /// The thread that serves a session, which may be the only one of its process.
    pub fn thread(&self, session: &mut Session) -> Result<u32> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        dbms::serving_thread(self.engine, self.server, session)
    }

    /// The same, if the server tells it at next to no cost.
    pub fn told_thread(&self, session: &mut Session) -> Result<u32> {
        dbms::told_thread(self.engine, self.server, session)
    }

    /// Pins what serves a session to a CPU; which thread that is.
    pub fn place(&self, session: &mut Session, cpu: usize) -> Result<u32> {
        let thread = self.thread(session)?;
        let refused = |reason: String| ServerError::Placement {
            who: format!("thread {thread}, which serves a session"),
            cpus: vec![cpu],
            reason,
        };
        placement::pin(placement::thread(thread), &[cpu]).map_err(|error| refused(error.to_string()))?;
        match placement::read_back(placement::thread(thread)) {
            Ok(cpus) if cpus == [cpu] => Ok(thread),
            Ok(cpus) => Err(refused(format!("the kernel says {cpus:?}"))),
            Err(error) => Err(refused(error.to_string())),
        }
    }
}
