//! Intervals of a campaign whose cells lend each other their noise, on rounds that a real machine has given.
//!
//! In: `aa_rounds.csv`, the rounds of an A/A campaign. Out: how often the intervals hold "no change", over all tests
//! and for the test that fares worst, and how wide they are beside the plain t. Whole rounds are drawn with
//! replacement, so that what the tests of a round share stays in, and each test's own mean is taken out first.

use crate::document;
use crate::noise::Noise;
use rqps_stats::{Floor, Kept, Paired, Prior, Spread, agree, median, sample_variance};
use std::collections::BTreeMap;

/// Tests of the campaigns that are drawn; beyond those there are, tests are drawn twice.
const TESTS: [usize; 4] = [4, 8, 16, 47];
const ROUNDS: [usize; 6] = [2, 3, 4, 6, 8, 12];
/// Cells drawn for a rate.
const CELLS: usize = 40_000;

/// What the rounds were compared by, as columns of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    Throughput = 3,
    P50 = 4,
    P95 = 5,
    P99 = 6,
}

/// A test of the real campaign: by round its log ratio, less their mean, and the standard error of its slices.
pub(crate) type RealTest = Vec<(f64, f64)>;

/// The tests that have the measure in every round.
pub(crate) fn real_tests(measure: Measure) -> Vec<RealTest> {
    let mut tests: BTreeMap<&str, RealTest> = BTreeMap::new();
    let lines = include_str!("../aa_rounds.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [test, _round, slice_se, ..] = fields[..] else { panic!("too few fields: {line}") };
        let rounds = tests.entry(test).or_default();
        let Ok(log_ratio) = fields[measure as usize].parse() else { continue };
        // A quantile has no slices.
        let slice_se = if measure == Measure::Throughput { slice_se.parse().unwrap() } else { 0.0 };
        rounds.push((log_ratio, slice_se));
    }
    let most = tests.values().map(Vec::len).max().unwrap_or(0);
    tests.retain(|_, rounds| rounds.len() == most);
    let mut tests: Vec<RealTest> = tests.into_values().collect();
    tests.iter_mut().for_each(|rounds| take_mean_out(rounds));
    tests
}

fn take_mean_out(rounds: &mut [(f64, f64)]) {
    let count = rounds.len() as f64;
    let mean = rounds.iter().map(|round| round.0).sum::<f64>() / count;
    // A part of the variance goes with it.
    let scale = (count / (count - 1.0)).sqrt();
    rounds.iter_mut().for_each(|round| round.0 = (round.0 - mean) * scale);
}

/// What became of the cells of one size of campaign.
#[derive(Default)]
struct Outcome {
    /// By test of the real campaign: cells, and those whose interval holds 0, pooled and plain.
    cells: Vec<[usize; 3]>,
    half_widths: Vec<f64>,
    plain_half_widths: Vec<f64>,
}

impl Outcome {
    fn rate(&self, which: usize) -> f64 {
        let sum = |at: usize| self.cells.iter().map(|cell| cell[at]).sum::<usize>() as f64;
        sum(which) / sum(0)
    }

    fn worst(&self) -> f64 {
        self.worst_of(1)
    }

    fn worst_of(&self, which: usize) -> f64 {
        let drawn = self.cells.iter().filter(|cell| cell[0] > 0);
        drawn.map(|cell| cell[which] as f64 / cell[0] as f64).fold(1.0, f64::min)
    }
}

fn simulate(real: &[RealTest], tests: usize, rounds: usize) -> Outcome {
    let mut noise = Noise::new(900 + (100 * tests + rounds) as u64);
    let mut outcome = Outcome { cells: vec![[0; 3]; real.len()], ..Outcome::default() };
    for _ in 0..CELLS / tests {
        let drawn = draw_tests(real.len(), tests, &mut noise);
        let at: Vec<usize> = (0..rounds).map(|_| noise.below(real[0].len())).collect();
        let cells: Vec<Vec<(f64, f64)>> =
            drawn.iter().map(|&test| at.iter().map(|&round| real[test][round]).collect()).collect();
        let floors = floors(&cells, rounds);
        for ((&test, cell), floor) in drawn.iter().zip(&cells).zip(floors) {
            let paired = Paired::new(&log_ratios(cell)).unwrap();
            let (pooled, plain) = (paired.estimate(floor.as_ref()).unwrap(), paired.plain().unwrap());
            let holds = |low: f64, high: f64| usize::from(low <= 0.0 && 0.0 <= high);
            let found = [1, holds(pooled.low95, pooled.high95), holds(plain.low95, plain.high95)];
            outcome.cells[test].iter_mut().zip(found).for_each(|(sum, one)| *sum += one);
            outcome.half_widths.push(0.5 * (pooled.high95 - pooled.low95));
            outcome.plain_half_widths.push(0.5 * (plain.high95 - plain.low95));
        }
    }
    outcome
}

