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
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sides of servers, by the index of their arm.
#[derive(Debug)]
pub(crate) struct ServerSides {
    sides: Vec<Side>,
    /// Whether it must be known what the thread that serves a session is there for.
    keeps_purposes: bool,
}

/// What threads of a server that serve sessions are there for.
pub(crate) type Purposes = HashMap<u32, &'static str>;

#[derive(Debug)]
struct Side {
    placer: SessionPlacer,
    meter: Mutex<SessionMeter>,
    purposes: Mutex<Purposes>,
}

impl Side {
    fn meter(&self) -> MutexGuard<'_, SessionMeter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn purposes(&self) -> MutexGuard<'_, Purposes> {
        self.purposes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerSides {
    /// Of servers that run. To keep the purposes of threads, a server that does not tell which of them serves a session
    /// is looked at until that is known.
    pub(crate) fn of<'s>(servers: impl Iterator<Item = &'s Server>, keeps_purposes: bool) -> ServerSides {
        let side = |server: &Server| Side {
            placer: server.session_placer(),
            meter: Mutex::default(),
            purposes: Mutex::default(),
        };
        ServerSides { sides: servers.map(side).collect(), keeps_purposes }
    }

    /// By arm what is known so far of the threads that serve sessions, where those are there for several things.
    pub(crate) fn purposes(&self) -> Vec<Purposes> {
        self.sides.iter().map(|side| side.purposes().clone()).collect()
    }

    /// All is counted, and the last sessions are still there: by arm what was done in all of them, where it is known.
    pub(crate) fn stop(&self) -> Vec<Option<SessionUse>> {
        self.sides.iter().map(|side| side.meter().stop()).collect()
    }
}

impl ServerSide for ServerSides {
    fn opened(
        &self,
        arm: usize,
        thread: usize,
        (session, purpose): (&mut Session, &'static str),
        cpu: Option<usize>,
    ) -> Result<(), String> {
        let side = &self.sides[arm];
        let has_purpose = self.keeps_purposes && !purpose.is_empty();
        let serving = match cpu {
            Some(cpu) => side.placer.place(session, cpu),
            None if has_purpose => side.placer.thread(session),
            None => side.placer.told_thread(session),
        };
        if let (true, Ok(thread)) = (has_purpose, &serving) {
            side.purposes().insert(*thread, purpose);
        }
        side.meter().opened(thread, serving.as_ref().ok().copied());
        match serving {
            // Where no CPU is wanted, nothing was refused.
            Err(refused) if cpu.is_some() => Err(refused.to_string()),
            _ => Ok(()),
        }
    }

    fn closing(&self, arm: usize, thread: usize) {
        self.sides[arm].meter().closing(thread);
    }
}
