//! A3: how often is a change seen where there is one?
//!
//! In: rounds around a known slowdown. Out: the share of moderated 95 % intervals that lie
//! below zero, and the power at the minimal detectable effect, which must be what it says.

use crate::document;
use crate::noise::{Noise, PAIR_SD, REPLICATES, Shape, rate};
use rqps_stats::{Paired, mde80};

#[test]
fn slowdowns_are_seen_as_often_as_promised() {
    let mut rows = Vec::new();
    for (stream, (cv, n, change, least)) in [
        (0.01, 4, -0.02, 0.88),
        (0.02, 6, -0.03, 0.86),
        (0.02, 10, -0.02, 0.78),
        (0.05, 10, -0.05, 0.78),
        (0.05, 24, -0.03, 0.75),
    ]
    .into_iter()
    .enumerate()
    {
        let mut noise = Noise::new(300 + stream as u64);
        let seen = rate(REPLICATES, || noise.moderated_cell(n, cv, change, Shape::Normal).high95 < 0.0);
        assert!(seen >= least, "CV {cv}, {n} rounds, change {change}: {seen}");
        let percent = |fraction: f64| format!("{} %", 100.0 * fraction);
        rows.push(vec![percent(cv), n.to_string(), percent(change), document::cell(seen), least.to_string()]);
    }
    let header = ["CV of a run", "rounds", "true change", "seen", "at least"];
    document::check("power", &document::table(&header, &rows), 0.01);
}

#[test]
fn the_minimal_detectable_effect_is_found_four_times_in_five() {
    let mut noise = Noise::new(350);
    for n in [3, 6, 12] {
        let standard_error = PAIR_SD * 0.02 / (n as f64).sqrt();
        let effect = mde80(standard_error, (n - 1) as f64).log;
        let seen = rate(REPLICATES, || {
            let rounds = noise.rounds(n, 0.02, effect, Shape::Normal);
            Paired::new(&rounds).unwrap().plain().unwrap().low95 > 0.0
        });
        assert!((seen - 0.8).abs() < 0.009, "{n} rounds: {seen}");
    }
}

/// No simulation: the table of what can be seen, as people will look it up.
#[test]
fn the_table_of_detectable_changes_is_as_computed() {
    const FLOOR_DEGREES_OF_FREEDOM: f64 = 4.0;
    let row = |cv: f64| {
        let mut row = vec![format!("{} %", 100.0 * cv)];
        for n in [4, 6, 10, 24, 100] {
            let own = f64::from(n - 1);
            let effect = |prior: f64| 100.0 * mde80(PAIR_SD * cv / f64::from(n).sqrt(), own + prior).log;
            row.push(format!("{:.2} ({:.2})", effect(FLOOR_DEGREES_OF_FREEDOM), effect(0.0)));
        }
        row
    };
    let rows: Vec<Vec<String>> = [0.005, 0.01, 0.02, 0.05].map(row).into();
    let header = ["CV of a run", "4 rounds", "6", "10", "24", "100"];
    document::check("mde", &document::table(&header, &rows), 0.0);
}
