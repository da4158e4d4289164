//! Sampling of what the servers run and wait for during a test, in rounds that explain a campaign.
//!
//! In: the moments of a test, and its servers. Out: parts for their samples. It must not fail a test: where sampling is
//! refused, the sample says so.

use crate::server_side::Purposes;
use rqps_load::suite::Ran;
use rqps_model::{Part, Sampling, part};
use rqps_observe::WaitSampler;
use rqps_profile::{Profile, Profiler};
use rqps_server::Server;
use rqps_wire::Session;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is sampled by the clock of the kernel, or along with it.
const BY_CLOCK: [Sampling; 3] = [Sampling::Functions, Sampling::BlockedSessions, Sampling::SystemCalls];

/// Why stacks of blocked sessions are left out.
const TOO_MANY_SWITCHES: &str =
    "threads are switched so often there that to record it would cost them more than a percent of their time";

/// How long a connection may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Sampling of a test; of most tests there is none.
#[derive(Debug)]
pub(crate) struct Profiling<'a> {
    is_wanted: bool,
    cpus: &'a [usize],
    profiler: Option<Profiler>,
    /// What the kernel refuses of all servers alike, and why.
    refused: BTreeMap<String, String>,
    /// By server; else why it is not asked.
    waits: Vec<Result<WaitSampler, String>>,
}

impl<'a> Profiling<'a> {
    /// Sampling of servers on these CPUs, if it is wanted.
    pub(crate) fn new(is_wanted: bool, cpus: &'a [usize]) -> Profiling<'a> {
        Profiling { is_wanted, cpus, profiler: None, refused: BTreeMap::new(), waits: Vec::new() }
    }

    /// Clients begin to work on these servers.
    pub(crate) fn start<'s>(&mut self, servers: impl Iterator<Item = &'s Server>) {
        if !self.is_wanted {
            return;
        }
        let (mut pids, mut ours) = (Vec::new(), Vec::new());
        for server in servers {
            let (sampler, thread) = ask(server);
            self.waits.push(sampler);
            ours.extend(thread);
            pids.push(server.pids());
        }
        match Profiler::start(self.cpus, &pids, &ours) {
            Ok(profiler) => {
                let of_calls = profiler.syscalls_refused().map(|why| entry(Sampling::SystemCalls, why));
                self.refused.extend(of_calls);
                self.profiler = Some(profiler);
            }
            Err(why) => self.refused.extend(BY_CLOCK.map(|what| entry(what, &why))),
        }
    }

    /// A visit to a server begins.
    pub(crate) fn enter(&mut self, server: usize) {
        if let Some(profiler) = &mut self.profiler {
            profiler.enter(server);
        }
        if let Some(Ok(sampler)) = self.waits.get(server) {
            sampler.enter();
        }
    }

    /// It is over.
    pub(crate) fn leave(&mut self, server: usize) {
        if let Some(Ok(sampler)) = self.waits.get(server) {
            sampler.leave();
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.leave(server);
        }
    }

    /// All is counted, and the sessions are still there.
    pub(crate) fn stop(&mut self, pids: impl Iterator<Item = Vec<u32>>) {
        if let Some(profiler) = &mut self.profiler {
            profiler.stop(&pids.collect::<Vec<_>>());
        }
    }

    /// Puts what was sampled beside what the servers did, the threads that serve sessions by their purposes.
    pub(crate) fn end(self, ran: &mut [Ran], purposes: &[Purposes]) {
        ran.iter_mut().for_each(|ran| ran.sample.not_sampled.clone_from(&self.refused));
        for (ran, sampler) in ran.iter_mut().zip(self.waits) {
            let refused = match sampler {
                Ok(sampler) => {
                    let (facts, failure) = sampler.end(&ran.counted);
                    ran.parts.push(Part::json(part::WAITS, &facts));
                    failure
                }
                Err(refused) => Some(refused),
            };
            ran.sample.not_sampled.extend(refused.map(|why| entry(Sampling::Waits, why)));
        }
        let Some(profiler) = self.profiler else { return };
        let counted: Vec<_> = ran.iter().map(|ran| ran.counted.clone()).collect();
        for (ran, Profile { facts, folded, blocked, syscalls }) in ran.iter_mut().zip(profiler.end(&counted, purposes))
        {
            ran.parts.push(Part::json(part::PROFILE, &facts));
            match blocked {
                Some(blocked) => ran.parts.push(Part::json(part::BLOCKED, &blocked)),
                None => ran.sample.not_sampled.extend([entry(Sampling::BlockedSessions, TOO_MANY_SWITCHES)]),
            }
            ran.parts.extend(syscalls.map(|syscalls| Part::json(part::SYSCALLS, &syscalls)));
            ran.parts.push(Part { name: part::STACKS.to_owned(), bytes: folded.into_bytes() });
        }
    }
}

/// As a sample keeps it.
fn entry(what: Sampling, why: impl ToString) -> (String, String) {
    (what.name().to_owned(), why.to_string())
}

/// Prepares to ask a server what its sessions wait for; the thread of the server that answers, where it is known.
fn ask(server: &Server) -> (Result<WaitSampler, String>, Option<u32>) {
    let mut session = match Session::connect(&server.endpoint(), CONNECT_PATIENCE) {
        Ok(session) => session,
        Err(error) => return (Err(error.to_string()), None),
    };
    let thread = server.session_placer().thread(&mut session).ok();
    (WaitSampler::start(session, server.endpoint().protocol()).map_err(|error| error.to_string()), thread)
}
