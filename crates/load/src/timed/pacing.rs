//! When events are due: at once after the last one, or by a plan.
//!
//! In: an arrival process and which clients a thread has. Out: due times in the arm's own time, which stands still while
//! another arm runs. The plan is drawn for all clients and each thread takes its own, so it is the same on any number
//! of threads. A due time is taken exactly once and never dropped.

use crate::random::{Purpose, stream, unit_interval};
use rand_pcg::Pcg64;
use rqps_model::plan::Arrival;

/// When the events of one arm on one thread are due.
#[derive(Debug, Clone)]
pub(crate) enum Pace {
    /// The next event follows the last.
    Closed,
    /// By plan.
    Open(Plan),
}

/// A plan of arrivals.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    random: Pcg64,
    gap_ns: f64,
    is_poisson: bool,
    /// The arrival of all clients that was drawn last, and its number.
    due_ns: f64,
    number: u64,
    clients: u64,
    threads: u64,
    thread: u64,
}

impl Pace {
    /// The pace of thread `thread` of `threads`; client i belongs to thread i mod threads.
    pub(crate) fn new(arrival: Arrival, seed: u64, clients: u32, threads: usize, thread: usize) -> Pace {
        let (rate_per_s, is_poisson) = match arrival {
            Arrival::Closed => return Pace::Closed,
            Arrival::Poisson { rate_per_s } => (rate_per_s, true),
            Arrival::Even { rate_per_s } => (rate_per_s, false),
        };
        let mut plan = Plan {
            random: stream(seed, Purpose::Arrival, 0, 0),
            gap_ns: 1e9 / rate_per_s,
            is_poisson,
            due_ns: 0.0,
            number: u64::MAX,
            clients: u64::from(clients),
            threads: threads as u64,
            thread: thread as u64,
        };
        plan.advance();
        Pace::Open(plan)
    }
}

impl Plan {
    /// When the next event is due, in the arm's own time.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns as u64
    }

    /// Takes it and turns to the one after.
    #[inline]
    pub(crate) fn advance(&mut self) {
        loop {
            self.number = self.number.wrapping_add(1);
            self.due_ns += match self.is_poisson {
                true => -unit_interval(&mut self.random).ln() * self.gap_ns,
                false => self.gap_ns,
            };
            if self.number % self.clients % self.threads == self.thread {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_until(arrival: Arrival, clients: u32, threads: usize, end_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for thread in 0..threads {
            let Pace::Open(mut plan) = Pace::new(arrival, 9, clients, threads, thread) else { panic!("not open") };
            while plan.due_ns() < end_ns {
                all.push(plan.due_ns());
                plan.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn the_plan_is_the_same_on_any_number_of_threads() {
        for arrival in [Arrival::Even { rate_per_s: 1000.0 }, Arrival::Poisson { rate_per_s: 1000.0 }] {
            let alone = due_until(arrival, 5, 1, 1_000_000_000);
            assert_eq!(alone, due_until(arrival, 5, 2, 1_000_000_000));
            assert_eq!(alone, due_until(arrival, 5, 4, 1_000_000_000));
        }
    }

    #[test]
    fn arrivals_come_at_the_rate() {
        let even = due_until(Arrival::Even { rate_per_s: 1000.0 }, 1, 1, 10_000_000_001);
        assert_eq!(even.len(), 10_000);
        assert_eq!(even[..2], [1_000_000, 2_000_000]);
        let poisson = due_until(Arrival::Poisson { rate_per_s: 1000.0 }, 1, 1, 10_000_000_000);
        // Five standard deviations of a Poisson count of 10,000.
        assert!(poisson.len().abs_diff(10_000) < 500, "{}", poisson.len());
        let gaps: Vec<f64> = poisson.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let spread = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((spread / mean - 1.0).abs() < 0.05, "exponential gaps vary as much as they last: {spread} {mean}");
    }
}
