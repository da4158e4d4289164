//! TPROC-C in findings: whole runs compared, a test for each number of warehouses, what transactions did by type, what
//! is broken and may be.

use rqps_analysis::analyse;
use rqps_analysis::findings::Findings;
use rqps_madeup::{Effect, Recipe, scratch_folder};
use rqps_model::tproc_c::Profile;
use rqps_model::{Group, Unit, Verdict};
use rqps_store::Campaign;

fn found(recipe: &Recipe) -> Findings {
    let folder = scratch_folder().unwrap();
    let campaign = Campaign::open(&recipe.write(folder.path()).unwrap()).unwrap();
    analyse(&campaign, None).unwrap()
}

#[test]
fn runs_are_compared_whole_for_each_number_of_warehouses_and_users() {
    let effects = vec![Effect { treatment: 1, test: 1, ratio: 0.9 }];
    let recipe = Recipe { effects, ..Recipe::transactions(Profile::Tpcc, 6, 3) };
    let found = found(&recipe);
    let rows: Vec<(&str, u32)> = found.tests.iter().map(|test| (test.name.as_str(), test.clients)).collect();
    assert_eq!(rows, [("w=2", 1), ("w=2", 4), ("w=4", 1), ("w=4", 4)]);
    for test in &found.tests {
        assert_eq!((test.group, test.unit), (Group::Transaction, Unit::NewOrdersPerMinute));
        let [base, other] = &test.cells[..] else { panic!("two treatments") };
        let (comparison, nopm) = (other.comparison.as_ref().unwrap(), |cell: Option<f64>| cell.unwrap());
        // Of whole runs, so that the ratio is the quotient of the two numbers.
        assert!((comparison.rqps / (nopm(other.throughput) / nopm(base.throughput)) - 1.0).abs() < 1e-9);
        let verdict = if test.name == "w=4" { Verdict::Regressed } else { Verdict::Equal };
        assert_eq!(comparison.verdict, verdict, "{} {comparison:?}", test.name);
        // As many payments as new orders.
        let transactions = other.transactions.as_ref().unwrap();
        assert!((transactions.tpm / nopm(other.throughput) - 2.0).abs() < 0.1, "{transactions:?}");
        assert_eq!((transactions.types.len(), transactions.rounds_checked), (2, 6));
        assert!(transactions.broken.is_empty());
        // A cost is one of a new order, of which a minute has sixty times a second's.
        let cost = other.cost.as_ref().unwrap();
        assert!((cost.ops_per_s * 60.0 / nopm(other.throughput) - 1.0).abs() < 1e-9);
        let series = other.series[0].iter().map(|point| point.1).sum::<f64>() / other.series[0].len() as f64;
        assert!((series / nopm(other.throughput) - 1.0).abs() < 0.1, "NOPM over time: {series}");
    }
}

#[test]
fn what_is_broken_and_may_be_is_told_and_takes_no_verdict() {
    let found = found(&Recipe::transactions(Profile::Hammerdb, 4, 3));
    for cell in found.tests.iter().flat_map(|test| &test.cells) {
        let broken = &cell.transactions.as_ref().unwrap().broken;
        assert_eq!((broken[0].condition.as_str(), broken[0].must_hold, broken.len()), ("C12", false, 1));
        assert_eq!(cell.rounds, 4);
    }
    assert!(found.tests.iter().all(|test| test.cells[1].comparison.is_some()));
}
