//! The order of treatments in every round: random, and balanced, so that no treatment is started first more often than
//! another.
//!
//! Rounds come in blocks. In a block of as many rounds as there are treatments, each treatment stands at each place
//! once (a Latin square), and over the block or two of them each follows each other treatment equally often (the square
//! of Williams, 1949). Which square and in which sequence its rows come, is drawn from the seed. A longer plan begins
//! with the shorter one of the same seed.

use rand_core::Rng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Streams of the generator, so that orders and seeds of rounds don't depend on each other.
const ORDER_STREAM: u128 = 1;
const SEED_STREAM: u128 = 2;
/// The first of the streams of head starts; each treatment has one of its own.
const HEAD_START_STREAM: u128 = 1 << 32;

/// What of the plan's tests a round measures, where the time that is left goes to what is still open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Allotment {
    /// Share of the campaign's time that was spent when this was settled, after a look at the results.
    pub spent: f64,
    /// Seconds counted of each test that is measured, by name. The others are left out.
    pub seconds: BTreeMap<String, f64>,
    /// Of those that are left out, the ones that are not decided: the time that is left will hardly do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<String>,
}

/// How a round goes: the order of treatments, and what everything random in it is drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Counted from 1.
    pub number: u32,
    /// Indices of treatments, in the order in which copies are made and work between tests is done.
    pub order: Vec<usize>,
    /// Seed of everything random inside this round.
    pub seed: u64,
    /// What it measures; `None` for every test as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allotment: Option<Allotment>,
}

impl Round {
    /// Whether it measures a test.
    pub fn measures(&self, test: &str) -> bool {
        self.allotment.as_ref().is_none_or(|allotment| allotment.seconds.contains_key(test))
    }

    /// What share of the longest head start a treatment's server gets, which was started so many times before in this
    /// round: from 0 to below 1.
    pub fn head_start(&self, treatment: usize, earlier: u32) -> f64 {
        let mut random = Pcg64::new(u128::from(self.seed), HEAD_START_STREAM + treatment as u128);
        let draws = (0..=earlier).map(|_| random.next_u64());
        // A double holds 53 bits of it.
        draws.last().map_or(0.0, |drawn| (drawn >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// A round of so many treatments, by its number.
pub(crate) fn round(treatments: usize, seed: u64, number: u32) -> Round {
    let (mut seeds, mut orders) = (Pcg64::new(u128::from(seed), SEED_STREAM), Orders::new(treatments, seed));
    let draws = (0..number.max(1)).map(|_| (orders.next_order(), seeds.next_u64()));
    let (order, seed) = draws.last().expect("at least one is drawn");
    Round { number, order, seed, allotment: None }
}

/// Draws orders block by block.
struct Orders {
    treatments: usize,
    random: Pcg64,
    /// Orders of the current block that are still to come, the next one last.
    block: Vec<Vec<usize>>,
    /// The mirrored square belongs to the block before.
    mirror: Option<Vec<usize>>,
}

impl Orders {
    fn new(treatments: usize, seed: u64) -> Self {
        let random = Pcg64::new(u128::from(seed), ORDER_STREAM);
        Orders { treatments, random, block: Vec::new(), mirror: None }
    }

    fn next_order(&mut self) -> Vec<usize> {
        if self.block.is_empty() {
            self.block = self.next_block();
        }
        self.block.pop().unwrap_or_default()
    }

    fn next_block(&mut self) -> Vec<Vec<usize>> {
        let count = self.treatments;
        // With an odd number one square is not balanced for what follows what, a square and its mirror together are.
        let (names, mirrored) = match self.mirror.take() {
            Some(names) => (names, true),
            None => {
                let mut names: Vec<usize> = (0..count).collect();
                shuffle(&mut names, &mut self.random);
                self.mirror = (count % 2 == 1).then(|| names.clone());
                (names, false)
            }
        };
        let row = |shift: usize| -> Vec<usize> {
            let places = zigzag(count).map(|place| names[(place + shift) % count]);
            if mirrored { places.rev().collect() } else { places.collect() }
        };
        let mut rows: Vec<Vec<usize>> = (0..count).map(row).collect();
        shuffle(&mut rows, &mut self.random);
        rows
    }
}

/// 0, n-1, 1, n-2, ...: neighbours differ by every distance once.
fn zigzag(count: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..count).map(move |place| if place % 2 == 0 { place / 2 } else { count - 1 - place / 2 })
}

/// The shuffle of Fisher and Yates, here and not from a library, so that a seed means the same order for ever.
fn shuffle<T>(items: &mut [T], random: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1, random));
    }
}

