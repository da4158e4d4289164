//! A11: the verdict on a group of tests.
//!
//! In: ten tests whose noise is half shared within a round, and rounds that a real machine has given. Out: the share of
//! unchanged groups called changed, by our estimate and by the pooling that we do not offer.

use crate::document;
use crate::noise::{Noise, PAIR_SD, REPLICATES, excludes_zero};
use crate::pooled::{Measure, RealTest, draw_tests, floors, log_ratios, real_tests};
use rqps_stats::{Paired, group};

const TESTS: usize = 10;
const CV: f64 = 0.02;

/// Tests of a real group, and campaigns of four such groups drawn for a row.
const REAL_TESTS: usize = 8;
const CAMPAIGNS: usize = 5_000;

#[test]
fn shared_noise_does_not_make_a_group_change() {
    let mut rows = Vec::new();
    for n in [4, 6, 8, 10] {
        let mut noise = Noise::new(1100 + n as u64);
        let half = PAIR_SD * CV * 0.5f64.sqrt();
        let (mut grouped, mut pooled) = (0, 0);
        for _ in 0..REPLICATES {
            let shared: Vec<f64> = (0..n).map(|_| half * noise.normal()).collect();
            let tests: Vec<Vec<f64>> =
                (0..TESTS).map(|_| shared.iter().map(|shared| shared + half * noise.normal()).collect()).collect();
            let slices: Vec<&[f64]> = tests.iter().map(Vec::as_slice).collect();
            grouped += usize::from(excludes_zero(&group(&slices).unwrap().plain().unwrap()));
            pooled += usize::from(excludes_zero(&Paired::new(&tests.concat()).unwrap().plain().unwrap()));
        }
        let (grouped, pooled) = (grouped as f64 / REPLICATES as f64, pooled as f64 / REPLICATES as f64);
        assert!(grouped <= 0.055, "{n} rounds: {grouped}");
        assert!(pooled > 0.3, "pooling would be fine after all: {pooled}");
        rows.push(vec![n.to_string(), document::cell(grouped), document::cell(pooled)]);
    }
    let header = ["rounds", "averaged per round (ours)", "all values pooled (not offered)"];
    document::check("group", &document::table(&header, &rows), 0.004);
}

/// What a round says of a group: the mean of its tests, and the standard error that their slices leave.
fn averaged(tests: &[&RealTest], round: usize) -> (f64, f64) {
    let count = tests.len() as f64;
    let sum = |value: fn((f64, f64)) -> f64| tests.iter().map(|test| value(test[round])).sum::<f64>();
    (sum(|(log_ratio, _)| log_ratio) / count, sum(|(_, slice_se)| slice_se.powi(2)).sqrt() / count)
}

/// Tests of a round share the start of its servers, and what a real start does to them is in these rounds.
#[test]
fn groups_of_real_tests_hold_as_often_as_stated() {
    let real = real_tests(Measure::Throughput);
    let mut rows = Vec::new();
    for n in [2, 3, 4, 6, 8, 12] {
        let mut noise = Noise::new(1150 + n as u64);
        let (mut held, mut plain, mut pooled, mut all) = (0, 0, 0, 0);
        for _ in 0..CAMPAIGNS {
            let dealt = draw_tests(real.len(), real.len(), &mut noise);
            let at: Vec<usize> = (0..n).map(|_| noise.below(real[0].len())).collect();
            let groups: Vec<Vec<&RealTest>> =
                dealt.chunks_exact(REAL_TESTS).map(|tests| tests.iter().map(|&test| &real[test]).collect()).collect();
            let cells: Vec<RealTest> =
                groups.iter().map(|tests| at.iter().map(|&round| averaged(tests, round)).collect()).collect();
            for ((tests, cell), floor) in groups.iter().zip(&cells).zip(floors(&cells, n)) {
                let paired = Paired::new(&log_ratios(cell)).unwrap();
                let values: Vec<f64> = tests.iter().flat_map(|test| at.iter().map(|&round| test[round].0)).collect();
                all += 1;
                held += usize::from(!excludes_zero(&paired.estimate(floor.as_ref()).unwrap()));
                plain += usize::from(!excludes_zero(&paired.plain().unwrap()));
                pooled += usize::from(!excludes_zero(&Paired::new(&values).unwrap().plain().unwrap()));
            }
        }
        let rates = [held, plain, pooled].map(|count: usize| count as f64 / all as f64);
        assert!(rates[0] >= 0.92, "{n} rounds: {rates:?}");
        rows.push(std::iter::once(n.to_string()).chain(rates.map(document::cell)).collect());
    }
    let header = ["rounds", "coverage: averaged per round (ours)", "plain t", "all values pooled (not offered)"];
    document::check("group-real", &document::table(&header, &rows), 0.006);
}
