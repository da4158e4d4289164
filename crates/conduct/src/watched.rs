//! The servers of a test while it runs: what is done to them, and read of them, at its moments.
//!
//! In: servers with their probes, the moments of the run. Out: what came of the run, with what served the sessions and
//! what was sampled. Where idle servers stand still, nothing is read while one works.

use crate::ConductError;
use crate::arm::observed;
use crate::profiling::Profiling;
use crate::server_side::ServerSides;
use rqps_load::suite::{Moment, Ran};
use rqps_model::StorageEngine;
use rqps_model::sample::SessionUse;
use rqps_observe::{Probes, Subject};
use rqps_server::Server;
use rqps_store::RowsPart;
use std::path::Path;

/// A server while the test runs.
pub(crate) struct WatchedServer<'a> {
    pub(crate) server: &'a mut Server,
    pub(crate) probes: &'a mut Probes,
    pub(crate) seconds: RowsPart,
    pub(crate) storage: Option<StorageEngine>,
    pub(crate) data: &'a Path,
}

impl WatchedServer<'_> {
    fn observed(&mut self, act: impl FnOnce(&mut Probes, &Subject<'_>)) {
        let WatchedServer { server, probes, storage, data, .. } = self;
        observed(server, *storage, data, |subject| act(probes, subject));
    }
}

/// The servers of a test, in the order of its arms.
pub(crate) struct WatchedServers<'a> {
    servers: Vec<WatchedServer<'a>>,
    sides: &'a ServerSides,
    profiling: Profiling<'a>,
    /// Whether idle servers stand still. One that died cannot: the run finds that out by itself and goes on with the
    /// rest.
    freezes: bool,
    /// What served the sessions did, by server, once the run has stopped.
    in_sessions: Vec<Option<SessionUse>>,
}

impl<'a> WatchedServers<'a> {
    pub(crate) fn new(
        servers: Vec<WatchedServer<'a>>,
        sides: &'a ServerSides,
        profiling: Profiling<'a>,
        freezes: bool,
    ) -> WatchedServers<'a> {
        WatchedServers { servers, sides, profiling, freezes, in_sessions: Vec::new() }
    }

    /// Does what is due at a moment; how much of the run is done is passed on.
    pub(crate) fn at(&mut self, moment: Moment, advance: &mut dyn FnMut(f64)) {
        match moment {
            Moment::Start => self.start(),
            Moment::Enter(arm) => {
                self.servers[arm].probes.enter();
                self.profiling.enter(arm);
                self.thaw(arm);
            }
            Moment::Leave(arm) => {
                self.freeze(arm);
                self.profiling.leave(arm);
                self.servers[arm].probes.leave();
            }
            Moment::Stop => self.stop(),
            Moment::Advance(fraction) => advance(fraction),
        }
    }

    fn start(&mut self) {
        for watched in &mut self.servers {
            watched.observed(|probes, subject| probes.start(subject));
        }
        self.profiling.start(self.servers.iter().map(|watched| &*watched.server));
        (0..self.servers.len()).for_each(|arm| self.freeze(arm));
    }

    fn stop(&mut self) {
        self.in_sessions = self.sides.stop();
        self.profiling.stop(self.servers.iter().map(|watched| watched.server.pids()));
        for arm in 0..self.servers.len() {
            self.thaw(arm);
            self.servers[arm].observed(|probes, subject| probes.stop(subject));
        }
    }

    fn freeze(&mut self, arm: usize) {
        if self.freezes {
            let _ = self.servers[arm].server.freeze();
        }
    }

    fn thaw(&mut self, arm: usize) {
        if self.freezes {
            let _ = self.servers[arm].server.thaw();
        }
    }

    /// Adds what was read to what came of the run, which may have ended before its time.
    pub(crate) fn end(mut self, ran: Result<Vec<Ran>, ConductError>) -> Result<Vec<Ran>, ConductError> {
        (0..self.servers.len()).for_each(|arm| self.thaw(arm));
        let mut ran = ran?;
        for (ran, used) in ran.iter_mut().zip(self.in_sessions) {
            ran.sample.resources.sessions = used;
        }
        self.profiling.end(&mut ran, &self.sides.purposes());
        Ok(ran)
    }
}
