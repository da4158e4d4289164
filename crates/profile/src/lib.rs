//! Which functions servers spend their CPU time in, where their threads are blocked, and which system calls they make,
//! sampled while a test runs.
//!
//! In: the processes of servers, the moments of a test, and the spans in which each server's work was counted. Out: a
//! [`Profile`] of each server: folded stacks with their counts, and what a reader must know to trust them. It sends
//! nothing, starts no server, compares nothing.

mod absent;
mod callers;
mod clock;
mod debug_info;
mod error;
mod image;
mod kernel;
mod maps;
mod names;
mod raw;
mod sampler;
mod sources;
mod spans;
mod stacks;
mod switches;
mod syscalls;
mod trace_point;

pub use error::Refused;

use callers::{Callers, Outer, below};
use clock::monotonic_ns;
use kernel::Kernel;
use maps::Mapping;
use raw::RawSample;
use rqps_model::blocked::BlockedFacts;
use rqps_model::profile::ProfileFacts;
use rqps_model::syscalls::SyscallFacts;
use sampler::{PERIOD_NS, Sampler};
use spans::is_within;
use stacks::{CUT, Code, Folded, Images};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use trace_point::TracePoint;

/// Sampling of all servers of a test.
#[derive(Debug)]
pub struct Profiler {
    sampler: Sampler,
    syscalls_refused: Option<Refused>,
    servers: Vec<Server>,
    /// When all was counted.
    stopped_ns: u64,
}

#[derive(Debug, Default)]
struct Server {
    mappings: Vec<Mapping>,
    /// When it was visited.
    visits: Vec<Range<u64>>,
}

/// What a server did in a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// How it was sampled.
    pub facts: ProfileFacts,
    /// Stacks of the samples in counted time, a line each: frames from the outermost on, separated by `;`, a space, and
    /// how many samples were found there.
    pub folded: String,
    /// Where its threads left the CPU, and for how long; `None` where threads were switched so often that recording it
    /// would have cost them too much.
    pub blocked: Option<BlockedFacts>,
    /// Which system calls it made; `None` where they were recorded in none of the counted spans.
    pub syscalls: Option<SyscallFacts>,
}

/// Whether this user may sample here; else why not.
pub fn check() -> Result<(), Refused> {
    Sampler::start(&[0], &[], &[], None).map(|sampler| _ = sampler.end())
}

/// Whether this user, who may sample, may also count system calls; else why not.
pub fn check_syscalls() -> Result<(), Refused> {
    trace_point(&[0]).map(|_| ())
}

/// Whether the kernel lets this user read the names of its functions; else what lifts that.
pub fn check_kernel_names() -> Result<(), Refused> {
    if Kernel::read().is_hidden() { Err(Refused::KernelHidden) } else { Ok(()) }
}

fn trace_point(cpus: &[usize]) -> Result<TracePoint, Refused> {
    let point = TracePoint::find()?;
    cpus.iter().try_for_each(|&cpu| syscalls::check(point, cpu))?;
    Ok(point)
}

impl Profiler {
    /// Begins to sample servers, each of which is known by its processes, on these CPUs. What the threads do that are
    /// `ours` and serve no client is counted apart.
    pub fn start(cpus: &[usize], servers: &[Vec<u32>], ours: &[u32]) -> Result<Profiler, Refused> {
        // Whoever has no right to this goes on without.
        let (point, syscalls_refused) = match trace_point(cpus) {
            Ok(point) => (Some(point), None),
            Err(refused) => (None, Some(refused)),
        };
        let sampler = Sampler::start(cpus, servers, ours, point)?;
        let visited = servers.iter().map(|_| Server::default()).collect();
        let mut profiler = Profiler { sampler, syscalls_refused, servers: visited, stopped_ns: u64::MAX };
        profiler.see(servers);
        Ok(profiler)
    }

    /// Why system calls are not recorded, where they are not.
    pub fn syscalls_refused(&self) -> Option<&Refused> {
        self.syscalls_refused.as_ref()
    }

