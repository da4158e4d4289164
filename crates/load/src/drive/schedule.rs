//! How long everything lasts: the schedule as given, tuned to what an event takes, and one visit to an arm.
//!
//! In: a [`Schedule`] and the mean duration of an event. Out: the slice and lead-in really used, the same for all arms,
//! so that what is counted never depends on which arm is fast. It reads no clock.

use crate::error::LoadError;
use crate::random::Purpose;
use rqps_model::plan::Arrival;
use std::time::Duration;

/// How long an exercise runs and how it is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Seconds counted, per arm.
    pub seconds: f64,
    /// Seconds of each arm that run before and are not counted.
    pub warmup_seconds: f64,
    /// How long an arm runs in each cycle; a turn is simply a long slice.
    pub slice: Duration,
    /// How much of each slice is left out of the count, because caches still hold another server's data.
    pub lead_in: Duration,
    /// After this much of an arm's own time all clients of all arms reconnect, in the same cycle.
    pub session_life: Duration,
}

/// A slice has at least this many mean events: the rate of fewer depends on which they were, and with several clients
/// draining them would be much of it.
const EVENTS_PER_SLICE: u64 = 8;

/// With one client a slice is not stretched beyond this: where an event takes longer, it is the slice.
const STRETCHED_NS_MAX: u64 = 10_000_000;

/// What is really used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tuned {
    pub(crate) slice_ns: u64,
    pub(crate) lead_in_ns: u64,
    /// Cycles from one connection to the next.
    pub(crate) cycles_per_session: u64,
}

impl Schedule {
    /// One slice of that length, without warm-up and lead-in.
    pub fn one_slice(length: Duration) -> Schedule {
        let seconds = length.as_secs_f64();
        Schedule { seconds, warmup_seconds: 0.0, slice: length, lead_in: Duration::ZERO, session_life: length }
    }

    /// Refuses what cannot run.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        let fault = if !(self.seconds.is_finite() && self.seconds > 0.0) {
            "the counted seconds must be more than 0"
        } else if !(self.warmup_seconds.is_finite() && self.warmup_seconds >= 0.0) {
            "the warm-up must not be negative"
        } else if self.slice.is_zero() || self.slice <= self.lead_in {
            "a slice must be longer than its lead-in"
        } else {
            return Ok(());
        };
        Err(LoadError::Shape(fault.to_owned()))
    }

    /// Fits slice and lead-in to events of `event_ns` (the mean of the slowest arm).
    ///
    /// An event that takes more than half a slice would often be all of it, and the lead-in all that runs; next to such
    /// an event a millisecond of cold caches is nothing, so there is no lead-in then. An open loop has none either:
    /// what is due is counted whenever it is due.
    pub(crate) fn tune(&self, event_ns: u64, clients: u32, arrival: Arrival) -> Tuned {
        let wanted_ns = event_ns.saturating_mul(EVENTS_PER_SLICE);
        let most_ns = if clients > 1 { u64::MAX } else { STRETCHED_NS_MAX };
        let slice_ns = nanos(self.slice).max(wanted_ns.min(most_ns));
        let is_long = event_ns > slice_ns / 2;
        let lead_in_ns = if is_long || arrival != Arrival::Closed { 0 } else { nanos(self.lead_in) };
        let cycles_per_session = nanos(self.session_life).div_ceil(slice_ns.max(event_ns)).max(1);
        Tuned { slice_ns, lead_in_ns, cycles_per_session }
    }
}

/// Nanoseconds of a duration, which is shorter than five centuries.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// One stay with an arm. Times are of the clock that all threads share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    /// When it begins.
    pub(crate) start_ns: u64,
    /// Events that start from here on count; nothing counts where it is absent.
    pub(crate) count_from_ns: Option<u64>,
    /// Counted time ends here, where it does not go on until the last answer.
    pub(crate) count_until_ns: u64,
    /// No event starts from here on (but each session runs one counted event at least).
    pub(crate) end_ns: u64,
    /// The most events that a session runs.
    pub(crate) events: u32,
    /// Whether events come as planned, if there is a plan; else each follows the last.
    pub(crate) is_paced: bool,
    /// What the keys are drawn for.
    pub(crate) purpose: Purpose,
    /// Which keys: the same for all arms of a cycle.
    pub(crate) moment: u64,
    /// The arm's own time when the visit begins; arrivals are planned in it.
    pub(crate) own_base_ns: u64,
    /// The arm's counted time when the visit begins.
    pub(crate) counted_base_ns: u64,
    /// When the exercise began.
    pub(crate) origin_ns: u64,
    /// Whether it goes on where the visit before it paused, with the statements that were under way.
    pub(crate) continues: bool,
    /// When it pauses, whatever is under way; only programs with turns can.
    pub(crate) pause_ns: u64,
    /// By how much the arm's clock is behind the machine's: it stands still while the arm is paused, and all times of
    /// the visit are its times.
    pub(crate) behind_ns: u64,
}

