//! What a user may choose before an analysis: another base, and a margin, which must make sense.

use crate::truth::{cell, comparison, findings};
use rqps_analysis::{AnalysisError, analyse};
use rqps_madeup::{Effect, Recipe};
use rqps_model::Verdict;
use rqps_store::Campaign;

#[test]
fn another_base_gives_the_reciprocal() {
    let mut recipe = Recipe::new(6, 3, 5, 11);
    recipe.effects = vec![Effect { treatment: 1, test: 2, ratio: 0.9 }];
    let (root, found) = findings(&recipe);
    let campaign = Campaign::open(&root.path().join("made-up")).unwrap();
    let other = recipe.treatment_names()[1].clone();
    for asked in [other.as_str(), "13.23", "pg1323_o2"] {
        let turned = analyse(&campaign, Some(asked)).unwrap();
        assert_eq!(turned.base, 1);
        for test in recipe.test_names() {
            let (there, back) = (comparison(&found, test, 1), comparison(&turned, test, 0));
            assert!((there.rqps * back.rqps - 1.0).abs() < 1e-12, "{test}");
            assert!((there.low.unwrap() * back.high.unwrap() - 1.0).abs() < 0.01, "{test}");
            assert!(cell(&turned, test, 1).comparison.is_none());
        }
        assert_eq!(comparison(&turned, "points-covered-pk", 0).verdict, Verdict::Improved);
    }
}

#[test]
fn an_unknown_base_lists_what_there_is() {
    let (root, _) = findings(&Recipe::new(1, 2, 1, 1));
    let campaign = Campaign::open(&root.path().join("made-up")).unwrap();
    let refused = |base: &str| analyse(&campaign, Some(base)).expect_err("refused").to_string();
    let message = refused("pg1712_o2.x10a_c2r8");
    assert!(message.contains("did you mean `pg1711_o2.x10a_c2r8`?"), "{message}");
    assert!(message.contains("pg1615_o2.x10a_c2r8, pg1711_o2.x10a_c2r8"), "{message}");
    assert!(!refused("mysql").contains("did you mean"));
}

#[test]
fn a_margin_that_makes_no_sense_is_refused() {
    let (root, _) = findings(&Recipe::new(1, 2, 1, 1));
    let plan = root.path().join("made-up/plan.json");
    let text = std::fs::read_to_string(&plan).unwrap();
    let changed = text.replace("\"margin\":0.02", "\"margin\":1.5");
    assert_ne!(changed, text);
    std::fs::write(&plan, changed).unwrap();
    let campaign = Campaign::open(&root.path().join("made-up")).unwrap();
    assert!(matches!(analyse(&campaign, None), Err(AnalysisError::Margin(_))));
}