    /// A server is visited from now on.
    pub fn enter(&mut self, server: usize) {
        self.servers[server].visits.push(monotonic_ns()..u64::MAX);
    }

    /// And was until now.
    pub fn leave(&mut self, server: usize) {
        if let Some(visit) = self.servers[server].visits.last_mut() {
            visit.end = monotonic_ns();
        }
    }

    /// What comes after this moment is no part of the test. The processes of sessions are still there.
    pub fn stop(&mut self, servers: &[Vec<u32>]) {
        self.stopped_ns = monotonic_ns();
        self.see(servers);
    }

    /// Notes what code is mapped in processes; sessions may have libraries that came late.
    fn see(&mut self, servers: &[Vec<u32>]) {
        for (server, pids) in self.servers.iter_mut().zip(servers) {
            server.mappings.extend(pids.iter().flat_map(|&pid| maps::of_process(pid)));
        }
    }

    /// Ends sampling. By server: the profile of the spans in which its work was counted. Stacks of threads with a
    /// purpose begin with that.
    pub fn end(self, counted: &[Vec<Range<u64>>], purposes: &[HashMap<u32, &'static str>]) -> Vec<Profile> {
        let samples = self.sampler.end();
        let (mut images, kernel) = (Images::new(), Kernel::read());
        let (mut profiles, mut programs) = (Vec::new(), Vec::new());
        for (at, ((server, counted), purposes)) in self.servers.into_iter().zip(counted).zip(purposes).enumerate() {
            let mut code = Code::of(server.mappings, &mut images, &kernel);
            let mut facts = ProfileFacts {
                period_ns: PERIOD_NS * samples.stride,
                counted_ns: counted.iter().map(|span| span.end - span.start).sum(),
                lost: samples.lost,
                throttled: samples.throttled,
                without_symbols: code.without_symbols(),
                ..ProfileFacts::default()
            };
            let mut found = Found::new();
            let is_of_test = |sample: &&RawSample| sample.server == at && sample.time_ns < self.stopped_ns;
            for sample in samples.all.iter().filter(is_of_test) {
                if sample.is_ours {
                    facts.ours += 1;
                } else if is_within(counted, sample.time_ns) {
                    let (stack, _) = code.fold(&samples, sample);
                    facts.samples += 1;
                    *found.entry((purposes.get(&sample.thread).copied(), stack)).or_default() += 1;
                } else if is_within(&server.visits, sample.time_ns) {
                    facts.uncounted += 1;
                } else {
                    facts.background += 1;
                }
            }
            let visited = |&&moment: &&u64| moment < self.stopped_ns && is_within(&server.visits, moment);
            facts.client = Some(samples.client_ns.iter().filter(visited).count() as u64);
            let callers = Callers::of(found.iter().map(|((_, stack), count)| (stack.as_str(), *count)));
            let folded = completed(found, &callers, &mut facts);
            let outer = Outer { callers, purposes };
            let blocked = switches::blocked(&samples, at, counted, self.stopped_ns, &mut code, &outer);
            let syscalls = syscalls::calls(&samples, at, counted);
            programs.push(code.program());
            (facts.modules, facts.sources) = code.files();
            let folded = folded.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect();
            profiles.push(Profile { facts, folded, blocked, syscalls });
        }
        for (profile, absent) in profiles.iter_mut().zip(absent::absent(&programs)) {
            profile.facts.absent = absent;
        }
        profiles
    }
}

/// Stacks with what their threads are there for, and the samples that were found in each.
type Found = BTreeMap<(Option<&'static str>, String), u64>;

/// Completes the stacks whose outer frames are known; how many were, and how many stay cut.
fn completed(found: Found, callers: &Callers, facts: &mut ProfileFacts) -> Folded {
    let mut completed = Folded::new();
    for ((purpose, stack), count) in found {
        let whole = callers.complete(&stack);
        match &whole {
            Some(_) => facts.completed += count,
            None if stack.starts_with(CUT) => facts.cut += count,
            None => {}
        }
        *completed.entry(below(purpose, whole.unwrap_or(stack))).or_default() += count;
    }
    completed
}
