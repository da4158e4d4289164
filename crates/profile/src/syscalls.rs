//! Which system calls the servers make, and how often.
//!
//! In: the kernel's trace point at the entry of each system call, on each CPU. Out: [`SyscallFacts`]. Of so many calls
//! the kernel records one, which stands for all of them.
//!
//! While anybody listens to this trace point, every call of every program on the machine takes a longer way, about a
//! tenth of a microsecond, also those that are not recorded. So it is open for a quarter of the time only, and closed,
//! not just silent, for the rest.

use crate::clock::monotonic_ns;
use crate::raw::{Call, Called, Fresh, Kind, Samples};
use crate::spans::{both, is_within};
use crate::trace_point::TracePoint;
use perf_event::data::Record;
use perf_event::{Builder, Clock, SampleFlag, Sampler as Ring};
use rqps_model::syscalls::{SyscallCount, SyscallFacts};
use std::ffi::c_long;
use std::ops::Range;

/// Of so many visits of the collector's thread the trace point is open after one, until the next.
const VISITS: usize = 4;

/// One of so many calls is recorded. Statements repeat the same few calls; a period that has a factor in common with
/// their number would meet the same ones each time, so these are primes, and each opening has another one.
const PERIODS: [u64; 5] = [11, 13, 17, 19, 23];

/// Bytes of the ring of a CPU: some thousand records, more than are due in an opening.
const RING_BYTES: usize = 1 << 20;

/// The rings of all CPUs, and when they were open.
pub(crate) struct Syscalls {
    cpus: Vec<usize>,
    /// `None` where it may not be used.
    point: Option<TracePoint>,
    rings: Vec<Ring>,
    open_from_ns: u64,
    visits: usize,
    openings: Vec<Range<u64>>,
}

impl Syscalls {
    /// Prepares to record calls on these CPUs.
    pub(crate) fn start(cpus: &[usize], point: Option<TracePoint>) -> Syscalls {
        Syscalls { cpus: cpus.to_vec(), point, rings: Vec::new(), open_from_ns: 0, visits: 0, openings: Vec::new() }
    }

    /// The collector's thread comes by: what was recorded since it opened the trace point, and how many were lost.
    pub(crate) fn visit(&mut self, fresh: &mut Vec<Fresh>) -> u64 {
        let lost = self.close(fresh);
        self.visits += 1;
        if self.visits % VISITS == 1 {
            self.open();
        }
        lost
    }

    fn period(&self) -> u64 {
        PERIODS[self.openings.len() % PERIODS.len()]
    }

    fn open(&mut self) {
        let Some(point) = self.point else { return };
        let ring = |&cpu: &usize| open(point, cpu, self.period());
        // It was tried when sampling began; what is refused later is missing for that opening.
        let Ok(mut rings) = self.cpus.iter().map(ring).collect::<std::io::Result<Vec<Ring>>>() else { return };
        if rings.iter_mut().all(|ring| ring.enable().is_ok()) {
            self.rings = rings;
            self.open_from_ns = monotonic_ns();
        }
    }

    /// Closes it, if it is open.
    pub(crate) fn close(&mut self, fresh: &mut Vec<Fresh>) -> u64 {
        let Some(point) = self.point.filter(|_| !self.rings.is_empty()) else { return 0 };
        let weight = self.period();
        self.openings.push(self.open_from_ns..monotonic_ns());
        let mut lost = 0;
        for mut ring in std::mem::take(&mut self.rings) {
            // The ring ends with its file, at the latest.
            let _ = ring.disable();
            while let Some(record) = ring.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        let number = sample.raw().and_then(|raw| point.number(raw));
                        let call = number.map(|number| Kind::Call(Call { number, weight }));
                        fresh.extend(call.and_then(|call| Fresh::of(&sample, call)));
                    }
                    Ok(Record::Lost(records)) => lost += records.lost,
                    Ok(Record::LostSamples(records)) => lost += records.lost,
                    _ => {}
                }
            }
        }
        lost
    }

    /// When the trace point was open.
    pub(crate) fn into_openings(self) -> Vec<Range<u64>> {
        self.openings
    }
}

/// Whether this user may listen to it.
pub(crate) fn check(point: TracePoint, cpu: usize) -> std::io::Result<()> {
    open(point, cpu, PERIODS[0]).map(|_| ())
}

fn open(point: TracePoint, cpu: usize, period: u64) -> std::io::Result<Ring> {
    let sample = SampleFlag::TID | SampleFlag::TIME | SampleFlag::RAW;
    let mut builder = Builder::new(point.event());
    builder.any_pid().one_cpu(cpu).include_kernel().exclude_hv(true).sample_period(period).sample(sample);
    builder.clockid(Clock::MONOTONIC).wakeup_watermark(RING_BYTES);
    builder.build()?.sampled(RING_BYTES)
}

/// A server's system calls in counted spans; `None` where they were not recorded in any of them.
pub(crate) fn calls(samples: &Samples, server: usize, counted: &[Range<u64>]) -> Option<SyscallFacts> {
    let recorded = both(counted, &samples.openings);
    let length = |spans: &[Range<u64>]| spans.iter().map(|span| span.end - span.start).sum::<u64>();
    let (counted_ns, recorded_ns) = (length(counted), length(&recorded));
    if recorded_ns == 0 {
        return None;
    }
    let mut facts = SyscallFacts { counted_ns, recorded_ns, lost: samples.lost_calls, ..SyscallFacts::default() };
    let is_of_it = |called: &&Called| called.server == server && is_within(&recorded, called.time_ns);
    for Called { call, .. } in samples.calls.iter().filter(is_of_it) {
        let count: &mut SyscallCount = facts.calls.entry(name(call.number)).or_default();
        count.samples += 1;
        count.calls += call.weight;
    }
    Some(facts)
}

/// What a call is named in the manual; by its number where that is not known.
fn name(number: i64) -> String {
    let known = c_long::try_from(number).ok().and_then(known);
    known.map_or_else(|| format!("system call {number}"), str::to_owned)
}

#[cfg(target_arch = "x86_64")]
fn known(number: c_long) -> Option<&'static str> {
    syscall_numbers::x86_64::sys_call_name(number)
}

#[cfg(target_arch = "aarch64")]
fn known(number: c_long) -> Option<&'static str> {
    syscall_numbers::aarch64::sys_call_name(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_names_of_the_manual() {
        #[cfg(target_arch = "x86_64")]
        assert_eq!([1, 74, 232].map(name), ["write", "fsync", "epoll_wait"]);
        #[cfg(target_arch = "aarch64")]
        assert_eq!([64, 82, 22].map(name), ["write", "fsync", "epoll_pwait"]);
        assert_eq!(name(999_999), "system call 999999");
    }

    #[test]
    fn calls_count_where_the_trace_point_was_open_in_counted_time() {
        let called = |time_ns, server| Called { time_ns, server, call: Call { number: 999_999, weight: 11 } };
        let samples = Samples {
            calls: vec![called(110, 0), called(160, 0), called(170, 1), called(320, 0), called(390, 0)],
            openings: vec![150..180, 310..350],
            ..Samples::default()
        };
        let facts = calls(&samples, 0, &[100..200, 300..400]).unwrap();
        assert_eq!((facts.counted_ns, facts.recorded_ns), (200, 70));
        assert_eq!(facts.calls["system call 999999"], SyscallCount { samples: 2, calls: 22 });
        assert_eq!(calls(&samples, 0, &[500..600, 700..800]), None);
    }
}
