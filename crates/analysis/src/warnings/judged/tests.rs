//! Warnings from comparisons, each from one that calls for it and from some that do not.

use super::*;

const KIND: Kind = Kind { group: rqps_model::Group::Point, interleave: Some(rqps_model::Interleave::Slices) };

#[test]
fn comparisons_that_are_skewed_or_noisy_are_told() {
    let mut comparison = Comparison {
        low: Some(0.96),
        high: Some(0.98),
        median: 0.972,
        verdict: Verdict::Regressed,
        mde: Some(0.012),
        ..Comparison::undecided(0.97, 5)
    };
    assert!(judged(&comparison, KIND, 0.02).is_empty());
    comparison.median = 0.985;
    assert_eq!(judged(&comparison, KIND, 0.02)[0].kind, WarningKind::Skewed);
    comparison.median = 0.97;
    comparison.mde = Some(0.045);
    comparison.rounds_needed = Some(14);
    assert!(judged(&comparison, KIND, 0.02).is_empty(), "what was shown needs no more power");
    comparison.verdict = Verdict::Undecided;
    (comparison.q, comparison.remark) = (Some(0.08), Some("q = 0.08".to_owned()));
    let found = judged(&comparison, KIND, 0.02);
    let words = "the interval does not contain 1, but of so many comparisons some do so by chance: q = 0.08";
    assert_eq!((found.len(), found[0].kind, found[0].cause.as_str()), (1, WarningKind::Chance, words));
    comparison.high = Some(1.01);
    let found = judged(&comparison, KIND, 0.02);
    assert_eq!((found[0].kind, found[0].advice.as_deref()), (WarningKind::Noisy, Some("about 14 rounds would do")));
    assert_eq!(found[0].cause, "changes below 4.5 % could not be seen");
    comparison.mde = Some(1.65);
    assert_eq!(judged(&comparison, KIND, 0.02)[0].cause, "not even a halving could be seen");
}
