//! Planted changes of known size, from folder to findings.

use crate::truth::{cell, findings};
use rqps_analysis::analyse;
use rqps_analysis::findings::PlantedCell;
use rqps_madeup::Recipe;
use rqps_model::WarningKind;
use rqps_store::Campaign;

#[test]
fn planted_changes_are_found_and_change_no_verdict_of_others() {
    let versions = |versions: &[&str]| versions.iter().map(|version| (*version).to_owned()).collect::<Vec<_>>();
    let quiet = Recipe { slice_noise: 0.02, ..Recipe::new(20, 3, 6, 41) };
    let recipe = Recipe { planted: Some(0.02), versions: versions(&["17.11", "17.11", "17.11"]), ..quiet };
    let (root, found) = findings(&recipe);
    let [planted] = &found.planted[..] else { panic!("{:?}", found.planted) };
    assert_eq!((planted.treatment, planted.intervals, planted.unplanted_intervals), (2, 20, 20));
    // What burning costs besides, nothing here, is estimated as well.
    assert!((planted.ratio - 0.98).abs() < 1.5e-3 && planted.least > 0.976 && planted.most < 0.984, "{planted:?}");
    assert!(planted.found >= 18 && planted.held >= 16 && planted.unplanted_found <= 4, "{planted:?}");
    let told = &found.treatments[2].sentence;
    assert!(told.contains("(with a planted change)"), "{told}");
    assert!(found.treatments[1].sentence.contains("(the same build)"));
    assert!(found.warnings.iter().all(|warning| warning.kind != WarningKind::FloorViolated), "{:?}", found.warnings);
    let control = cell(&found, "hot-points", 2);
    let truth = control.planted.as_ref().unwrap();
    assert!(truth.by_round.len() == 6 && truth.by_round.iter().all(|(_, ratio)| (ratio - 0.98).abs() < 4e-3));
    assert!(cell(&found, "hot-points", 1).planted.is_none() && cell(&found, "hot-points", 0).planted.is_none());

    // Against the twin the same is true; of the base against the control nothing is said.
    let campaign = Campaign::open(&root.path().join("made-up")).unwrap();
    let names = recipe.treatment_names();
    assert_eq!(analyse(&campaign, Some(&names[1])).unwrap().planted.len(), 1);
    let turned = analyse(&campaign, Some(&names[2])).unwrap();
    assert!(turned.planted.is_empty() && turned.tests[0].cells[0].comparison.is_some());
}

#[test]
fn what_burning_costs_besides_is_part_of_the_truth() {
    let versions = vec!["17.11".to_owned(); 2];
    let quiet = Recipe { slice_noise: 0.02, start_noise: 0.002, ..Recipe::new(20, 2, 6, 43) };
    let (_, found) = findings(&Recipe { planted: Some(0.02), side_cost: 0.5, versions, ..quiet });
    let [planted] = &found.planted[..] else { panic!("{:?}", found.planted) };
    assert!((planted.side_cost - 0.5).abs() < 0.12, "{planted:?}");
    // 2 % are 0.0204 of what a statement takes without them.
    assert!((planted.ratio - 1.0 / (1.0 + 1.5 * 0.0204)).abs() < 2.5e-3, "{planted:?}");
    assert!(planted.intervals == 20 && planted.held >= 16, "{planted:?}");
    let truth = cell(&found, "hot-points", 1).planted.as_ref().unwrap();
    let seen = truth.side_cost_seen.expect("short and long burns");
    assert!((0.05..0.3).contains(&seen.standard_error), "{seen:?}");
    // Each is helped by the others, so that they differ less than what they saw by themselves.
    let spread = |value: &dyn Fn(&PlantedCell) -> f64| {
        let cells = found.tests.iter().map(|test| value(test.cells[1].planted.as_ref().unwrap()));
        let (least, most) = cells.fold((f64::MAX, f64::MIN), |(least, most), one| (one.min(least), one.max(most)));
        most - least
    };
    let (used, seen) = (spread(&|one| one.side_cost), spread(&|one| one.side_cost_seen.expect("as above").share));
    assert!(used < 0.5 * seen, "{used} of {seen}");
}
