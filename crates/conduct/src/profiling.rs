//! Sampling of what the servers run during a test, in rounds that explain a campaign.
//!
//! In: the moments of a test, and the processes of its servers. Out: parts for their samples. It must not fail a test:
//! where sampling is refused, the sample says so.

use rqps_load::suite::Ran;
use rqps_model::{Part, part};
use rqps_profile::{Profile, Profiler};

/// Sampling of a test; of most tests there is none.
#[derive(Debug)]
pub(crate) struct Profiling<'a> {
    is_wanted: bool,
    cpus: &'a [usize],
    profiler: Option<Profiler>,
    refused: Option<String>,
}

impl<'a> Profiling<'a> {
    /// Sampling of servers on these CPUs, if it is wanted.
    pub(crate) fn new(is_wanted: bool, cpus: &'a [usize]) -> Profiling<'a> {
        Profiling { is_wanted, cpus, profiler: None, refused: None }
    }

    /// Clients begin to work on servers that have these processes.
    pub(crate) fn start(&mut self, pids: impl Iterator<Item = Vec<u32>>) {
        if !self.is_wanted {
            return;
        }
        match Profiler::start(self.cpus, &pids.collect::<Vec<_>>()) {
            Ok(profiler) => self.profiler = Some(profiler),
            Err(refused) => self.refused = Some(refused.to_string()),
        }
    }

    /// A visit to a server begins.
    pub(crate) fn enter(&mut self, server: usize) {
        if let Some(profiler) = &mut self.profiler {
            profiler.enter(server);
        }
    }

    /// It is over.
    pub(crate) fn leave(&mut self, server: usize) {
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

    /// Puts what was sampled beside what the servers did.
    pub(crate) fn end(self, ran: &mut [Ran]) {
        if let Some(refused) = self.refused {
            let warning = format!("functions were not sampled: {refused}");
            ran.iter_mut().for_each(|ran| ran.sample.warnings.push(warning.clone()));
        }
        let Some(profiler) = self.profiler else { return };
        let counted: Vec<_> = ran.iter().map(|ran| ran.counted.clone()).collect();
        for (ran, Profile { facts, folded }) in ran.iter_mut().zip(profiler.end(&counted)) {
            ran.parts.push(Part::json(part::PROFILE, &facts));
            ran.parts.push(Part { name: part::STACKS.to_owned(), bytes: folded.into_bytes() });
        }
    }
}
