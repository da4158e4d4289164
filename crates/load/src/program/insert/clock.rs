//! The clock of a server that takes turns with others: it stands still between its slices.
//!
//! In: when its slices begin and end, on the machine's clock. Out: its own time, for what is timed beside the timed
//! loop; and for each of its seconds, when that was over on the machine's clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const SECOND_NS: u64 = 1_000_000_000;

/// The clock of one server in a step.
#[derive(Debug, Default)]
pub(crate) struct OwnClock {
    /// Where it stopped, on the machine's clock; 0 while it goes.
    stopped_ns: AtomicU64,
    /// By how much it is behind the machine's.
    behind_ns: AtomicU64,
    /// Points of both clocks since the first slice began, own time first: the begin, the end of the first slice in each
    /// own second, and the last end.
    points: Mutex<Points>,
}

#[derive(Debug, Default)]
struct Points {
    begun_ns: Option<u64>,
    kept: Vec<[u64; 2]>,
    last: [u64; 2],
}

impl OwnClock {
    /// A slice begins.
    pub(crate) fn go_on(&self, machine_ns: u64) {
        let stopped_ns = self.stopped_ns.swap(0, Ordering::Relaxed);
        if stopped_ns > 0 {
            self.behind_ns.fetch_add(machine_ns.saturating_sub(stopped_ns), Ordering::Relaxed);
        }
        self.points.lock().unwrap_or_else(PoisonError::into_inner).begun_ns.get_or_insert(machine_ns);
    }

    /// And ends.
    pub(crate) fn stop(&self, machine_ns: u64) {
        self.stopped_ns.store(machine_ns, Ordering::Relaxed);
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let since_begin_ns = machine_ns.saturating_sub(points.begun_ns.unwrap_or(machine_ns));
        let own_ns = since_begin_ns.saturating_sub(self.behind_ns.load(Ordering::Relaxed));
        points.last = [own_ns, since_begin_ns];
        if points.kept.last().is_none_or(|[kept_ns, _]| kept_ns / SECOND_NS < own_ns / SECOND_NS) {
            points.kept.push([own_ns, since_begin_ns]);
        }
    }

    /// The time it shows, when the machine's shows that.
    pub(crate) fn at(&self, machine_ns: u64) -> u64 {
        let stopped_ns = self.stopped_ns.load(Ordering::Relaxed);
        let machine_ns = if stopped_ns > 0 { machine_ns.min(stopped_ns) } else { machine_ns };
        machine_ns.saturating_sub(self.behind_ns.load(Ordering::Relaxed))
    }

    /// For a moment in its own seconds since the first slice, the machine's seconds since then, to within a slice.
    pub(crate) fn machine_second(&self, own_second: f64) -> f64 {
        let points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = [0, 0];
        for point in points.kept.iter().chain(std::iter::once(&points.last)).copied() {
            let [from, to] = [before, point].map(|point| point.map(|ns| ns as f64 / 1e9));
            if own_second <= to[0] && to[0] > from[0] {
                return from[1] + (own_second - from[0]) / (to[0] - from[0]) * (to[1] - from[1]);
            }
            before = point;
        }
        let [own, machine] = before.map(|ns| ns as f64 / 1e9);
        machine + (own_second - own).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_between_slices() {
        let clock = OwnClock::default();
        clock.go_on(100);
        assert_eq!(clock.at(130), 130);
        clock.stop(150);
        assert_eq!([clock.at(140), clock.at(900)], [140, 150]);
        clock.go_on(1150);
        assert_eq!(clock.at(1160), 160);
    }

    #[test]
    fn its_seconds_are_found_on_the_clock_of_the_machine() {
        let clock = OwnClock::default();
        // A tenth of a second for itself, then two tenths for others.
        for slice in 0..25 {
            clock.go_on(SECOND_NS + slice * 3 * SECOND_NS / 10);
            clock.stop(SECOND_NS + slice * 3 * SECOND_NS / 10 + SECOND_NS / 10);
        }
        for own in [0.5, 1.0, 1.7, 2.5] {
            let machine = clock.machine_second(own);
            assert!((machine - 3.0 * own).abs() < 0.3, "{own}: {machine}");
        }
        let alone = OwnClock::default();
        alone.go_on(5);
        alone.stop(5 + 10 * SECOND_NS);
        assert!((alone.machine_second(3.0) - 3.0).abs() < 1e-9 && (alone.machine_second(11.0) - 11.0).abs() < 1e-9);
    }
}
