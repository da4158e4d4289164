//! Rounds that explain a campaign, made up with known waits: what was injected is found, idle time is no cause, and
//! nothing is found where nothing differs.

use rqps_analysis::analyse;
use rqps_analysis::findings::{EventFindings, Findings, WaitFindings};
use rqps_madeup::{Effect, Recipe, WaitTruth, scratch_folder};
use rqps_model::waits::Doing;
use rqps_store::Campaign;

/// Sessions that run, wait for the log as long as said, and a little for something else. An operation of the first
/// test takes some 220 µs.
fn truths(log: [f64; 2]) -> Vec<WaitTruth> {
    let truth = |what: &str, doing, us: [f64; 2]| WaitTruth { what: what.to_owned(), doing, us: us.to_vec() };
    vec![
        truth("", Doing::Working, [60.0; 2]),
        truth("IO/WALSync", Doing::Waiting, log),
        truth("LWLock/WALWrite", Doing::Waiting, [10.0; 2]),
        truth("State/updating", Doing::Working, [20.0; 2]),
    ]
}

/// A campaign in which the first test changed, with rounds that explain it.
fn explained(log: [f64; 2], seed: u64) -> Findings {
    let root = scratch_folder().unwrap();
    let effects = vec![Effect { treatment: 1, test: 0, ratio: 0.9 }];
    let recipe = Recipe { effects, ..Recipe::new(2, 2, 6, seed) };
    let folder = recipe.write(root.path()).unwrap();
    let profile = Recipe { name: "1".to_owned(), waits: truths(log), seed: seed + 1000, ..recipe };
    profile.write(&folder.join("profiles")).unwrap();
    analyse(&Campaign::open(&folder).unwrap(), None).unwrap()
}

fn waits(findings: &Findings) -> &WaitFindings {
    findings.tests[0].cells[1].waits.as_ref().expect("it was asked")
}

fn event<'a>(waits: &'a WaitFindings, name: &str) -> &'a EventFindings {
    waits.events.iter().find(|event| event.name == name).expect("it was found")
}

#[test]
fn what_sessions_wait_longer_for_is_found_with_its_amount() {
    let (mut first, mut holds) = (0, 0);
    for seed in 0..20 {
        let findings = explained([20.0, 50.0], seed);
        let waits = waits(&findings);
        first += u32::from(waits.largest(true).is_some_and(|event| event.name == "IO/WALSync"));
        let amount = event(waits, "IO/WALSync").amount;
        holds += u32::from((amount.low_us..=amount.high_us).contains(&30.0));
        assert_eq!(waits.warnings, [""; 0]);
    }
    assert!(first >= 19, "first in {first} of 20");
    assert!(holds >= 18, "held in {holds} of 20");
}

#[test]
fn builds_that_do_not_differ_differ_in_no_wait() {
    let silent = (0..20).filter(|seed| waits(&explained([20.0, 20.0], *seed)).moved().next().is_none());
    let silent = silent.count();
    assert!(silent >= 18, "{silent} of 20");
}

#[test]
fn all_that_sessions_do_adds_up_and_background_processes_are_left_out() {
    let findings = explained([20.0, 50.0], 7);
    let waits = waits(&findings);
    let events: f64 = waits.events.iter().map(|event| event.amount.us).sum();
    assert!((events + waits.running.us + waits.idle.us - waits.total.us).abs() < 1e-6, "{waits:#?}");
    assert!(waits.events.iter().all(|event| !event.name.contains("walwriter")));
    let is_wait = |name| event(waits, name).is_wait;
    assert!(is_wait("IO/WALSync") && !is_wait("State/updating"));
    // In a closed loop a session's time is clients / throughput.
    let throughput = findings.tests[0].cells[1].throughput.expect("a number");
    assert!((waits.total.us * throughput / 1e6 - 1.0).abs() < 0.1, "{waits:#?} {throughput}");
    assert!(findings.tests[0].cells[0].waits.is_none(), "the base has nothing to be compared with");
    assert!(findings.tests[0].cells[1].profile.is_none(), "no stacks were sampled");
}
