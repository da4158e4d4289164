//! When a background writer's statements are due.
//!
//! In: the start, the gap between two statements, how much is made good after a stall. Out: planned moments, evenly spread. The
//! n-th statement is due in the middle of its gap, and clients take turns within it, so that writes come level and a second
//! has the same number of them on every build.

/// The plan of one writer.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    start_ns: u64,
    gap_ns: f64,
    /// Where in each gap this writer's statements lie.
    phase: f64,
    number: u64,
    catch_up_ns: u64,
    put_off_ns: u64,
}

impl Pace {
    /// The plan of client `client` of `clients`: a statement every `gap_ns` from `start_ns` on.
    pub(crate) fn new(start_ns: u64, gap_ns: f64, client: u32, clients: u32, catch_up_ns: u64) -> Pace {
        let phase = (f64::from(client) + 0.5) / f64::from(clients);
        Pace { start_ns, gap_ns, phase, number: 0, catch_up_ns, put_off_ns: 0 }
    }

    /// When the next statement is due.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.start_ns + self.put_off_ns + ((self.number as f64 + self.phase) * self.gap_ns) as u64
    }

    /// Takes the statement that is due at `now` or before and returns its planned moment. What is behind by more than may
    /// be made good is put off.
    #[inline]
    pub(crate) fn take(&mut self, now: u64) -> u64 {
        let behind_ns = now.saturating_sub(self.due_ns());
        self.put_off_ns += behind_ns.saturating_sub(self.catch_up_ns);
        let planned_ns = self.due_ns();
        self.number += 1;
        planned_ns
    }

    /// By how much the plan was put off.
    pub(crate) fn put_off_ns(&self) -> u64 {
        self.put_off_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn statements_are_spread_evenly_and_clients_take_turns() {
        let mut moments = Vec::new();
        for client in 0..4 {
            let mut pace = Pace::new(5 * S, 0.5e9, client, 4, S);
            moments.extend((0..20).map(|_| pace.take(0)));
        }
        moments.sort_unstable();
        assert_eq!((moments[0], moments[79]), (5 * S + S / 16, 15 * S - S / 16));
        assert!(moments.windows(2).all(|pair| pair[1] - pair[0] == S / 8));
    }

    #[test]
    fn a_short_stall_is_made_good_and_a_long_one_puts_the_plan_off() {
        let mut pace = Pace::new(0, 1e9, 0, 1, 3 * S);
        assert_eq!(pace.take(S), S / 2);
        // Two and a half seconds late: all that is due is sent at once.
        let late: Vec<u64> = (0..3).map(|_| pace.take(4 * S)).collect();
        assert_eq!((late, pace.put_off_ns()), (vec![3 * S / 2, 5 * S / 2, 7 * S / 2], 0));
        // Ten seconds late: three are made good, the rest moves.
        assert_eq!(pace.take(14 * S + S / 2), 11 * S + S / 2);
        assert_eq!((pace.put_off_ns(), pace.due_ns()), (7 * S, 12 * S + S / 2));
    }
}
