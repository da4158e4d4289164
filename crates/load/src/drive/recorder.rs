//! Counts durations in buckets of constant relative width, like an HDR histogram but cheaper to hold.
//!
//! In: nanoseconds. Out: an [`hdrhistogram::Histogram`] with the same buckets, or quantiles. The counters come zeroed
//! from the operating system, so that a recorder without values takes no memory: a test with many statement kinds and
//! arms has dozens of them. With its first value one takes what all usual ones need, since the longer a run is the
//! longer is its longest statement, and its memory is not to grow with that. Recording is an index and an addition.

use hdrhistogram::Histogram;
use std::hint::black_box;

/// Longer durations count as this, 18 minutes.
const LONGEST_NS: u64 = (1 << 40) - 1;

/// Durations shorter than this, 17 s, have their counters in memory from the first value on. Zero is among them: an
/// answer that came while its server stood still is there at once when its arm's clock goes on.
const USUAL_NS: u64 = 1 << 34;

/// Counters to a page of memory.
const PAGE: usize = 4096 / size_of::<u32>();

/// Counters for values up to 18 minutes, exact below 2^BITS ns and 2^(BITS-1) to an octave above.
#[derive(Debug, Clone)]
pub(crate) struct Recorder<const BITS: u32> {
    counts: Vec<u32>,
    total: u64,
    max: u64,
}

/// Three significant digits.
pub(crate) type Fine = Recorder<11>;
/// Two significant digits, small enough to be read and cleared every second.
pub(crate) type Coarse = Recorder<7>;

impl<const BITS: u32> Recorder<BITS> {
    const HALF: usize = 1 << (BITS - 1);
    const COUNTERS: usize = Self::index(LONGEST_NS) + 1;

    /// An empty recorder.
    pub(crate) fn new() -> Self {
        Recorder { counts: vec![0; Self::COUNTERS], total: 0, max: 0 }
    }

    /// An empty recorder for what may never come: it takes memory with the first value.
    pub(crate) const fn without_room() -> Self {
        Recorder { counts: Vec::new(), total: 0, max: 0 }
    }

    /// Takes the memory for the values to come. All counters are 0.
    #[cold]
    fn begin(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; Self::COUNTERS];
        }
        for usual in (0..Self::index(USUAL_NS)).step_by(PAGE) {
            // Or the compiler would leave it out.
            *black_box(&mut self.counts[usual]) = 0;
        }
    }

    #[inline]
    const fn index(value: u64) -> usize {
        let octave = (64 - BITS).saturating_sub((value | 1).leading_zeros());
        octave as usize * Self::HALF + (value >> octave) as usize
    }

    /// The lowest value of a bucket.
    const fn lowest(index: usize) -> u64 {
        match index < 2 * Self::HALF {
            true => index as u64,
            false => {
                let octave = index / Self::HALF - 1;
                ((index - octave * Self::HALF) as u64) << octave
            }
        }
    }

    /// The highest value of a bucket.
    const fn highest(index: usize) -> u64 {
        Self::lowest(index + 1) - 1
    }

    /// Counts a duration.
    #[inline]
    pub(crate) fn record(&mut self, value_ns: u64) {
        let value = if value_ns > LONGEST_NS { LONGEST_NS } else { value_ns };
        if self.total == 0 {
            self.begin();
        }
        let count = &mut self.counts[Self::index(value)];
        *count = count.saturating_add(1);
        self.total += 1;
        if value_ns > self.max {
            self.max = value_ns;
        }
    }

    /// How many durations were counted.
    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The longest duration, exactly.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// The values below which the given fractions lie, in ascending order of fractions; the upper ends of buckets.
    pub(crate) fn quantiles<const N: usize>(&self, fractions: [f64; N]) -> [u64; N] {
        let mut values = [self.max; N];
        let mut next = 0;
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            while next < N && seen > 0 && seen as f64 >= fractions[next] * self.total as f64 {
                values[next] = Self::highest(index).min(self.max);
                next += 1;
            }
            if next == N {
                break;
            }
        }
        values
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        if self.total > 0 {
            let used = Self::index(self.max.min(LONGEST_NS));
            self.counts[..=used].fill(0);
            self.total = 0;
            self.max = 0;
        }
    }

    /// Adds everything to a histogram.
    fn add_to(&self, histogram: &mut Histogram<u64>) {
        for (index, &count) in self.counts.iter().enumerate() {
            if count > 0 {
                histogram
                    .record_n(Self::lowest(index).max(1), u64::from(count))
                    .expect("the histogram's range is that of the recorder");
            }
        }
    }
}

