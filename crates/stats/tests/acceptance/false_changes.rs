//! A2: how often is a change seen where there is none?
//!
//! In: rounds without a change, in four shapes of noise. Out: the share of 95 % intervals
//! that leave zero out, for the plain and the moderated t, and for floors that are wrong.

use crate::document;
use crate::noise::{Noise, REPLICATES, SHAPES, Shape, excludes_zero, rate};
use rqps_stats::{DEFAULT_FLOOR_DEGREES_OF_FREEDOM, Floor, Paired, quantile};

const CV: f64 = 0.02;
const ROUNDS: [usize; 4] = [4, 6, 10, 24];

#[test]
fn a_a_rounds_show_a_change_at_most_as_often_as_stated() {
    let mut rows = Vec::new();
    for (stream, shape) in SHAPES.into_iter().enumerate() {
        let mut plain_row = vec!["plain t".to_owned(), format!("{shape:?}")];
        let mut moderated_row = vec!["moderated t".to_owned(), format!("{shape:?}")];
        for n in ROUNDS {
            let mut noise = Noise::new(200 + (100 * n + stream) as u64);
            let (mut plain, mut moderated) = (0, 0);
            for _ in 0..REPLICATES {
                let floor = noise.floor(CV, 1.0);
                let cell_cv = noise.cell_cv(CV);
                let paired = Paired::new(&noise.rounds(n, cell_cv, 0.0, shape)).unwrap();
                plain += usize::from(excludes_zero(&paired.plain().unwrap()));
                moderated += usize::from(excludes_zero(&paired.moderated(&floor).unwrap()));
            }
            let (plain, moderated) = (plain as f64 / REPLICATES as f64, moderated as f64 / REPLICATES as f64);
            assert!((0.040..=0.056).contains(&plain), "plain t, {shape:?}, {n} rounds: {plain}");
            assert!(moderated <= 0.05, "moderated t, {shape:?}, {n} rounds: {moderated}");
            plain_row.push(document::cell(plain));
            moderated_row.push(document::cell(moderated));
        }
        rows.extend([plain_row, moderated_row]);
    }
    let header = ["method", "noise of a restart", "4 rounds", "6", "10", "24"];
    document::check("false-changes", &document::table(&header, &rows), 0.002);
}

/// What a wrong floor costs, at four rounds, where it weighs most, and why it weighs no more than 4.
#[test]
fn a_floor_too_low_is_punished_but_not_ruinous() {
    const N: usize = 4;
    let mut rows = Vec::new();
    for (stream, bias, most) in [(1, 0.7, 0.085), (2, 1.0, 0.05), (3, 1.4, 0.02)] {
        let false_changes = |weight: f64| {
            let mut noise = Noise::new(stream);
            rate(REPLICATES, || {
                let floor = Floor::with_degrees_of_freedom(noise.floor(CV, bias).sd(), weight).unwrap();
                let cell_cv = noise.cell_cv(CV);
                let paired = Paired::new(&noise.rounds(N, cell_cv, 0.0, Shape::Normal)).unwrap();
                excludes_zero(&paired.moderated(&floor).unwrap())
            })
        };
        let (ours, heavy) = (false_changes(DEFAULT_FLOOR_DEGREES_OF_FREEDOM), false_changes(10.0));
        assert!(ours <= most, "floor times {bias}: {ours}");
        rows.push(vec![format!("{bias} of the true one"), document::cell(ours), document::cell(heavy)]);
    }
    let header = ["floor is", "false changes, weight 4 (ours)", "weight 10"];
    document::check("wrong-floor", &document::table(&header, &rows), 0.003);
}

/// Whether zero is outside of the percentile bootstrap's 95 % interval of the mean.
fn bootstrap_excludes_zero(rounds: &[f64], noise: &mut Noise) -> bool {
    const RESAMPLES: usize = 999;
    let means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..rounds.len()).map(|_| noise.choice(rounds)).sum::<f64>() / rounds.len() as f64)
        .collect();
    quantile(&means, 0.025).unwrap() > 0.0 || quantile(&means, 0.975).unwrap() < 0.0
}

/// The ways of deciding that we do not offer, at CV 2 %: each is wrong far more often than 5 %.
#[test]
fn popular_shortcuts_see_changes_where_none_are() {
    const REPLICATES: usize = 2_000;
    const SECONDS: usize = 600;
    let between_runs = CV * 0.9f64.sqrt();
    let mut noise = Noise::new(260);
    let by_eye = rate(REPLICATES, || {
        let log_ratio = CV * 2f64.sqrt() * noise.normal();
        log_ratio.exp_m1().abs() >= 0.02
    });
    let by_seconds = rate(REPLICATES, || {
        let mut differences = noise.series(SECONDS, 0.5);
        let base = noise.series(SECONDS, 0.5);
        let offset = between_runs * 2f64.sqrt() * noise.normal();
        for (difference, base) in differences.iter_mut().zip(&base) {
            *difference += offset - base;
        }
        excludes_zero(&Paired::new(&differences).unwrap().plain().unwrap())
    });
    let mut by_bootstrap = |n: usize| {
        rate(REPLICATES, || {
            let rounds = noise.rounds(n, CV, 0.0, Shape::Normal);
            bootstrap_excludes_zero(&rounds, &mut noise)
        })
    };
    let shortcuts = [
        ("one run each, a change if 2 % apart", by_eye),
        ("one run each of 600 s, t test over its seconds", by_seconds),
        ("percentile bootstrap of 4 rounds", by_bootstrap(4)),
        ("percentile bootstrap of 10 rounds", by_bootstrap(10)),
    ];
    let mut rows = Vec::new();
    for (label, false_changes) in shortcuts {
        assert!(false_changes > 0.07, "{label} would be fine after all: {false_changes}");
        rows.push(vec![label.to_owned(), document::cell(false_changes)]);
    }
    document::check("shortcuts", &document::table(&["way of deciding", "false changes"], &rows), 0.01);
}
