//! A1: sixty cells, computed independently with SciPy, reproduced to the stated digits.
//!
//! In: `tests/fixtures.csv`. Out: pass or fail. The plain and the moderated estimate,
//! their intervals and p-values must agree to 1e-9, the minimal detectable effect to 1e-6,
//! the verdicts exactly.

use rqps_stats::{Decision, Floor, Margin, Paired, decide};
use std::collections::HashMap;

struct Row<'a>(HashMap<&'a str, &'a str>);

impl Row<'_> {
    fn number(&self, column: &str) -> f64 {
        self.0[column].parse().unwrap()
    }

    fn check(&self, column: &str, got: f64, relative: f64) {
        let expected = self.number(column);
        let close = (got - expected).abs() <= relative * expected.abs();
        assert!(close, "cell {}, {column}: got {got:e}, expected {expected:e}", self.0["cell"]);
    }
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| Row(header.iter().copied().zip(line.split(',')).collect())).collect()
}

fn decision(name: &str) -> Decision {
    match name {
        "EQUAL" => Decision::Equal,
        "REGRESSED" => Decision::Regressed,
        "IMPROVED" => Decision::Improved,
        "UNDECIDED" => Decision::Undecided,
        _ => panic!("unknown verdict {name}"),
    }
}

#[test]
fn all_fixtures_are_reproduced() {
    let rows = rows(include_str!("../fixtures.csv"));
    assert_eq!(rows.len(), 60);
    for row in rows {
        let log_ratios: Vec<f64> = row.0["log_ratios"].split(';').map(|x| x.parse().unwrap()).collect();
        let paired = Paired::new(&log_ratios).unwrap();
        let floor = Floor::with_degrees_of_freedom(row.number("s0"), row.number("d0")).unwrap();
        let (plain, moderated) = (paired.plain().unwrap(), paired.moderated(&floor).unwrap());
        row.check("n", paired.n as f64, 0.0);
        row.check("mean_log", plain.mean, 1e-9);
        row.check("se_plain", plain.standard_error, 1e-9);
        row.check("p_plain", plain.p_value, 1e-9);
        row.check("lo95_plain", plain.low95, 1e-9);
        row.check("hi95_plain", plain.high95, 1e-9);
        row.check("se_mod", moderated.standard_error, 1e-9);
        row.check("df_mod", moderated.degrees_of_freedom, 0.0);
        row.check("p_mod", moderated.p_value, 1e-9);
        row.check("lo95_mod", moderated.low95, 1e-9);
        row.check("hi95_mod", moderated.high95, 1e-9);
        row.check("lo90_mod", moderated.low90, 1e-9);
        row.check("hi90_mod", moderated.high90, 1e-9);
        row.check("mde80_mod", moderated.mde80().log, 1e-6);
        let got = decide(&moderated, Margin::default()).decision;
        assert_eq!(got, decision(row.0["verdict_mod"]), "cell {}", row.0["cell"]);
    }
}