/// A number below `bound`, without the bias of a plain remainder.
fn below(bound: usize, random: &mut Pcg64) -> usize {
    let bound = bound as u64;
    let largest = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random.next_u64();
        if drawn < largest {
            return (drawn % bound) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(treatments: usize, count: u32, seed: u64) -> Vec<Round> {
        (1..=count).map(|number| round(treatments, seed, number)).collect()
    }
    use proptest::prelude::*;

    /// How often each treatment stands at each place: `[treatment][place]`.
    fn places(rounds: &[Round], treatments: usize) -> Vec<Vec<usize>> {
        let mut counts = vec![vec![0; treatments]; treatments];
        for round in rounds {
            for (place, treatment) in round.order.iter().enumerate() {
                counts[*treatment][place] += 1;
            }
        }
        counts
    }

    #[test]
    fn head_starts_are_spread_and_differ_by_round_treatment_and_start() {
        let rounds = rounds(2, 50, 7);
        let ways = rounds.iter().flat_map(|round| [(round, 0, 0), (round, 1, 0), (round, 0, 1)]);
        let mut shares: Vec<f64> =
            ways.map(|(round, treatment, earlier)| round.head_start(treatment, earlier)).collect();
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        assert_eq!(shares.len(), 150);
        for (rank, share) in shares.iter().enumerate() {
            let uniform = (rank as f64 + 0.5) / 150.0;
            assert!((share - uniform).abs() < 0.12, "{share} stands at {uniform}");
        }
    }

    proptest! {
        #[test]
        fn orders_are_balanced_permutations(treatments in 1usize..9, count in 1u32..40, seed: u64) {
            let plan = rounds(treatments, count, seed);
            prop_assert_eq!(&plan, &rounds(treatments, count, seed));
            for (at, round) in plan.iter().enumerate() {
                let mut sorted = round.order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..treatments).collect::<Vec<_>>());
                prop_assert_eq!(round.number as usize, at + 1);
            }
            for counts in places(&plan, treatments) {
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                prop_assert!(most - least <= 1, "{:?}", counts);
            }
        }

        #[test]
        fn a_longer_plan_begins_with_the_shorter(treatments in 1usize..6, count in 1u32..20, more in 0u32..20, seed: u64) {
            let long = rounds(treatments, count + more, seed);
            prop_assert_eq!(&long[..count as usize], &rounds(treatments, count, seed)[..]);
        }
    }

    #[test]
    fn each_follows_each_equally_often() {
        for treatments in 2..8 {
            let cycle = if treatments % 2 == 0 { treatments } else { 2 * treatments };
            let plan = rounds(treatments, u32::try_from(cycle).unwrap(), 7);
            let mut follows = vec![vec![0; treatments]; treatments];
            for pair in plan.iter().flat_map(|round| round.order.windows(2)) {
                follows[pair[0]][pair[1]] += 1;
            }
            for (a, row) in follows.iter().enumerate() {
                for (b, count) in row.iter().enumerate() {
                    assert_eq!(*count, if a == b { 0 } else { cycle / treatments }, "{treatments}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn seeds_change_orders_and_round_seeds() {
        let orders = |seed| rounds(2, 16, seed).into_iter().map(|round| round.order).collect::<Vec<_>>();
        let distinct = (0..20).map(orders).collect::<std::collections::BTreeSet<_>>().len();
        assert!(distinct > 15, "{distinct}");
        let mut seeds: Vec<u64> = rounds(2, 100, 1).into_iter().map(|round| round.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 100);
    }

    #[test]
    fn blocks_are_drawn_evenly() {
        // Four treatments have 6 squares and 24 sequences of rows; two blocks in a row are alike once in 144 times.
        let alike = |seed| {
            let orders: Vec<Vec<usize>> = rounds(4, 8, seed).into_iter().map(|round| round.order).collect();
            orders[..4] == orders[4..]
        };
        let count = (0..14_400).filter(|seed| alike(*seed)).count();
        assert!((60..140).contains(&count), "{count}");
    }

    #[test]
    fn a_seed_means_the_same_order_for_ever() {
        let told: Vec<String> =
            rounds(3, 6, 1).iter().map(|round| format!("{:?} {}", round.order, round.seed)).collect();
        expect_test::expect![[r#"
            [2, 0, 1] 15480837910931078712
            [1, 2, 0] 6808287797791945199
            [0, 1, 2] 14019957353723629190
            [0, 2, 1] 2180022852500636544
            [1, 0, 2] 6713464975541572973
            [2, 1, 0] 3245354398995244177"#]]
        .assert_eq(&told.join("\n"));
    }
}