impl Visit {
    /// How long to wait at most for what is due, or for the pause.
    #[inline]
    pub(crate) fn until_pause(&self, now_ns: u64, due: Option<Duration>) -> Option<Duration> {
        if self.pause_ns == u64::MAX {
            return due;
        }
        let pause = Duration::from_nanos(self.pause_ns - now_ns);
        Some(due.map_or(pause, |due| due.min(pause)))
    }

    /// The arm's counted time at `now`.
    #[inline]
    pub(crate) fn counted_ns(&self, now_ns: u64) -> u64 {
        let now_ns = now_ns.min(self.count_until_ns);
        self.counted_base_ns + now_ns.saturating_sub(self.count_from_ns.unwrap_or(u64::MAX))
    }

    /// The arm's own time at `now`.
    #[inline]
    pub(crate) fn own_ns(&self, now_ns: u64) -> u64 {
        self.own_base_ns + now_ns.saturating_sub(self.start_ns)
    }

    /// The moment at which the arm's own time is or was `own_ns`; before the visit it was another visit's.
    #[inline]
    pub(crate) fn moment_of(&self, own_ns: u64) -> u64 {
        (self.start_ns + own_ns).saturating_sub(self.own_base_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn schedule() -> Schedule {
        Schedule {
            seconds: 10.0,
            warmup_seconds: 1.0,
            slice: Duration::from_millis(10),
            lead_in: Duration::from_millis(1),
            session_life: Duration::from_secs(1),
        }
    }

    #[test]
    fn slices_fit_the_events() {
        let tuned = |schedule: Schedule, event_ns, clients, arrival| {
            let tuned = schedule.tune(event_ns, clients, arrival);
            (tuned.slice_ns, tuned.lead_in_ns, tuned.cycles_per_session)
        };
        let check = |event_ns, clients, arrival, expected: (u64, u64, u64)| {
            assert_eq!(tuned(schedule(), event_ns, clients, arrival), expected);
        };
        let open = Arrival::Even { rate_per_s: 100.0 };
        check(MS / 10, 1, Arrival::Closed, (10 * MS, MS, 100));
        check(MS / 10, 8, Arrival::Closed, (10 * MS, MS, 100));
        check(MS / 10, 1, open, (10 * MS, 0, 100));
        // A statement longer than a slice is the slice; many clients of such get longer slices.
        check(3000 * MS, 1, Arrival::Closed, (10 * MS, 0, 1));
        check(5 * MS, 40, Arrival::Closed, (40 * MS, MS, 25));
        // A short slice has eight events as long as that takes at most 10 ms, and then as many as fit.
        let check_short = |event_ns, clients, expected: (u64, u64, u64)| {
            let short = Schedule { slice: Duration::from_millis(3), ..schedule() };
            assert_eq!(tuned(short, event_ns, clients, Arrival::Closed), expected, "{event_ns}");
        };
        check_short(MS / 10, 1, (3 * MS, MS, 334));
        check_short(MS, 1, (8 * MS, MS, 125));
        check_short(3 * MS, 1, (10 * MS, MS, 100));
        check_short(6 * MS, 1, (10 * MS, 0, 100));
        check_short(3000 * MS, 1, (10 * MS, 0, 1));
        check_short(MS / 10, 4, (3 * MS, MS, 334));
        check_short(3 * MS, 4, (24 * MS, MS, 42));
    }

    #[test]
    fn what_cannot_run_is_refused() {
        assert!(schedule().check().is_ok());
        let faults = [
            Schedule { seconds: 0.0, ..schedule() },
            Schedule { seconds: f64::NAN, ..schedule() },
            Schedule { warmup_seconds: -1.0, ..schedule() },
            Schedule { slice: Duration::from_millis(1), ..schedule() },
        ];
        assert!(faults.iter().all(|fault| fault.check().is_err()));
    }
}
