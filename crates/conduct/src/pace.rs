//! How far a campaign is and how long it will still take, from what its tests and rounds have taken so far.
//!
//! In: planned seconds of each test, and the moments at which pieces ended. Out: a share and a time left. Reads no
//! clock: time is an argument.

use std::time::Duration;

/// Progress over a campaign's planned work.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    /// Planned measuring seconds of everything, resumed cells left out.
    planned_s: f64,
    done_s: f64,
    /// Wall time and planned time of the pieces that are done, for the factor between them.
    measured: Duration,
    /// Rounds still to begin, and what beginning one took on average.
    rounds_left: u32,
    rounds_begun: u32,
    round_overhead: Duration,
}

impl Pace {
    /// A campaign with so many seconds of measurement in so many rounds ahead.
    pub(crate) fn new(planned_s: f64, rounds: u32) -> Self {
        Pace {
            planned_s,
            done_s: 0.0,
            measured: Duration::ZERO,
            rounds_left: rounds,
            rounds_begun: 0,
            round_overhead: Duration::ZERO,
        }
    }

    /// A round's copies and servers took this long.
    pub(crate) fn round_began(&mut self, took: Duration) {
        self.rounds_left = self.rounds_left.saturating_sub(1);
        self.rounds_begun += 1;
        self.round_overhead += took;
    }

    /// A piece of `planned_s` seconds took this long.
    pub(crate) fn piece_ended(&mut self, planned_s: f64, took: Duration) {
        self.done_s += planned_s;
        self.measured += took;
    }

    /// Share done, 0 to 1, with `under_way_s` planned seconds of the current piece behind us.
    pub(crate) fn share(&self, under_way_s: f64) -> f64 {
        if self.planned_s > 0.0 { ((self.done_s + under_way_s) / self.planned_s).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Expected time to the end; `None` until a round has begun and a piece has ended.
    pub(crate) fn left(&self, under_way_s: f64) -> Option<Duration> {
        if self.rounds_begun == 0 || self.done_s <= 0.0 {
            return None;
        }
        let wall_per_planned_s = self.measured.as_secs_f64() / self.done_s;
        let pieces_s = (self.planned_s - self.done_s - under_way_s).max(0.0) * wall_per_planned_s;
        let rounds_s = self.round_overhead.as_secs_f64() / f64::from(self.rounds_begun) * f64::from(self.rounds_left);
        Some(Duration::from_secs_f64(pieces_s + rounds_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrapolates_from_what_was_seen() {
        let mut pace = Pace::new(100.0, 2);
        assert_eq!(pace.left(0.0), None);
        pace.round_began(Duration::from_secs(5));
        pace.piece_ended(10.0, Duration::from_secs(12));
        assert_eq!(pace.share(0.0), 0.1);
        // 90 planned seconds at 1.2 each, and one more round to begin.
        assert_eq!(pace.left(0.0), Some(Duration::from_secs_f64(90.0 * 1.2 + 5.0)));
        assert_eq!(pace.left(10.0), Some(Duration::from_secs_f64(80.0 * 1.2 + 5.0)));
    }
}
