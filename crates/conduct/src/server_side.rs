//! What is done about the server's side of sessions: it is placed, and what it does in them is counted.
//!
//! In: sessions as they come and go. Out: what served those of each server did in all of them. `load` says when,
//! `server` knows what serves a session, `observe` reads it.

use rqps_load::drive::ServerSide;
use rqps_model::sample::SessionUse;
use rqps_observe::SessionMeter;
use rqps_server::Server;
use rqps_server::process::SessionPlacer;
use rqps_wire::Session;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sides of servers, by the index of their arm.
#[derive(Debug)]
pub(crate) struct ServerSides(Vec<Side>);

#[derive(Debug)]
struct Side {
    placer: SessionPlacer,
    meter: Mutex<SessionMeter>,
}

impl Side {
    fn meter(&self) -> MutexGuard<'_, SessionMeter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerSides {
    /// Of servers that run.
    pub(crate) fn of<'s>(servers: impl Iterator<Item = &'s Server>) -> ServerSides {
        let side = |server: &Server| Side { placer: server.session_placer(), meter: Mutex::default() };
        ServerSides(servers.map(side).collect())
    }

    /// All is counted, and the last sessions are still there: by arm what was done in all of them, where it is known.
    pub(crate) fn stop(&self) -> Vec<Option<SessionUse>> {
        self.0.iter().map(|side| side.meter().stop()).collect()
    }
}

impl ServerSide for ServerSides {
    fn opened(&self, arm: usize, thread: usize, session: &mut Session, cpu: Option<usize>) -> Result<(), String> {
        let side = &self.0[arm];
        let serving = match cpu {
            Some(cpu) => side.placer.place(session, cpu),
            None => side.placer.told_thread(session),
        };
        side.meter().opened(thread, serving.as_ref().ok().copied());
        match serving {
            // Where no CPU is wanted, nothing was refused.
            Err(refused) if cpu.is_some() => Err(refused.to_string()),
            _ => Ok(()),
        }
    }

    fn closing(&self, arm: usize, thread: usize) {
        self.0[arm].meter().closing(thread);
    }
}