/// The floor of each cell after so many rounds, from all others.
pub(crate) fn floors(cells: &[RealTest], rounds: usize) -> Vec<Option<Floor>> {
    let spreads: Vec<Spread> = cells.iter().map(|cell| spread(&cell[..rounds])).collect();
    let of = |place: usize| {
        let others = (0..cells.len()).filter(|&other| other != place).map(|other| spreads[other]);
        Prior::of_cells(&others.collect::<Vec<_>>())?.floor(spreads[place].slices)
    };
    (0..cells.len()).map(of).collect()
}

pub(crate) fn log_ratios(cell: &[(f64, f64)]) -> Vec<f64> {
    cell.iter().map(|round| round.0).collect()
}

/// Different tests as long as there are any.
pub(crate) fn draw_tests(real: usize, tests: usize, noise: &mut Noise) -> Vec<usize> {
    let mut left: Vec<usize> = Vec::new();
    let mut drawn = Vec::new();
    while drawn.len() < tests {
        if left.is_empty() {
            left = (0..real).collect();
        }
        drawn.push(left.swap_remove(noise.below(left.len())));
    }
    drawn
}

fn spread(cell: &[(f64, f64)]) -> Spread {
    Spread {
        variance: sample_variance(&log_ratios(cell)).unwrap().unwrap(),
        degrees_of_freedom: (cell.len() - 1) as f64,
        slices: cell.iter().map(|round| round.1.powi(2)).sum::<f64>() / cell.len() as f64,
    }
}

/// What a row of a table says of an outcome.
fn row(outcome: &Outcome, of: [String; 2]) -> Vec<String> {
    let width = |widths: &[f64]| format!("{:.2}", 100.0 * median(widths).unwrap());
    let rates = [outcome.rate(1), outcome.worst(), outcome.rate(2)].map(document::cell);
    let widths = [width(&outcome.half_widths), width(&outcome.plain_half_widths)];
    of.into_iter().chain(rates).chain(widths).collect()
}

fn check(name: &str, of: [&str; 2], rows: &[Vec<String>]) {
    let header = [of[0], of[1], "coverage: all", "the worst test", "plain t", "half-width, %", "of the plain t, %"];
    document::check(name, &document::table(&header, rows), 0.004);
    for row in rows {
        let (all, worst): (f64, f64) = (row[2].parse().unwrap(), row[3].parse().unwrap());
        assert!((0.94..=0.98).contains(&all) && worst >= 0.86, "{row:?}");
    }
}

#[test]
fn pooled_intervals_of_real_rounds_hold_as_often_as_stated() {
    let real = real_tests(Measure::Throughput);
    assert!(real[0].len() >= 60, "{} rounds", real[0].len());
    let mut rows = Vec::new();
    for tests in TESTS {
        for rounds in ROUNDS {
            rows.push(row(&simulate(&real, tests, rounds), [tests.to_string(), rounds.to_string()]));
        }
    }
    check("pooled", ["tests", "rounds"], &rows);
}

#[test]
fn pooled_intervals_of_real_latencies_hold_as_often_as_stated() {
    let mut rows = Vec::new();
    for measure in [Measure::P50, Measure::P95, Measure::P99] {
        let real = real_tests(measure);
        for rounds in [3, 6, 12] {
            rows.push(row(&simulate(&real, real.len(), rounds), [format!("{measure:?}"), rounds.to_string()]));
        }
    }
    check("pooled-latency", ["quantile", "rounds"], &rows);
}

/// Rounds of a campaign, and how noisy it is beside the rounds that were kept.
const KEPT: [(usize, f64); 8] = [(2, 1.0), (3, 1.0), (4, 1.0), (6, 1.0), (12, 1.0), (3, 0.7), (3, 1.2), (3, 1.5)];

