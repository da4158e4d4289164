//! When events are due: at once after the last one, by a plan that all sessions share, or by a session's own.
//!
//! In: an arrival process and which clients a thread has, or a session's plan. Out: due times in the arm's own time,
//! which stands still while another arm runs. The shared plan is drawn for all clients and each thread takes its own,
//! so it is the same on any number of threads; its due times are taken exactly once and never dropped. A session's own
//! plan has a limit to what is made good after a stall; what is further behind is deferred.

use crate::program::EvenPlan;
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

/// A session's own plan under way: the n-th event is due in the middle of its gap, and sessions take turns within it,
/// so that events come level and a second has the same number of them on every build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionPlan {
    plan: EvenPlan,
    number: u64,
    deferred_ns: u64,
}

impl SessionPlan {
    pub(crate) fn new(plan: EvenPlan) -> SessionPlan {
        SessionPlan { plan, number: 0, deferred_ns: 0 }
    }

    /// When the next event is due, in the arm's own time.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.deferred_ns + ((self.number as f64 + self.plan.phase) * self.plan.gap_ns) as u64
    }

    /// Takes the event that is due at `own_ns` or before and returns its planned time. What is behind by more than may
    /// be made good is deferred.
    #[inline]
    pub(crate) fn take(&mut self, own_ns: u64) -> u64 {
        let behind_ns = own_ns.saturating_sub(self.due_ns());
        self.deferred_ns += behind_ns.saturating_sub(self.plan.catch_up_ns);
        let planned_ns = self.due_ns();
        self.number += 1;
        planned_ns
    }

    /// When to look again: at the next due time, or when it gives up.
    pub(crate) fn look_again_ns(&self) -> u64 {
        self.due_ns().min(self.plan.give_up_ns)
    }

    /// By how much the plan was deferred.
    pub(crate) fn deferred_ns(&self) -> u64 {
        self.deferred_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn session_plan(gap_ns: f64, client: u32, clients: u32, catch_up_ns: u64) -> SessionPlan {
        let phase = (f64::from(client) + 0.5) / f64::from(clients);
        SessionPlan::new(EvenPlan { gap_ns, phase, catch_up_ns, give_up_ns: u64::MAX })
    }

    #[test]
    fn events_of_sessions_are_spread_evenly_and_clients_take_turns() {
        let mut moments = Vec::new();
        for client in 0..4 {
            let mut plan = session_plan(0.5e9, client, 4, S);
            moments.extend((0..20).map(|_| plan.take(0)));
        }
        moments.sort_unstable();
        assert_eq!((moments[0], moments[79]), (S / 16, 10 * S - S / 16));
        assert!(moments.windows(2).all(|pair| pair[1] - pair[0] == S / 8));
    }

    #[test]
    fn a_short_stall_is_made_good_and_a_long_one_defers_the_plan() {
        let mut plan = session_plan(1e9, 0, 1, 3 * S);
        assert_eq!(plan.take(S), S / 2);
        // Two and a half seconds late: all that is due is sent at once.
        let late: Vec<u64> = (0..3).map(|_| plan.take(4 * S)).collect();
        assert_eq!((late, plan.deferred_ns()), (vec![3 * S / 2, 5 * S / 2, 7 * S / 2], 0));
        // Ten seconds late: three are made good, the rest moves.
        assert_eq!(plan.take(14 * S + S / 2), 11 * S + S / 2);
        assert_eq!((plan.deferred_ns(), plan.due_ns()), (7 * S, 12 * S + S / 2));
    }

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
