//! A8: a campaign of 42 tests × 13 versions read at once.
//!
//! In: 546 cells that share a base, none or a fifth of them changed. Out: how many calls
//! are false and how many changes are found, with q-values and, for comparison, without.

use crate::document;
use crate::noise::{Noise, PAIR_SD};
use rqps_stats::{Floor, Paired, q_values};

const TESTS: usize = 42;
const VERSIONS: usize = 13;
const ROUNDS: usize = 6;
const CAMPAIGNS: usize = 300;
const CHANGES: [f64; 6] = [-0.10, -0.05, -0.03, -0.02, 0.02, 0.05];

struct Cell {
    change: f64,
    mean: f64,
    p_value: f64,
}

/// One campaign; within a test all versions are divided by the same runs of the base.
fn campaign(noise: &mut Noise, share_changed: f64) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(TESTS * VERSIONS);
    for _ in 0..TESTS {
        let cv = 0.012 * (0.6 * noise.normal()).exp();
        let floor = Floor::new(PAIR_SD * cv).unwrap();
        let run_sd = noise.cell_cv(cv) * PAIR_SD / 2f64.sqrt();
        let base: Vec<f64> = (0..ROUNDS).map(|_| run_sd * noise.normal()).collect();
        for _ in 0..VERSIONS {
            let change = if noise.uniform() < share_changed { noise.choice(&CHANGES) } else { 0.0 };
            let log_ratios: Vec<f64> =
                base.iter().map(|base| change.ln_1p() + run_sd * noise.normal() - base).collect();
            let estimate = Paired::new(&log_ratios).unwrap().moderated(&floor).unwrap();
            cells.push(Cell { change, mean: estimate.mean, p_value: estimate.p_value });
        }
    }
    cells
}

/// Per campaign and averaged: any false call, false calls, their share of all calls, share found.
#[derive(Default)]
struct Score {
    any_false: f64,
    false_calls: f64,
    false_discovery_rate: f64,
    power: f64,
}

impl Score {
    fn add(&mut self, cells: &[Cell], called: impl Fn(usize) -> bool) {
        let count = |wanted: &dyn Fn(usize, &Cell) -> bool| {
            cells.iter().enumerate().filter(|(i, cell)| wanted(*i, cell)).count() as f64
        };
        let calls = count(&|i, _| called(i));
        let false_calls = count(&|i, cell| called(i) && cell.change == 0.0);
        let changed = count(&|_, cell| cell.change != 0.0);
        let found = count(&|i, cell| called(i) && cell.change * cell.mean > 0.0);
        let campaigns = CAMPAIGNS as f64;
        self.any_false += f64::from(u8::from(false_calls > 0.0)) / campaigns;
        self.false_calls += false_calls / campaigns;
        self.false_discovery_rate += false_calls / calls.max(1.0) / campaigns;
        self.power += found / changed.max(1.0) / campaigns;
    }

    fn row(&self, label: &str, share_changed: f64) -> Vec<String> {
        let power = if share_changed > 0.0 { document::cell(self.power) } else { "-".to_owned() };
        vec![
            label.to_owned(),
            format!("{} %", 100.0 * share_changed),
            document::cell(self.any_false),
            format!("{:.2}", self.false_calls),
            document::cell(self.false_discovery_rate),
            power,
        ]
    }
}

#[test]
fn false_discoveries_stay_below_the_stated_rate() {
    let mut rows = Vec::new();
    for (stream, share_changed) in [(800, 0.0), (801, 0.2)] {
        let mut noise = Noise::new(stream);
        let (mut raw, mut corrected) = (Score::default(), Score::default());
        for _ in 0..CAMPAIGNS {
            let cells = campaign(&mut noise, share_changed);
            let p_values: Vec<f64> = cells.iter().map(|cell| cell.p_value).collect();
            let q_values = q_values(&p_values).unwrap();
            raw.add(&cells, |i| p_values[i] < 0.05);
            corrected.add(&cells, |i| q_values[i] <= 0.05);
        }
        if share_changed == 0.0 {
            assert!(corrected.any_false <= 0.05, "any call without a change: {}", corrected.any_false);
        } else {
            assert!(corrected.false_discovery_rate <= 0.05, "FDR {}", corrected.false_discovery_rate);
            assert!(corrected.power >= 0.80, "power {}", corrected.power);
        }
        rows.push(raw.row("p < 0.05", share_changed));
        rows.push(corrected.row("q ≤ 0.05", share_changed));
    }
    let header = [
        "rule",
        "cells changed",
        "campaigns with a false call",
        "false calls",
        "share of calls false",
        "changes found",
    ];
    document::check("multiplicity", &document::table(&header, &rows), 0.02);
}
