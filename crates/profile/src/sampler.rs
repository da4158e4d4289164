//! Which code the servers run, sampled by the kernel: one clock on each CPU, for all servers at once.
//!
//! In: CPUs, and the processes of each server; sessions that are forked later belong to their parent's server. Out:
//! raw samples of the servers' own processes, and how many the kernel lost. The kernel writes samples into rings, and a
//! thread of ours empties them four times a second: no timer of ours runs in a slice, and no statement waits.
//!
//! Events of the whole CPU, and not of each process: a clock that follows a process is set anew at each context switch,
//! which costs most where a statement costs least, and the backends of PostgreSQL come and go with their sessions.

use crate::error::Refused;
use perf_event::data::{Record, Sample};
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler as Ring};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nanoseconds of CPU time between two samples: 997 a second, which no slice length divides.
pub(crate) const PERIOD_NS: u64 = 1_003_009;

/// Bytes that are copied of a stack.
const STACK_BYTES: u32 = 16 << 10;

/// Bytes of the ring of a CPU: half a second of samples of the largest size.
const RING_BYTES: usize = 8 << 20;

/// How often rings are emptied.
const EMPTY_EVERY: Duration = Duration::from_millis(250);

/// Registers of a sample that say where the stack is: frame pointer, stack pointer, instruction pointer.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Registers of a sample that say where the stack is: frame pointer, link register, stack pointer, program counter.
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// Marks in a call chain where the kernel's frames begin and end; no address is as high.
const CONTEXT_MARKS: u64 = -4096_i64 as u64;

/// Where a server was found working.
#[derive(Debug, Clone)]
pub(crate) struct RawSample {
    pub(crate) time_ns: u64,
    pub(crate) server: usize,
    /// Whether it is of a thread that serves us alone, and no client.
    pub(crate) is_ours: bool,
    /// Frames in the kernel, the innermost first.
    pub(crate) kernel: Range<usize>,
    /// Registers in the order of their numbers; none of a process without user space.
    pub(crate) registers: Range<usize>,
    pub(crate) stack: Range<usize>,
}

/// All samples of a test.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) all: Vec<RawSample>,
    pub(crate) words: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
    /// Samples that the kernel had no room for.
    pub(crate) lost: u64,
    /// How often it held sampling back.
    pub(crate) throttled: u64,
}

/// Sampling under way.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Samples>>,
}

impl Sampler {
    /// Begins on these CPUs; each server is known by its processes. Some threads of the servers are `ours`.
    pub(crate) fn start(cpus: &[usize], servers: &[Vec<u32>], ours: &[u32]) -> Result<Sampler, Refused> {
        let mut rings = cpus.iter().map(|&cpu| open(cpu)).collect::<std::io::Result<Vec<Ring>>>()?;
        for ring in &mut rings {
            ring.enable()?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let owners = servers.iter().enumerate().flat_map(|(server, pids)| pids.iter().map(move |&pid| (pid, server)));
        let collector = Collector {
            rings,
            owners: owners.collect(),
            ours: ours.to_vec(),
            unknown: Vec::new(),
            samples: Samples::default(),
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
    /// The server of each process.
    owners: HashMap<u32, usize>,
    /// Threads that serve us.
    ours: Vec<u32>,
    /// Samples of processes that are not known: a new one may be told about in a ring that is read later.
    unknown: Vec<Fresh>,
    samples: Samples,
}

impl Collector {
    fn run(mut self, stop: &AtomicBool) -> Samples {
        while !stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(EMPTY_EVERY);
            self.empty();
        }
        for ring in &mut self.rings {
            // The rings end with their files, at the latest.
            let _ = ring.disable();
        }
        self.empty();
        self.settle();
        self.samples
    }

    fn empty(&mut self) {
        let before = std::mem::take(&mut self.unknown);
        let own = std::process::id();
        let mut fresh = Vec::new();
        for ring in &mut self.rings {
            while let Some(record) = ring.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        fresh.extend(Fresh::of(&sample).filter(|fresh| fresh.pid != 0 && fresh.pid != own));
                    }
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
        // All that was forked before them has been told by now.
        before.into_iter().for_each(|sample| _ = self.keep(sample));
        self.unknown = fresh.into_iter().filter_map(|sample| self.keep(sample)).collect();
    }

    /// Keeps a sample of a server; gives another one back.
    fn keep(&mut self, fresh: Fresh) -> Option<Fresh> {
        let Some(&server) = self.owners.get(&fresh.pid) else { return Some(fresh) };
        let Samples { all, words, bytes, .. } = &mut self.samples;
        let kernel = extend(words, &fresh.kernel);
        let registers = extend(words, &fresh.registers);
        let is_ours = self.ours.contains(&fresh.thread);
        let stack = extend(bytes, &fresh.stack);
        all.push(RawSample { time_ns: fresh.time_ns, server, is_ours, kernel, registers, stack });
        None
    }

    /// Takes those that are known now.
    fn settle(&mut self) {
        self.empty();
        self.samples.all.sort_by_key(|sample| sample.time_ns);
    }
}

/// A sample that was just read, of any process.
struct Fresh {
    pid: u32,
    thread: u32,
    time_ns: u64,
    kernel: Vec<u64>,
    registers: Vec<u64>,
    stack: Vec<u8>,
}

impl Fresh {
    fn of(sample: &Sample<'_>) -> Option<Fresh> {
        let chain = sample.callchain().unwrap_or_default().iter().copied();
        Some(Fresh {
            pid: sample.pid()?,
            thread: sample.tid()?,
            time_ns: sample.time()?,
            kernel: chain.filter(|frame| *frame < CONTEXT_MARKS).collect(),
            registers: sample.regs_user().map_or_else(Vec::new, |registers| registers.regs.to_vec()),
            stack: sample.stack_user().unwrap_or_default().to_vec(),
        })
    }
}

fn extend<T: Copy>(arena: &mut Vec<T>, new: &[T]) -> Range<usize> {
    let start = arena.len();
    arena.extend_from_slice(new);
    start..arena.len()
}
