//! What the inside of one round tells: two single runs, and the trimmed mean of a round's cycles.
//!
//! In: per-second series with memory; cycles with and without spoilt ones. Out: how often 95 % intervals hold the
//! truth.

use crate::document;
use crate::noise::{Noise, rate};
use rqps_stats::distribution::student_t_quantile;
use rqps_stats::{DEFAULT_TRIM, trimmed_mean, two_runs};

const REPLICATES: usize = 3_000;

/// The truth of the first three columns is the ratio of the two runs' own long-term rates; that of the last is the
/// ratio of the treatments, when each start is off by a normal value of 1 %.
#[test]
fn two_runs_hold_their_own_ratio_and_not_that_of_the_treatments() {
    const START_SD: f64 = 0.01;
    let mut rows = Vec::new();
    for (stream, phi) in [(1300, 0.0), (1301, 0.5), (1302, 0.8)] {
        let covered = |seconds: usize, start_sd: f64| {
            let mut noise = Noise::new(stream);
            rate(REPLICATES, || {
                let offset = start_sd * 2f64.sqrt() * noise.normal();
                let found = two_runs(&noise.series(seconds, phi), &noise.series(seconds * 2, phi)).unwrap();
                (found.log_ratio + offset).abs() < found.half95
            })
        };
        let (short, middle, long) = (covered(20, 0.0), covered(60, 0.0), covered(1800, 0.0));
        let (restarted, restarted_long) = (covered(60, START_SD), covered(1800, START_SD));
        if phi == 0.0 {
            assert!([short, middle, long].iter().all(|share| (0.90..0.98).contains(share)), "{short} {middle} {long}");
        }
        assert!(long > 0.90, "autocorrelation {phi}: {long}");
        assert!(restarted_long < 0.7, "autocorrelation {phi}: {restarted_long}");
        let cells = [short, middle, long, restarted, restarted_long].map(document::cell);
        rows.push([vec![phi.to_string()], cells.to_vec()].concat());
    }
    let header = ["autocorrelation", "20 s", "60 s", "1800 s", "60 s, starts off by 1 %", "1800 s, starts off by 1 %"];
    document::check("two-runs", &document::table(&header, &rows), 0.01);
}

/// Cycles of one round: their spread of 5 % is that of slices of 20 ms on a shared machine.
#[test]
fn trimmed_means_hold_the_truth_while_cycles_are_independent() {
    const CYCLES: usize = 500;
    let mut rows = Vec::new();
    for (stream, label, phi, spoilt, least) in [
        (1280, "independent", 0.0, 0.0, 0.94),
        (1281, "independent, 5 % of them spoilt to ±50 %", 0.0, 0.05, 0.94),
        (1282, "autocorrelation 0.3", 0.3, 0.0, 0.0),
        (1283, "autocorrelation 0.5", 0.5, 0.0, 0.0),
    ] {
        let mut noise = Noise::new(stream);
        let (mut trimmed_covers, mut squares, mut plain_squares) = (0, 0.0, 0.0);
        for _ in 0..REPLICATES {
            let mut cycles: Vec<f64> = noise.series(CYCLES, phi).iter().map(|rate| rate - 1.0).collect();
            for cycle in &mut cycles {
                if noise.uniform() < spoilt {
                    *cycle = if noise.uniform() < 0.5 { -0.5 } else { 0.5 };
                }
            }
            let trimmed = trimmed_mean(&cycles, DEFAULT_TRIM).unwrap();
            let half = student_t_quantile(0.975, trimmed.degrees_of_freedom()) * trimmed.standard_error.unwrap();
            trimmed_covers += usize::from(trimmed.mean.abs() < half);
            squares += trimmed.mean.powi(2);
            plain_squares += trimmed_mean(&cycles, 0.0).unwrap().mean.powi(2);
        }
        let covered = trimmed_covers as f64 / REPLICATES as f64;
        assert!(covered >= least, "{label}: {covered}");
        let root = |squares: f64| 100.0 * (squares / REPLICATES as f64).sqrt();
        rows.push(vec![
            label.to_owned(),
            document::cell(covered),
            document::cell(root(squares)),
            document::cell(root(plain_squares)),
        ]);
    }
    let header = [
        "500 cycles, spread 5 %",
        "95 % intervals that contain it",
        "error of the trimmed mean, %",
        "of the plain mean, %",
    ];
    document::check("trimmed-mean", &document::table(&header, &rows), 0.01);
}
