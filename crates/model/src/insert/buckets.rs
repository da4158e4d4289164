//! Response times in the nine buckets in which the Insert Benchmark's are published.
//!
//! In: nanoseconds. Out: exact counts, and the longest. A histogram of three digits stands beside it for everything
//! else.

use serde::{Deserialize, Serialize};

/// Upper bounds, inclusive; what is longer is counted as `gt`.
const BOUNDS_NS: [u64; 9] =
    [256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000, 1_000_000_000, 4_000_000_000, 16_000_000_000];

/// How many statements took how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets {
    /// By [`Buckets::NAMES`].
    pub counts: [u64; 10],
    /// The longest of all.
    pub longest_ns: u64,
}

impl Buckets {
    /// The published names, in the order of the counts.
    pub const NAMES: [&str; 10] = ["256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt"];

    /// All statements.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts one statement.
    #[inline]
    pub fn record(&mut self, took_ns: u64) {
        let place = BOUNDS_NS.iter().position(|bound| took_ns <= *bound).unwrap_or(BOUNDS_NS.len());
        self.counts[place] += 1;
        self.longest_ns = self.longest_ns.max(took_ns);
    }

    /// Adds those of others.
    pub fn add(&mut self, other: &Buckets) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_its_bucket() {
        let mut buckets = Buckets::default();
        for took_ns in [0, 256_000, 256_001, 1_000_000, 63_000_000, 16_000_000_000, 16_000_000_001] {
            buckets.record(took_ns);
        }
        assert_eq!(buckets.counts, [2, 2, 0, 0, 1, 0, 0, 0, 1, 1]);
        let mut twice = buckets;
        twice.add(&buckets);
        assert_eq!((twice.total(), twice.longest_ns), (14, 16_000_000_001));
    }
}
