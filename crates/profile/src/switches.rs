//! Where threads leave the CPU, and how long each stays off it.
//!
//! In: rings of a CPU's context switches. Out: [`BlockedFacts`]. Of so many switches the kernel samples one with its
//! stack, which stands for all of them; of every switch it notes who came onto the CPU, so that the time until a
//! sampled thread goes on is exact. A thread that waits for 10 ms once is seen as seldom as one that waits for 10 µs,
//! but weighs a thousand times as much.
//!
//! Each record costs the thread that is switched about a microsecond, and an event that counts switches some tenths of
//! it. So at first the kernel's own count of them is read, and they are recorded from then on where they are few
//! enough.

use crate::callers::{Outer, below};
use crate::clock::monotonic_ns;
use crate::raw::{Fresh, Kind, Off, REGISTERS, RING_BYTES, STACK_BYTES, Samples, Switch};
use crate::spans::overlap;
use crate::stacks::Code;
use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler as Ring};
use rqps_model::blocked::{BlockedFacts, BlockedStack};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// With more switches a second than this on a CPU of the test, those of the whole machine counted, they are not
/// recorded: it would cost more than a percent of its time.
const SWITCHES_MAX: f64 = 10_000.0;

/// Switches are counted for at least so long before that is decided.
const COUNTED_FOR: Duration = Duration::from_millis(200);

/// Stacks that are sampled in a second on each CPU, if switches go on as they were counted.
const STACKS_PER_SECOND: f64 = 1000.0;

/// One of so many switches is sampled. Statements repeat the same few switches; a period that has a factor in common
/// with their number would meet the same ones each time, so these are primes from 5 on. (The kernel can keep to a
/// frequency by itself, but settles so late that a few samples stand for most of a test.)
const PERIODS: [u64; 4] = [1, 5, 7, 11];

/// `PERF_RECORD_SWITCH_CPU_WIDE`, and what it says of the thread: that it left the CPU, and that it could have gone on.
const SWITCH: u32 = 15;
const OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

/// Rings are read one after the other: what came onto a CPU is remembered for so long.
const REMEMBER_NS: u64 = 1_000_000_000;

/// A thread that ends leaves the CPU here and never comes back.
const ENDS: &str = "do_exit_[k]";

fn open(cpu: usize, period: u64) -> std::io::Result<Ring> {
    let sample =
        SampleFlag::TID | SampleFlag::TIME | SampleFlag::CALLCHAIN | SampleFlag::REGS_USER | SampleFlag::STACK_USER;
    let mut builder = Builder::new(Software::CONTEXT_SWITCHES);
    builder.any_pid().one_cpu(cpu).include_kernel().exclude_hv(true);
    builder.sample_period(period).sample(sample).sample_regs_user(REGISTERS).sample_stack_user(STACK_BYTES);
    builder.exclude_callchain_user(true).clockid(Clock::MONOTONIC).wakeup_watermark(RING_BYTES);
    builder.context_switch(true).sample_id_all(true);
    let mut ring = builder.build()?.sampled(RING_BYTES)?;
    ring.enable()?;
    Ok(ring)
}

/// The period that leaves about as many stacks as are wanted of so many switches a second.
fn period(switches_per_second: f64) -> u64 {
    let is_enough = |period: &u64| switches_per_second / *period as f64 <= STACKS_PER_SECOND;
    PERIODS.into_iter().find(is_enough).unwrap_or(PERIODS[PERIODS.len() - 1])
}

/// Context switches of the whole machine since it started (`ctxt` of /proc/stat).
fn switches_so_far() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("ctxt "))?.trim().parse().ok()
}

/// The rings of all CPUs, and who came onto them lately.
pub(crate) struct Switches {
    cpus: Vec<usize>,
    /// Empty until switches are recorded.
    rings: Vec<Ring>,
    /// Switches that a sampled one stands for.
    period: u64,
    counted_from: (Instant, Option<u64>),
    /// Switches are recorded from this moment on; `None` before that is decided, and where there are too many.
    recorded_from_ns: Option<u64>,
    is_decided: bool,
    /// Thread and time.
    back: Vec<(u32, u64)>,
    /// Up to here, all that left the CPU have gone on.
    settled: usize,
}

