//! Random streams: everything random in a campaign is drawn from one of these, named by seed, purpose and place.
//!
//! In: a seed and what the stream is for. Out: a PCG64 generator and the few draws that workloads need. The same
//! arguments give the same numbers on every build of every server, in every process; the fixed vectors below keep it
//! so.

use rand_core::Rng;
pub use rand_pcg::Pcg64;

/// What a stream is used for. Purposes never share numbers, so that a new draw in one doesn't move another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Rows of the data set.
    Rows = 1,
    /// Keys and strings of measured events.
    Keys = 2,
    /// Keys of events that settle a new session.
    Settle = 3,
    /// Order of the arms in a cycle.
    Order = 4,
    /// Gaps between arrivals.
    Arrival = 5,
    /// Parameters of the statements whose plans are kept.
    Plans = 6,
    /// Warehouses whose tables are checked.
    Check = 7,
    /// Which transaction comes next, and what a virtual user does between two.
    Cards = 8,
    /// Parameters of the statements whose work is counted by kind.
    StatementWork = 9,
}

/// The stream for `purpose` at `place` and `moment`, such as client slot and cycle, or table and row.
#[inline]
pub fn stream(seed: u64, purpose: Purpose, place: u64, moment: u64) -> Pcg64 {
    let mut state = seed;
    let mut word = |value: u64| {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(value.wrapping_add(0x632b_e59b_d9b4_e019)));
        u128::from(state)
    };
    word(purpose as u64);
    word(place);
    let high = word(moment);
    let low = word(0);
    Pcg64::new(high << 64 | low, 0xa02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96)
}

/// One seed for a part of a campaign, such as a test of a round.
pub fn derive_seed(seed: u64, part: &str) -> u64 {
    part.bytes().fold(mix(seed ^ 0x5851_f42d_4c95_7f2d), |state, byte| mix(state ^ u64::from(byte)))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input moves every bit of the output.
#[inline]
const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A number from 0 to `count - 1`. The bias of taking the upper half of the product is below count / 2^64.
#[inline]
pub fn below(random: &mut Pcg64, count: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

/// A number from 1 to `count`.
#[inline]
pub fn one_to(random: &mut Pcg64, count: u64) -> u64 {
    below(random, count) + 1
}

/// A number in (0, 1].
#[inline]
pub fn unit_interval(random: &mut Pcg64) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
    ((random.next_u64() >> 11) + 1) as f64 * SCALE
}

/// Puts `items` into random order (Fisher and Yates).
pub fn shuffle<T>(random: &mut Pcg64, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_never_change() {
        let first = |purpose, place, moment| stream(7, purpose, place, moment).next_u64();
        let drawn = [
            first(Purpose::Rows, 1, 1),
            first(Purpose::Keys, 0, 0),
            first(Purpose::Keys, 1, 0),
            first(Purpose::Keys, 0, 1),
            first(Purpose::Order, 0, 0),
        ];
        expect_test::expect![[r#"
            [
                13400278781154788797,
                8148034056761946007,
                16582605162457391334,
                5625527088720231858,
                13589405740706299362,
            ]
        "#]]
        .assert_debug_eq(&drawn);
        let mut keys = stream(7, Purpose::Keys, 3, 9);
        let ids: Vec<u64> = (0..6).map(|_| one_to(&mut keys, 100_000)).collect();
        expect_test::expect![[r#"
            [
                82684,
                55017,
                76459,
                2644,
                24202,
                19333,
            ]
        "#]]
        .assert_debug_eq(&ids);
        assert_ne!(derive_seed(1, "hot-points"), derive_seed(1, "scan"));
        assert_ne!(derive_seed(1, "scan"), derive_seed(2, "scan"));
    }

    #[test]
    fn draws_are_level_and_within_bounds() {
        let mut random = stream(1, Purpose::Keys, 0, 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[below(&mut random, 10) as usize] += 1;
            let unit = unit_interval(&mut random);
            assert!(unit > 0.0 && unit <= 1.0);
        }
        // Five standard deviations of a binomial with n = 100,000 and p = 0.1 are 474.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 474), "{counts:?}");
        assert!((0..1000).all(|_| one_to(&mut random, 1) == 1));
    }

    #[test]
    fn neighbouring_streams_do_not_resemble_each_other() {
        let mut equal_bits = 0;
        for place in 0..1000 {
            let a = stream(1, Purpose::Keys, place, 0).next_u64();
            let b = stream(1, Purpose::Keys, place + 1, 0).next_u64();
            equal_bits += (a ^ b).count_zeros();
        }
        // Half of 64,000 bits, give or take five standard deviations (126 each).
        assert!((31_370..32_630).contains(&equal_bits), "{equal_bits}");
    }

    #[test]
    fn a_shuffle_reaches_every_order_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = stream(3, Purpose::Order, 0, 0);
        for _ in 0..6000 {
            let mut arms = [0, 1, 2];
            shuffle(&mut random, &mut arms);
            *counts.entry(arms).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| count.abs_diff(1000) < 145), "{counts:?}");
    }
}