/// Campaigns drawn from one half of the rounds, where the other half was kept as a calibration; cells that counted it.
fn simulate_kept(real: &[RealTest], kept: &[Kept], rounds: usize, noisier: f64) -> (Outcome, usize) {
    let mut noise = Noise::new(950 + rounds as u64);
    let mut outcome = Outcome { cells: vec![[0; 3]; real.len()], ..Outcome::default() };
    let mut counted = 0;
    for _ in 0..CELLS / 2 / real.len() {
        let at: Vec<usize> = (0..rounds).map(|_| noise.below(real[0].len())).collect();
        let louder = |round: (f64, f64)| (noisier * round.0, noisier * round.1);
        let cells: Vec<RealTest> =
            real.iter().map(|test| at.iter().map(|&round| louder(test[round])).collect()).collect();
        let spreads: Vec<Spread> = cells.iter().map(|cell| spread(cell)).collect();
        for (place, without) in floors(&cells, rounds).into_iter().enumerate() {
            let others = (0..cells.len()).filter(|&other| other != place);
            let others: Vec<(Spread, Kept)> = others.map(|other| (spreads[other], kept[other])).collect();
            let of_host = kept[place].floor(spreads[place].slices).filter(|_| agree(&others));
            counted += usize::from(of_host.is_some());
            let with = without.into_iter().chain(of_host).reduce(Floor::joined);
            let paired = Paired::new(&log_ratios(&cells[place])).unwrap();
            let [with, without] = [with, without].map(|floor| paired.estimate(floor.as_ref()).unwrap());
            let holds = |low: f64, high: f64| usize::from(low <= 0.0 && 0.0 <= high);
            let found = [1, holds(with.low95, with.high95), holds(without.low95, without.high95)];
            outcome.cells[place].iter_mut().zip(found).for_each(|(sum, one)| *sum += one);
            outcome.half_widths.push(0.5 * (with.high95 - with.low95));
            outcome.plain_half_widths.push(0.5 * (without.high95 - without.low95));
        }
    }
    (outcome, counted)
}

#[test]
fn noise_that_was_kept_holds_noisy_tests_more_often_in_narrower_intervals() {
    let real = real_tests(Measure::Throughput);
    let half = real[0].len() / 2;
    let mut rows = Vec::new();
    for (rounds, noisier) in KEPT {
        let (mut all, mut counted) = (Outcome { cells: vec![[0; 3]; real.len()], ..Outcome::default() }, 0);
        for first_is_kept in [true, false] {
            let halves = |test: &RealTest| {
                let (mut first, mut second) = (test[..half].to_vec(), test[half..].to_vec());
                take_mean_out(&mut first);
                take_mean_out(&mut second);
                if first_is_kept { (first, second) } else { (second, first) }
            };
            let (kept, drawn): (Vec<RealTest>, Vec<RealTest>) = real.iter().map(halves).unzip();
            let of = |test: &RealTest| {
                let all = spread(test);
                Kept::of_rounds(all.variance.sqrt(), all.slices.sqrt(), test.len() as u32)
            };
            let kept: Vec<Kept> = kept.iter().map(of).collect();
            let (outcome, in_use) = simulate_kept(&drawn, &kept, rounds, noisier);
            all.cells.iter_mut().zip(outcome.cells).for_each(|(sum, cell)| {
                sum.iter_mut().zip(cell).for_each(|(sum, one)| *sum += one);
            });
            all.half_widths.extend(outcome.half_widths);
            all.plain_half_widths.extend(outcome.plain_half_widths);
            counted += in_use;
        }
        let width = |widths: &[f64]| format!("{:.2}", 100.0 * median(widths).unwrap());
        let share = counted as f64 / all.half_widths.len() as f64;
        let rates = [share, all.rate(1), all.worst(), all.rate(2), all.worst_of(2)].map(document::cell);
        if noisier == 1.0 {
            assert!(all.rate(1) >= 0.94 && all.worst() >= 0.9 && all.worst() > all.worst_of(2), "{rates:?}");
        }
        let of = [rounds.to_string(), format!("{noisier}")];
        rows.push(
            of.into_iter().chain(rates).chain([width(&all.half_widths), width(&all.plain_half_widths)]).collect(),
        );
    }
    let header = ["rounds", "noise beside that kept", "counted", "coverage: all", "the worst test", "without: all"];
    let more = ["the worst test", "half-width, %", "without, %"];
    document::check("kept", &document::table(&[&header[..], &more].concat(), &rows), 0.01);
}
