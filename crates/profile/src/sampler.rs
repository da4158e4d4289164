//! Which code the servers run, sampled by the kernel: one clock on each CPU, for all servers at once.
//!
//! In: CPUs, and the processes of each server; sessions that are forked later belong to their parent's server. Out:
//! raw samples of the servers' own processes, and how many the kernel lost. The kernel writes samples into rings, and a
//! thread of ours empties them ten times a second: no timer of ours runs in a slice, and no statement waits.
//!
//! Events of the whole CPU, and not of each process: a clock that follows a process is set anew at each context switch,
//! which costs most where a statement costs least, and the backends of PostgreSQL come and go with their sessions.

use crate::error::Refused;
use crate::raw::{Called, Fresh, Kind, Off, REGISTERS, RING_BYTES, RawSample, STACK_BYTES, Samples, Switch, extend};
use crate::switches::Switches;
use crate::syscalls::Syscalls;
use crate::trace_point::TracePoint;
use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler as Ring};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nanoseconds of CPU time between two samples: 997 a second, which no slice length divides.
pub(crate) const PERIOD_NS: u64 = 1_003_009;

/// How often rings are emptied: five times as many samples as usual fit in meanwhile.
const EMPTY_EVERY: Duration = Duration::from_millis(100);

/// With more bytes of stacks than these, every second sample goes: a step of the Insert Benchmark may last for half an
/// hour, at 16 MB a second and CPU.
const STACKS_BYTES_MAX: usize = 1 << 30;

/// Sampling under way.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Samples>>,
}

impl Sampler {
    /// Begins on these CPUs; each server is known by its processes. Some threads of the servers are `ours`. System
    /// calls are recorded where the trace point may be used.
    pub(crate) fn start(
        cpus: &[usize],
        servers: &[Vec<u32>],
        ours: &[u32],
        point: Option<TracePoint>,
    ) -> Result<Sampler, Refused> {
        let mut rings = cpus.iter().map(|&cpu| open(cpu)).collect::<std::io::Result<Vec<Ring>>>()?;
        for ring in &mut rings {
            ring.enable()?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let owners = servers.iter().enumerate().flat_map(|(server, pids)| pids.iter().map(move |&pid| (pid, server)));
        let collector = Collector {
            rings,
            switches: Switches::start(cpus),
            syscalls: Syscalls::start(cpus, point),
            owners: owners.collect(),
            ours: ours.to_vec(),
            unknown: Vec::new(),
            samples: Samples::default(),
            kept_of: Seen::default(),
        };
        let raised = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("rqps-profile".to_owned());
        let thread = thread.spawn(move || collector.run(&raised))?;
        Ok(Sampler { stop, thread: Some(thread) })
    }

    /// Ends it; what was sampled.
    pub(crate) fn end(mut self) -> Samples {
        self.join().expect("it is ended once")
    }

    fn join(&mut self) -> Option<Samples> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        Some(thread.join().expect("the collector of samples does not panic"))
    }
}

/// A test that ended before its time leaves no thread behind.
impl Drop for Sampler {
    fn drop(&mut self) {
        self.join();
    }
}

fn open(cpu: usize) -> std::io::Result<Ring> {
    let sample =
        SampleFlag::TID | SampleFlag::TIME | SampleFlag::CALLCHAIN | SampleFlag::REGS_USER | SampleFlag::STACK_USER;
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.any_pid().one_cpu(cpu).include_kernel().exclude_hv(true).exclude_idle(true);
    builder.sample_period(PERIOD_NS).sample(sample).sample_regs_user(REGISTERS).sample_stack_user(STACK_BYTES);
    // The user's part of the stack is unwound by tables, since few builds keep frame pointers.
    builder.exclude_callchain_user(true).clockid(Clock::MONOTONIC).task(true).wakeup_watermark(RING_BYTES);
    builder.build()?.sampled(RING_BYTES)
}

/// The thread that empties the rings.
struct Collector {
    rings: Vec<Ring>,
    switches: Switches,
    syscalls: Syscalls,
    /// The server of each process.
    owners: HashMap<u32, usize>,
    /// Threads that serve us.
    ours: Vec<u32>,
    /// Samples of processes that are not known: a new one may be told about in a ring that is read later.
    unknown: Vec<Fresh>,
    samples: Samples,
    kept_of: Seen,
}

