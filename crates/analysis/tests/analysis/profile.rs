//! Rounds that explain a campaign, made up with known times of functions: what was injected is found, and no more.

use rqps_analysis::analyse;
use rqps_analysis::findings::{Findings, FunctionFindings, NotSampled, ProfileFindings};
use rqps_madeup::{Effect, Recipe, StackTruth, scratch_folder};
use rqps_model::Sampling;
use rqps_store::Campaign;
use std::collections::BTreeMap;

/// Functions of the same time on both builds, and one that is not.
fn truths(burn: [f64; 2]) -> Vec<StackTruth> {
    let even = (1..=30).map(|number| StackTruth {
        stack: format!("main;ServerLoop;executor;function_{number:02}"),
        us: vec![f64::from(number); 2],
    });
    even.chain([StackTruth { stack: "main;ServerLoop;burn".to_owned(), us: burn.to_vec() }]).collect()
}

/// A campaign in which the first test changed, with rounds that explain it.
fn explained(burn: [f64; 2], seed: u64) -> Findings {
    let root = scratch_folder().unwrap();
    let effects = vec![Effect { treatment: 1, test: 0, ratio: 0.9 }];
    let recipe = Recipe { effects, ..Recipe::new(2, 2, 6, seed) };
    let folder = recipe.write(root.path()).unwrap();
    let profile = Recipe { name: "1".to_owned(), stacks: truths(burn), seed: seed + 1000, ..recipe };
    profile.write(&folder.join("profiles")).unwrap();
    analyse(&Campaign::open(&folder).unwrap(), None).unwrap()
}

fn profile(findings: &Findings) -> &ProfileFindings {
    findings.tests[0].cells[1].profile.as_ref().expect("it was sampled")
}

fn function<'a>(profile: &'a ProfileFindings, name: &str) -> &'a FunctionFindings {
    profile.functions.iter().find(|function| function.name == name).expect("it has samples")
}

#[test]
fn what_a_function_gained_is_found_with_its_amount() {
    let (mut first, mut holds) = (0, 0);
    for seed in 0..20 {
        let findings = explained([20.0, 50.0], seed);
        let profile = profile(&findings);
        first += u32::from(profile.moved().next().is_some_and(|function| function.name == "burn"));
        let amount = function(profile, "burn").amount;
        holds += u32::from((amount.low_us..=amount.high_us).contains(&30.0));
        assert_eq!(profile.warnings, [""; 0]);
    }
    assert!(first >= 19, "first in {first} of 20");
    assert!(holds >= 18, "held in {holds} of 20");
}

#[test]
fn builds_that_do_not_differ_differ_in_no_function() {
    let silent = (0..20).filter(|seed| profile(&explained([20.0, 20.0], *seed)).moved().next().is_none());
    let silent = silent.count();
    assert!(silent >= 18, "{silent} of 20");
}

#[test]
fn all_functions_add_up_to_the_whole() {
    let findings = explained([20.0, 50.0], 7);
    let profile = profile(&findings);
    let moved: f64 = profile.moved().map(|function| function.amount.difference_us).sum();
    assert!((moved + profile.rest.difference_us - profile.total.difference_us).abs() < 1e-6);
    let outermost: f64 = profile.graph.iter().filter(|frame| frame.depth == 0).map(|frame| frame.amount.us).sum();
    assert!((outermost - profile.total.us).abs() < 1e-6);
    assert!(profile.mde_us.is_some_and(|mde| mde > 0.0 && mde < profile.total.us));
    // The base has nothing to be compared with, and rounds that explain are no rounds of the campaign.
    assert!(findings.tests[0].cells[0].profile.is_none());
    assert_eq!(findings.campaign.rounds_complete, 6);
}

/// What a kernel refused, and why.
type Refusals<'a> = &'a [(&'a str, &'a str)];

/// Each of the folders with rounds that explain a campaign has these stacks, or none, and was refused this.
fn refused(folders: &[(Vec<StackTruth>, Refusals<'_>)]) -> Vec<NotSampled> {
    let root = scratch_folder().unwrap();
    let recipe = Recipe::new(2, 2, 3, 11);
    let folder = recipe.write(root.path()).unwrap();
    for (number, (stacks, refused)) in (1..).zip(folders) {
        let not_sampled: BTreeMap<String, String> =
            refused.iter().map(|(what, why)| ((*what).to_owned(), (*why).to_owned())).collect();
        let profile = Recipe { name: number.to_string(), stacks: stacks.clone(), not_sampled, ..recipe.clone() };
        profile.write(&folder.join("profiles")).unwrap();
    }
    let findings = analyse(&Campaign::open(&folder).unwrap(), None).unwrap();
    assert_eq!(findings.tests[0].cells[0].not_sampled, [], "the base has nothing to be compared with");
    findings.tests[0].cells[1].not_sampled.clone()
}

#[test]
fn what_was_refused_is_kept_with_its_last_reason_until_it_is_sampled() {
    let first: Refusals<'_> =
        &[("functions", "no right"), ("system calls", "no right"), ("of a newer rqps", "no idea")];
    let second: Refusals<'_> = &[("system calls", "not mounted")];
    let of = |what, why: &str| NotSampled { what, why: why.to_owned() };
    let expected = [of(Sampling::Functions, "no right"), of(Sampling::SystemCalls, "no right")];
    assert_eq!(refused(&[(Vec::new(), first)]), expected);
    // The rights to the first came later, to the other never.
    let found = refused(&[(Vec::new(), first), (truths([20.0, 20.0]), second)]);
    assert_eq!(found, [of(Sampling::SystemCalls, "not mounted")]);
    assert_eq!(refused(&[(truths([20.0, 20.0]), &[])]), []);
}