impl Switches {
    /// Begins to count.
    pub(crate) fn start(cpus: &[usize]) -> Switches {
        Switches {
            cpus: cpus.to_vec(),
            rings: Vec::new(),
            period: 1,
            counted_from: (Instant::now(), switches_so_far()),
            recorded_from_ns: None,
            is_decided: false,
            back: Vec::new(),
            settled: 0,
        }
    }

    /// From when on switches are recorded, if they are.
    pub(crate) fn recorded_from_ns(&self) -> Option<u64> {
        self.recorded_from_ns
    }

    /// Decides once, after a while, whether switches are recorded.
    pub(crate) fn decide(&mut self) {
        let (from, before) = self.counted_from;
        let seconds = from.elapsed();
        if self.is_decided || seconds < COUNTED_FOR {
            return;
        }
        self.is_decided = true;
        let Some((before, now)) = before.zip(switches_so_far()) else { return };
        let on_a_cpu = (now - before) as f64 / seconds.as_secs_f64() / self.cpus.len() as f64;
        if on_a_cpu <= SWITCHES_MAX {
            // The clock was not refused, which needs the same rights; if this is, the profile has no such part.
            self.period = period(on_a_cpu);
            self.rings = self.cpus.iter().filter_map(|&cpu| open(cpu, self.period).ok()).collect();
            let is_recorded = self.rings.len() == self.cpus.len();
            self.recorded_from_ns = is_recorded.then(monotonic_ns);
        }
    }

    pub(crate) fn disable(&mut self) {
        for ring in &mut self.rings {
            // The rings end with their files, at the latest.
            let _ = ring.disable();
        }
    }

    /// Reads what the rings hold; how many records were lost.
    pub(crate) fn read(&mut self, fresh: &mut Vec<Fresh>) -> u64 {
        let mut lost = 0;
        for ring in &mut self.rings {
            // The sample of a switch comes before its record.
            let mut sampled = None;
            while let Some(record) = ring.next_record() {
                if record.ty() == SWITCH {
                    let misc = record.misc();
                    let Some((thread, time_ns)) = thread_and_time(&record.to_contiguous()) else { continue };
                    if misc & OUT == 0 {
                        self.back.push((thread, time_ns));
                    } else if let Some(at) = sampled.take() {
                        let last: &mut Fresh = &mut fresh[at];
                        if let Kind::Switch(switch) = &mut last.kind
                            && last.thread == thread
                        {
                            switch.is_ready = misc & PREEMPTED != 0;
                        }
                    }
                    continue;
                }
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        let switch = Switch { weight: self.period, is_ready: false };
                        if let Some(sample) = Fresh::of(&sample, Kind::Switch(switch)) {
                            sampled = Some(fresh.len());
                            fresh.push(sample);
                        }
                    }
                    Ok(Record::Lost(records)) => lost += records.lost,
                    Ok(Record::LostSamples(records)) => lost += records.lost,
                    _ => {}
                }
            }
        }
        lost
    }

    /// Of those that left the CPU some are no longer there.
    pub(crate) fn thinned(&mut self) {
        self.settled = 0;
    }

    /// Tells those that left the CPU when they went on, as far as that is known by now.
    pub(crate) fn match_with(&mut self, off: &mut [Off]) {
        self.back.sort_unstable();
        for one in off[self.settled..].iter_mut().filter(|one| one.until_ns == u64::MAX) {
            let at = self.back.partition_point(|back| *back < (one.sample.thread, one.sample.time_ns));
            if let Some((_, time_ns)) = self.back.get(at).filter(|(thread, _)| *thread == one.sample.thread) {
                one.until_ns = *time_ns;
            }
        }
        let still_off = off[self.settled..].iter().position(|one| one.until_ns == u64::MAX);
        self.settled = still_off.map_or(off.len(), |at| self.settled + at);
        let latest = self.back.iter().map(|(_, time_ns)| *time_ns).max().unwrap_or(0);
        self.back.retain(|(_, time_ns)| time_ns + REMEMBER_NS > latest);
    }
}

