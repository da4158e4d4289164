//! Where the client's threads run, and what they cost.
//!
//! In: a CPU set. Out: a guard that gives the calling thread its old set and timer back, and CPU clocks. It never
//! touches another process.

use crate::error::LoadError;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;

/// CPU time, user and system, of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    cpu_ns(ClockId::ThreadCPUTime)
}

/// CPU time, user and system, of this process in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    cpu_ns(ClockId::ProcessCPUTime)
}

fn cpu_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The calling thread is on the CPUs of the client as long as this lives.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: Option<CpuSet>,
    timer_slack_ns: Option<u64>,
}

impl Pinned {
    /// Moves the calling thread to `cpus`; an empty set leaves it where it is. With `exact_timers` short waits end when
    /// they should, not up to 50 us later as the kernel else allows itself.
    pub(crate) fn to(cpus: &[usize], exact_timers: bool) -> Result<Pinned, LoadError> {
        let system = |doing| move |error: rustix::io::Errno| LoadError::System { doing, error: error.into() };
        let mut pinned = Pinned { before: None, timer_slack_ns: None };
        if let Some(outside) = cpus.iter().find(|cpu| **cpu >= CpuSet::MAX_CPU) {
            return Err(LoadError::Shape(format!("there is no CPU {outside}")));
        }
        if !cpus.is_empty() {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|cpu| set.set(*cpu));
            let before = sched_getaffinity(None).map_err(system("reading the client's CPU set"))?;
            sched_setaffinity(None, &set).map_err(system("moving the client to its CPU set"))?;
            pinned.before = Some(before);
        }
        if exact_timers {
            let before = rustix::thread::current_timer_slack().map_err(system("reading the timer slack"))?;
            rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).map_err(system("setting the timer slack"))?;
            pinned.timer_slack_ns = Some(before);
        }
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // The thread was there before, so it can be there again; if not, nothing is lost but its place.
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
        if let Some(slack) = self.timer_slack_ns {
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(slack));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_moved_and_comes_back() {
        let before = sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)).unwrap();
        let slack = rustix::thread::current_timer_slack().unwrap();
        let pinned = Pinned::to(&[cpu], true).unwrap();
        let inside = sched_getaffinity(None).unwrap();
        assert_eq!((inside.count(), inside.is_set(cpu)), (1, true));
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
        drop(pinned);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), slack);
        assert!(Pinned::to(&[CpuSet::MAX_CPU], false).is_err());
    }
}