/// What has come so far, of which one in so many is kept.
#[derive(Debug, Default)]
struct Seen {
    ticks: u64,
    switches: u64,
    client: u64,
}

impl Collector {
    fn run(mut self, stop: &AtomicBool) -> Samples {
        while !stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(EMPTY_EVERY);
            self.switches.decide();
            self.empty(Syscalls::visit);
        }
        for ring in &mut self.rings {
            // The rings end with their files, at the latest.
            let _ = ring.disable();
        }
        self.switches.disable();
        self.empty(Syscalls::close);
        self.settle();
        self.samples.switches_from_ns = self.switches.recorded_from_ns();
        self.samples.openings = self.syscalls.into_openings();
        self.samples
    }

    /// Reads all rings, those of system calls in this way.
    fn empty(&mut self, syscalls: impl FnOnce(&mut Syscalls, &mut Vec<Fresh>) -> u64) {
        let before = std::mem::take(&mut self.unknown);
        let own = std::process::id();
        let mut fresh = Vec::new();
        for ring in &mut self.rings {
            while let Some(record) = ring.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => fresh.extend(Fresh::of(&sample, Kind::Tick)),
                    Ok(Record::Fork(fork)) if fork.pid != fork.ppid => match self.owners.get(&fork.ppid) {
                        Some(&server) => _ = self.owners.insert(fork.pid, server),
                        // A pid that is used again, by another program.
                        None => _ = self.owners.remove(&fork.pid),
                    },
                    Ok(Record::Lost(lost)) => self.samples.lost += lost.lost,
                    Ok(Record::LostSamples(lost)) => self.samples.lost += lost.lost,
                    Ok(Record::Throttle(_)) => self.samples.throttled += 1,
                    _ => {}
                }
            }
        }
        self.samples.lost_switches += self.switches.read(&mut fresh);
        self.samples.lost_calls += syscalls(&mut self.syscalls, &mut fresh);
        for fresh in fresh.iter().filter(|fresh| fresh.pid == own && matches!(fresh.kind, Kind::Tick)) {
            self.kept_of.client += 1;
            let is_due = self.kept_of.client.is_multiple_of(self.samples.stride);
            self.samples.client_ns.extend(is_due.then_some(fresh.time_ns));
        }
        fresh.retain(|fresh| fresh.pid != 0 && fresh.pid != own);
        // All that was forked before them has been told by now.
        before.into_iter().for_each(|sample| _ = self.keep(sample));
        self.unknown = fresh.into_iter().filter_map(|sample| self.keep(sample)).collect();
        self.switches.match_with(&mut self.samples.off);
        if self.samples.bytes.len() > STACKS_BYTES_MAX {
            self.samples.thin();
            self.switches.thinned();
        }
    }

    /// Keeps a sample of a server; gives another one back.
    fn keep(&mut self, fresh: Fresh) -> Option<Fresh> {
        let Some(&server) = self.owners.get(&fresh.pid) else { return Some(fresh) };
        let is_ours = self.ours.contains(&fresh.thread);
        let Samples { stride, all, off, calls, words, bytes, .. } = &mut self.samples;
        let seen = match fresh.kind {
            Kind::Call(call) => {
                calls.extend((!is_ours).then_some(Called { time_ns: fresh.time_ns, server, call }));
                return None;
            }
            Kind::Tick => &mut self.kept_of.ticks,
            Kind::Switch(_) => &mut self.kept_of.switches,
        };
        *seen += 1;
        if !seen.is_multiple_of(*stride) {
            return None;
        }
        let kernel = extend(words, &fresh.kernel);
        let registers = extend(words, &fresh.registers);
        let stack = extend(bytes, &fresh.stack);
        let Fresh { time_ns, thread, .. } = fresh;
        let sample = RawSample { time_ns, server, thread, is_ours, kernel, registers, stack };
        match fresh.kind {
            Kind::Switch(Switch { weight, is_ready }) => {
                off.push(Off::new(sample, Switch { weight: weight * *stride, is_ready }));
            }
            Kind::Tick | Kind::Call(_) => all.push(sample),
        }
        None
    }

    /// Takes those that are known now.
    fn settle(&mut self) {
        self.empty(Syscalls::close);
        self.samples.all.sort_by_key(|sample| sample.time_ns);
    }
}