/// Everything in one histogram.
pub(crate) fn joined<'r, const BITS: u32>(
    recorders: impl Iterator<Item = &'r Recorder<BITS>> + Clone,
) -> Histogram<u64> {
    let mut joined = histogram(recorders.clone().map(Recorder::max).max().unwrap_or(0));
    recorders.for_each(|recorder| recorder.add_to(&mut joined));
    joined
}

/// A histogram with room for values up to `longest_ns`: one that reached as far as a recorder may would take a quarter
/// of a megabyte.
fn histogram(longest_ns: u64) -> Histogram<u64> {
    Histogram::new_with_bounds(1, longest_ns.clamp(2, LONGEST_NS), 3).expect("the bounds are in order")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> impl Iterator<Item = u64> {
        (0..40).flat_map(|octave| [0, 1, 2, 7, 100, 12_345].map(|step| (1u64 << octave) + step)).chain([0, LONGEST_NS])
    }

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        fn check<const BITS: u32>() {
            for value in values() {
                let index = Recorder::<BITS>::index(value);
                let (low, high) = (Recorder::<BITS>::lowest(index), Recorder::<BITS>::highest(index));
                assert!((low..=high).contains(&value), "{value} in {low}..={high}");
                assert!(high - low <= value >> (BITS - 1), "{value}: {low}..={high}");
                assert_eq!(Recorder::<BITS>::index(low), index);
                assert_eq!(Recorder::<BITS>::index(high), index);
            }
        }
        check::<11>();
        check::<7>();
    }

    #[test]
    fn a_histogram_made_of_it_is_the_one_recorded_directly() {
        let mut recorder = Fine::new();
        let mut direct = histogram(LONGEST_NS);
        for value in values() {
            recorder.record(value);
            direct.record(value.max(1)).unwrap();
        }
        let converted = joined([&recorder, &Fine::without_room()].into_iter());
        assert_eq!(converted.len(), recorder.total());
        for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
            assert_eq!(converted.value_at_quantile(quantile), direct.value_at_quantile(quantile));
        }
    }

    #[test]
    fn quantiles_are_right_to_two_digits_and_clearing_forgets() {
        let mut recorder = Coarse::new();
        assert_eq!(recorder.quantiles([0.5]), [0]);
        for round in 1..=2u64 {
            for value in 1..=1000 {
                recorder.record(value * 1000 * round);
            }
            let [half, most] = recorder.quantiles([0.5, 0.99]);
            assert!(half.abs_diff(500_000 * round) <= 8000 * round, "{half}");
            assert!(most.abs_diff(990_000 * round) <= 16_000 * round, "{most}");
            assert_eq!(recorder.max(), 1_000_000 * round);
            recorder.clear();
            assert_eq!((recorder.total(), recorder.counts.iter().all(|count| *count == 0)), (0, true));
        }
    }

    #[test]
    fn what_is_too_long_counts_as_the_longest() {
        let mut recorder = Fine::new();
        recorder.record(u64::MAX);
        recorder.record(LONGEST_NS + 1);
        assert_eq!((recorder.total(), recorder.max()), (2, u64::MAX));
        recorder.clear();
        assert!(recorder.counts.iter().all(|count| *count == 0));
    }
}
