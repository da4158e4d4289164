//! A results folder with samples that failed for this reason and that.

use super::*;
use crate::testing::{plan, start};
use rqps_model::Interleave;
use rqps_model::facts::HostFacts;
use rqps_model::plan::{Allotment, Renew};
use rqps_store::{SampleParts, Writer};

fn parts(treatment: &str, server_start: &str, failure: Option<&str>) -> SampleParts {
    let sample = Sample {
        round: 1,
        treatment: treatment.to_owned(),
        suite: "sysbench".to_owned(),
        test: "scan".to_owned(),
        clients: 1,
        started_at: "2026-11-21T08:00:00Z".to_owned(),
        interleave: Some(Interleave::Slices),
        server_start: server_start.to_owned(),
        failure: failure.map(str::to_owned),
        ..Sample::default()
    };
    SampleParts::of(sample)
}

/// A campaign of the treatments a and b whose samples of the one test are these.
fn campaign(root: &std::path::Path, samples: &[(&str, &str, Option<&str>)]) -> Writer {
    let store =
        Campaign::create(root, "x", &plan(&["a", "b"], 0), &HostFacts::default(), "", start()).expect("created");
    for (treatment, server_start, failure) in samples {
        store.publish(&parts(treatment, server_start, *failure)).expect("published");
    }
    store
}

fn check(samples: &[(&str, &str, Option<&str>)], measured: bool) {
    let root = tempfile::tempdir().expect("a folder");
    let store = campaign(root.path(), samples);
    assert_eq!(is_measured(&store, store.rounds()), measured, "{samples:?}");
    // In the run that made them, failed samples are done.
    let missing = Missing { plan: store.plan(), store: &store, again: &Failed::default() };
    assert_eq!(missing.setups(&store.plan().round(1)).is_empty(), samples.len() == 2, "{samples:?}");
}

#[test]
fn a_failed_trial_is_measured_again_and_an_excluded_treatment_is_not() {
    check(&[("a", "1.1", None), ("b", "1.1", None)], true);
    check(&[("a", "1.1", None)], false);
    check(&[("a", "1.1", None), ("b", "1.2", Some("the server of b died"))], false);
    check(&[("a", "1.1+1", None), ("b", "1.10+1", Some("the server of b died"))], false);
    check(&[("a", "1.1", None), ("b", "1.0", Some("b is excluded"))], true);
    check(&[("a", "1.1+2", None), ("b", "1.0+2", Some("b is excluded"))], true);
    // Both reasons in one round: what failed counts.
    check(&[("a", "1.1", Some("lost")), ("b", "1.0", Some("b is excluded"))], false);
}

#[test]
fn a_write_that_is_left_out_runs_only_for_what_shares_its_data() {
    let root = tempfile::tempdir().expect("a folder");
    let store = campaign(root.path(), &[]);
    let mut plan = store.plan().clone();
    let write = TestPlan { name: "write".to_owned(), writes: true, ..plan.stages[0].tests[0].clone() };
    plan.stages[0].tests.insert(0, write);
    let seconds = [("scan".to_owned(), 1.0)].into_iter().collect();
    let allotment = Some(Allotment { spent: 0.5, seconds, given_up: Vec::new() });
    let round = Round { allotment, ..plan.round(3) };
    let mut runs = |renew: Renew| -> Vec<Vec<String>> {
        plan.stages[0].renew = renew;
        let missing = Missing { plan: &plan, store: &store, again: &Failed::default() };
        let names = |setup: &Setup<'_>| setup.visits.iter().map(|visit| visit.test.name.clone()).collect();
        missing.setups(&round).iter().map(names).collect()
    };
    assert_eq!(runs(Renew::PerStage), [["write", "scan"]]);
    assert_eq!(runs(Renew::PerTest), [["scan"]]);
}

#[test]
fn starts_before_and_after_a_resume_have_different_names() {
    assert_eq!((server_start(2, 1, 0), server_start(2, 1, 3)), ("2.1".to_owned(), "2.1+3".to_owned()));
}

/// A pass is measured again as a whole, and no other treatment's for its sake.
#[test]
fn a_pass_with_a_failed_step_is_not_done_and_the_others_are() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = crate::testing::insert_plan(&["a", "b"], &["17.11", "17.11"]);
    let store = Campaign::create(root.path(), "x", &plan, &HostFacts::default(), "", start()).expect("created");
    for (treatment, test) in
        ["a", "b"].iter().flat_map(|name| plan.stages[0].tests.iter().map(move |test| (name, test)))
    {
        let mut parts = parts(treatment, "1.1", None);
        (parts.sample.suite, parts.sample.test) = (plan.suite.name().to_owned(), test.name.clone());
        parts.sample.failure = (*treatment == "b" && test.name == "qp100").then(|| "lost".to_owned());
        store.publish(&parts).expect("published");
    }
    let again = Failed::found(&store);
    let left = Missing { plan: &plan, store: &store, again: &again }.setups(&plan.round(1));
    assert_eq!(left.iter().map(|setup| setup.order.clone()).collect::<Vec<_>>(), [[1]]);
    assert!(!is_measured(&store, store.rounds()));
}
