//! A4: is "equal" said where it is true, and not where it is false?
//!
//! In: rounds around no change and around a slowdown of exactly the margin. Out: the share
//! of cells that are judged equal at ±2 %.

use crate::document;
use crate::noise::{Noise, REPLICATES, Shape, rate};
use rqps_stats::{Decision, Margin, decide};

const MARGIN: f64 = 0.02;

fn equal(stream: u64, n: usize, cv: f64, change: f64) -> f64 {
    let margin = Margin::new(MARGIN).unwrap();
    let mut noise = Noise::new(stream);
    rate(REPLICATES, || decide(&noise.moderated_cell(n, cv, change, Shape::Normal), margin).decision == Decision::Equal)
}

#[test]
fn equal_is_said_where_it_is_true_and_seldom_where_not() {
    let promised = [(0.01, 6, 0.96), (0.02, 16, 0.90)];
    let most = 0.05 + 3.0 * (0.05 * 0.95 / REPLICATES as f64).sqrt();
    let mut rows = Vec::new();
    for (cv, rounds) in [(0.005, [3, 4, 6]), (0.01, [4, 6, 10]), (0.02, [6, 16, 24]), (0.05, [10, 24, 30])] {
        for n in rounds {
            let stream = 400 + (cv * 1e6) as u64 + n as u64;
            let when_true = equal(stream, n, cv, 0.0);
            let when_false = equal(stream + 1_000_000, n, cv, -MARGIN);
            assert!(when_false <= most, "CV {cv}, {n} rounds: equal at -2 % in {when_false}");
            if let Some((_, _, least)) = promised.iter().find(|(c, m, _)| (*c, *m) == (cv, n)) {
                assert!(when_true >= *least, "CV {cv}, {n} rounds: equal at no change in {when_true}");
            }
            let percent = format!("{} %", 100.0 * cv);
            rows.push(vec![percent, n.to_string(), document::cell(when_true), document::cell(when_false)]);
        }
    }
    let header = ["CV of a run", "rounds", "equal, when nothing changed", "equal, when 2 % were lost"];
    document::check("equal", &document::table(&header, &rows), 0.01);
}
