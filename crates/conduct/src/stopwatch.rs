//! What the time of a setup goes to: each second from its begin to its end in one place.
//!
//! In: the moments at which something was done, in order. Out: [`RoundSeconds`].

use rqps_model::RoundSeconds;
use std::time::Instant;

/// Runs from its making on.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    last: Instant,
    seconds: RoundSeconds,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { last: Instant::now(), seconds: RoundSeconds::default() }
    }

    /// The time since the last call went to this.
    pub(crate) fn lap(&mut self, part: impl FnOnce(&mut RoundSeconds) -> &mut f64) {
        *part(&mut self.seconds) += self.split();
    }

    /// The time since the last call was that of a test, which ran for so long: the rest of it went to reading and
    /// writing what is kept of it. `told` is what is known of the time in which it ran.
    pub(crate) fn lap_of_test(&mut self, driven: f64, told: RoundSeconds) {
        let took = self.split();
        let switches = (driven - told.all()).max(0.0);
        self.seconds = self.seconds.and(RoundSeconds { switches, readings: (took - driven).max(0.0), ..told });
    }

    pub(crate) fn seconds(&self) -> RoundSeconds {
        self.seconds
    }

    fn split(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.last, now)).as_secs_f64()
    }
}
