//! What the CPU itself counted in a server's processes while a test ran: instructions, cycles, misses.
//!
//! Made by `observe`, kept in a sample, read by `analysis`. A CPU has fewer counters than there are events, so that the
//! kernel takes turns: an event is counted for a part of the time, which is kept beside the count.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The events of a server's processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuEvents {
    /// By event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<String, EventCounts>,
    /// What was to be counted and was not: by reason, with what lifts it, the events.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, Vec<String>>,
}

/// An event by where the server was; `None` where it was not counted there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// In its own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<EventCount>,
    /// In the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<EventCount>,
}

/// How often an event was counted, and for how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCount {
    /// As counted: not scaled.
    pub count: u64,
    /// For how long the server's threads ran, and the event was to be counted.
    pub enabled_ns: u64,
    /// For how long of that it was counted.
    pub running_ns: u64,
}

impl EventCount {
    /// The part of the time for which it was counted; `None` where nothing ran.
    pub fn share(self) -> Option<f64> {
        (self.enabled_ns > 0).then(|| self.running_ns as f64 / self.enabled_ns as f64)
    }

    /// What would have been counted in all of the time; `None` where it never was.
    pub fn scaled(self) -> Option<f64> {
        let share = self.share().filter(|share| *share > 0.0)?;
        // Nothing is divided where nothing is to be scaled, so that an exact count stays one.
        Some(if self.is_scaled() { self.count as f64 / share } else { self.count as f64 })
    }

    /// Whether it was counted for a part of the time only, so that its amount is an estimate.
    pub fn is_scaled(self) -> bool {
        self.running_ns < self.enabled_ns
    }
}

impl std::ops::AddAssign for EventCount {
    fn add_assign(&mut self, other: EventCount) {
        self.count += other.count;
        self.enabled_ns += other.enabled_ns;
        self.running_ns += other.running_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(count: u64, enabled_ns: u64, running_ns: u64) -> EventCount {
        EventCount { count, enabled_ns, running_ns }
    }

    #[test]
    fn what_was_counted_for_half_of_the_time_is_scaled_to_all_of_it() {
        let half = count(300, 1000, 500);
        assert_eq!((half.share(), half.scaled(), half.is_scaled()), (Some(0.5), Some(600.0), true));
        let all = count(u64::from(u32::MAX), 3, 3);
        assert_eq!((all.share(), all.scaled(), all.is_scaled()), (Some(1.0), Some(4_294_967_295.0), false));
        let never = count(0, 1000, 0);
        assert_eq!((never.share(), never.scaled()), (Some(0.0), None), "it is not known to be 0");
        assert_eq!((count(0, 0, 0).share(), count(0, 0, 0).scaled()), (None, None));
    }

    #[test]
    fn threads_add_up_before_they_are_scaled() {
        let mut all = count(100, 1000, 1000);
        // A thread that ran so briefly that its turn never came is stood for by the others.
        all += count(0, 1000, 0);
        assert_eq!((all.share(), all.scaled()), (Some(0.5), Some(200.0)));
    }
}
