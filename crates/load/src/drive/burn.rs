//! A planted change: between two statements of a session the client burns some time, and counts it.
//!
//! In: how long the sessions of a thread are to be held up for each statement. Out: how long a burn is, and how much of
//! it counts. A thread that burns holds up all its sessions, so that a burn is the thread's share of what one session
//! is to lose. It reads no clock; the port does.
//!
//! A burn costs more than the time it takes, most likely since the server's caches cool meanwhile. To tell how much,
//! some slices have short burns and others long ones (`Planted`).

/// What is burned before each statement that a thread sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Burn {
    /// How long; 0 plants nothing.
    pub(crate) length_ns: u64,
    /// What it takes to read the clock once.
    reading_ns: u64,
    /// Whether the thread has no other session.
    is_alone: bool,
}

impl Burn {
    /// So that each of `sessions` on a thread is held up by `held_ns` for each of its statements.
    pub(crate) fn new(held_ns: f64, sessions: usize, reading_ns: u64) -> Burn {
        let share_ns = held_ns / sessions.max(1) as f64;
        // A burn ends with the first reading behind its length, half a reading later in the middle, and what it takes
        // to call the clock before the first and after the last one makes up another reading.
        let length_ns = (share_ns - 1.5 * reading_ns as f64).max(1.0) as u64;
        Burn { length_ns, reading_ns, is_alone: sessions <= 1 }
    }

    /// How much of a burn that was seen to last so long counts. Whatever else runs on the CPU takes from a burn as it
    /// takes from a statement, so that what interrupts one makes it as much longer. Where the thread has other
    /// sessions, though, it may be the server's work for them, which would have been done without the burn as well.
    pub(crate) fn counted_ns(&self, seen_ns: u64) -> u64 {
        let most_ns = if self.is_alone { u64::MAX } else { self.length_ns + self.reading_ns };
        seen_ns.min(most_ns) + self.reading_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_is_the_threads_share_less_what_the_clock_takes() {
        let burn = Burn::new(1000.0, 1, 20);
        assert_eq!((burn.length_ns, burn.counted_ns(970), burn.counted_ns(985)), (970, 990, 1005));
        assert_eq!(burn.counted_ns(4_000_000), 4_000_020, "others take from it as from a statement");
        let shared = Burn::new(1000.0, 4, 20);
        assert_eq!((shared.length_ns, shared.counted_ns(230), shared.counted_ns(4_000_000)), (220, 250, 260));
        // What cannot be planted so finely is planted as finely as it can be, and counted.
        let least = Burn::new(10.0, 1, 20);
        assert_eq!((least.length_ns, least.counted_ns(20)), (1, 40));
    }
}