/// Of a record that ends with them: process, thread, time.
fn thread_and_time(record: &[u8]) -> Option<(u32, u64)> {
    let (before, time) = record.split_last_chunk::<8>()?;
    let (_, thread) = before.split_last_chunk::<4>()?;
    Some((u32::from_ne_bytes(*thread), u64::from_ne_bytes(*time)))
}

/// The stacks in which a server's threads left the CPU, with the time that they stayed off it within counted spans;
/// `None` where switches were not recorded.
pub(crate) fn blocked(
    samples: &Samples,
    server: usize,
    counted: &[Range<u64>],
    stopped_ns: u64,
    code: &mut Code<'_>,
    outer: &Outer<'_>,
) -> Option<BlockedFacts> {
    let from = samples.switches_from_ns?;
    let recorded = counted.iter().filter(|span| span.end > from).map(|span| span.start.max(from)..span.end);
    let counted = &recorded.collect::<Vec<_>>()[..];
    let counted_ns = counted.iter().map(|span| span.end - span.start).sum();
    let mut facts = BlockedFacts { lost: samples.lost_switches, counted_ns, ..BlockedFacts::default() };
    let mut stacks: BTreeMap<(String, bool), (u64, u64)> = BTreeMap::new();
    for off in samples.off.iter().filter(|off| off.sample.server == server && !off.sample.is_ours) {
        let ns = overlap(counted, &(off.sample.time_ns..off.until_ns.min(stopped_ns)));
        if ns == 0 {
            continue;
        }
        let (stack, is_whole) = code.fold(samples, &off.sample);
        let (stack, is_whole) = outer.callers.complete(&stack).map_or((stack, is_whole), |stack| (stack, true));
        let stack = below(outer.purpose(off.sample.thread), stack);
        if stack.contains(ENDS) {
            continue;
        }
        facts.samples += 1;
        facts.cut += u64::from(!is_whole);
        let sum = stacks.entry((stack, off.switch.is_ready)).or_default();
        *sum = (sum.0 + 1, sum.1 + off.switch.weight * ns);
    }
    let one = |((stack, is_ready), (samples, ns))| BlockedStack { stack, is_ready, samples, ns };
    facts.stacks = stacks.into_iter().map(one).collect();
    Some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::RawSample;

    #[test]
    fn a_thread_goes_on_when_it_next_comes_onto_any_cpu() {
        let sample = |thread, time_ns| RawSample {
            time_ns,
            server: 0,
            thread,
            is_ours: false,
            kernel: 0..0,
            registers: 0..0,
            stack: 0..0,
        };
        let off = |thread, time_ns| Off::new(sample(thread, time_ns), Switch { weight: 1, is_ready: false });
        let mut all = vec![off(7, 1000), off(8, 1100), off(7, 1300)];
        let mut switches = Switches::start(&[]);
        switches.back = vec![(7, 1400), (9, 1050), (7, 900), (7, 1200)];
        switches.match_with(&mut all);
        let until = |all: &[Off]| all.iter().map(|off| off.until_ns).collect::<Vec<_>>();
        assert_eq!((until(&all), switches.settled), (vec![1200, u64::MAX, 1400], 1));
        switches.back.push((8, 5000));
        switches.match_with(&mut all);
        assert_eq!((until(&all), switches.settled), (vec![1200, 5000, 1400], 3));
    }

    #[test]
    fn the_more_switches_the_fewer_of_them_are_sampled() {
        let of = [0.0, 1000.0, 1001.0, 6000.0, SWITCHES_MAX, 1e6].map(period);
        assert_eq!(of, [1, 1, 5, 7, 11, 11]);
    }

    #[test]
    fn thread_and_time_stand_last_in_a_record() {
        let words: [u32; 6] = [1, 2, 41, 42, 5, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(thread_and_time(&bytes), Some((42, 5)));
        assert_eq!(thread_and_time(&bytes[..4]), None);
    }
}
