//! The inside of a single round: what it says of steady runs, when it says nothing, and how often it holds.

use super::*;
use crate::compare::round::ratio_of_round;
use crate::evidence::timeline::tests::{Kind, ran, record};
use crate::read::seconds::tests::row;

/// A step of queries with these rates by the second.
fn paced(rates: &[u32]) -> Measured {
    let mut round = ran(Kind::Queries, rates.len() as u32);
    round.seconds = (0..).zip(rates).map(|(second, &queries)| row(second, 0, "query", queries.into())).collect();
    round.sample.score.count = rates.iter().map(|&rate| u64::from(rate)).sum();
    round
}

fn inside_of(own: &[u32], base: &[u32]) -> Option<InsideFindings> {
    let (own, base) = (paced(own), paced(base));
    let ratio = ratio_of_round(&own, &base).unwrap();
    inside(&[Some(own)], &[Some(base)], &[ratio])
}

#[test]
fn a_single_round_has_an_interval_inside_and_several_have_none() {
    let rates = |mean: u32| -> Vec<u32> { (0..60).map(|n| mean + n * 7 % 11 * mean / 100).collect() };
    let found = inside_of(&rates(2000), &rates(1000)).unwrap();
    assert!(found.low < 2.0 && 2.0 < found.high && found.high - found.low < 0.2, "{found:?}");
    assert_eq!(found.pieces, 12);
    assert_eq!(inside_of(&rates(1000)[..9], &rates(1000)), None, "nine seconds are too few");
    let (own, base) = (paced(&rates(2000)), paced(&rates(1000)));
    let ratio = ratio_of_round(&own, &base).unwrap();
    assert_eq!(inside(&[Some(own.clone())], &[Some(base.clone())], &[ratio, ratio]), None);
    let mut index = own;
    record(&mut index.sample).rows_indexed = Some(7);
    assert_eq!(inside(&[Some(index)], &[Some(base)], &[ratio]), None, "indexed rows have no seconds");
}

#[test]
fn the_interval_inside_holds_in_95_of_100_where_seconds_are_independent() {
    use rand_core::{Rng, SeedableRng};
    let mut random = rand_pcg::Pcg64::seed_from_u64(11);
    let mut rates = |seconds: usize, mean: f64| -> Vec<u32> {
        // A sum of twelve uniform values less six is near enough to normal.
        let mut normal = || (0..12).map(|_| random.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        (0..seconds).map(|_| (mean * (1.0 + 0.1 * normal())).max(0.0) as u32).collect()
    };
    for (own, base) in [(30, 30), (60, 45), (300, 200)] {
        let held = (0..500).filter(|_| {
            let found = inside_of(&rates(own, 90_000.0), &rates(base, 100_000.0)).unwrap();
            found.low <= 0.9 && 0.9 <= found.high
        });
        let share = held.count() as f64 / 500.0;
        assert!((0.90..=0.98).contains(&share), "{own} s and {base} s: {share}");
    }
}
