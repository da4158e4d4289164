//! What a floor of noise is learned from, and that moderation by it keeps its promises.

use super::*;
use rand_core::{Rng, SeedableRng};
use rqps_stats::Paired;

#[test]
fn pairs_come_first_and_never_judge_themselves() {
    let quiet = [0.001, -0.001, 0.0005, -0.0005];
    let noisy = [0.05, -0.05, 0.03, -0.03];
    let cells: [&[f64]; 5] = [&[], &quiet, &noisy, &noisy, &noisy];
    let pairs = [Pair { treatments: (0, 1), log_ratios: &quiet }];
    assert!(of_test(2, 0, &cells, &pairs).unwrap().sd() < 0.002);
    assert!(of_test(1, 0, &cells, &pairs).unwrap().sd() > 0.03, "the pair's own cell is judged by the others");
    assert!(of_test(1, 0, &cells[..2], &pairs).is_none(), "and by none where there are no others");
}

#[test]
fn three_treatments_make_a_floor_two_do_not() {
    let cell = [0.01, -0.01, 0.01, -0.01];
    let cells: [&[f64]; 4] = [&[], &cell, &cell, &cell];
    assert!(of_test(1, 0, &cells, &[]).is_some());
    assert!(of_test(1, 0, &cells[..3], &[]).is_none());
    let single: [&[f64]; 4] = [&[], &cell, &[0.1], &[]];
    assert!(of_test(1, 0, &single, &[]).is_none(), "single rounds have no spread");
}

#[test]
fn few_rounds_weigh_little() {
    let weight = |rounds: usize| {
        let cell: Vec<f64> = (0..rounds).map(|n| 0.01 * (n as f64 * 2.3).sin()).collect();
        let cells: [&[f64]; 4] = [&[], &cell, &cell, &cell];
        of_test(1, 0, &cells, &[]).unwrap().degrees_of_freedom()
    };
    assert!(weight(2) < 1.1);
    assert!(weight(3) < 2.2);
    assert_eq!(weight(10), DEFAULT_FLOOR_DEGREES_OF_FREEDOM);
}

/// Standard normal deviates, two for two draws (Box and Muller).
struct Normal(rand_pcg::Pcg64);

impl Normal {
    fn next(&mut self) -> f64 {
        let mut uniform = || (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (a, b) = (1.0 - uniform(), uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Share of 95 % intervals that miss "no change" in campaigns where nothing changed, the first cell of each.
fn share_missing(rounds: usize, treatments: usize, campaigns: usize, with_pair: bool) -> f64 {
    let mut normal = Normal(rand_pcg::Pcg64::seed_from_u64(41));
    let mut missed = 0;
    for _ in 0..campaigns {
        let logs: Vec<Vec<f64>> = (0..=treatments).map(|_| (0..rounds).map(|_| normal.next()).collect()).collect();
        let against = |arm: &[f64], base: &[f64]| -> Vec<f64> { arm.iter().zip(base).map(|(a, b)| a - b).collect() };
        let cells: Vec<Vec<f64>> =
            (0..=treatments).map(|at| if at == 0 { Vec::new() } else { against(&logs[at], &logs[0]) }).collect();
        let cells: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
        let pairs = [Pair { treatments: (0, treatments), log_ratios: cells[treatments] }];
        let floor = of_test(1, 0, &cells, if with_pair { &pairs } else { &[] });
        let estimate = Paired::new(cells[1]).unwrap().estimate(floor.as_ref()).unwrap();
        missed += usize::from(estimate.low95 > 0.0 || estimate.high95 < 0.0);
    }
    missed as f64 / campaigns as f64
}

#[test]
fn unchanged_builds_stay_unchanged_as_often_as_stated() {
    const CAMPAIGNS: usize = 4000;
    // Three standard errors of a 5 % share.
    let bar = 0.05 + 3.0 * (0.05f64 * 0.95 / CAMPAIGNS as f64).sqrt();
    for (rounds, treatments) in [(2, 3), (2, 6), (3, 3), (4, 3), (4, 13), (6, 4)] {
        for with_pair in [false, true] {
            let share = share_missing(rounds, treatments, CAMPAIGNS, with_pair);
            assert!(share < bar, "{rounds} rounds, {treatments} treatments, pair {with_pair}: {share}");
        }
    }
}
