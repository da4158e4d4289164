//! A results folder with samples that failed for this reason and that.

use super::*;
use crate::testing::plan;
use rqps_model::facts::HostFacts;
use rqps_model::sample::{Accounting, Resources};
use rqps_model::{FORMAT, Interleave};
use rqps_store::{SampleParts, Start, Writer};
use std::collections::BTreeMap;

fn parts(treatment: &str, server_start: &str, failure: Option<&str>) -> SampleParts {
    let sample = Sample {
        format: FORMAT,
        round: 1,
        treatment: treatment.to_owned(),
        suite: "sysbench".to_owned(),
        test: "scan".to_owned(),
        clients: 1,
        started_at: "2026-11-21T08:00:00Z".to_owned(),
        interleave: Interleave::Slices,
        server_start: server_start.to_owned(),
        data_copy: String::new(),
        operations: 0,
        rows: 0,
        busy_ns: 0,
        seconds: 0.0,
        unit_per_operation: 1.0,
        sessions: 0,
        accounting: Accounting::default(),
        errors: Vec::new(),
        resources: Resources::default(),
        counters: BTreeMap::new(),
        step: None,
        growth: None,
        warnings: Vec::new(),
        failure: failure.map(str::to_owned),
    };
    let (intervals, latencies, counters) = (Vec::new(), BTreeMap::new(), Vec::new());
    SampleParts { intervals, latencies, counters, ..SampleParts::of(sample) }
}

/// A campaign of the treatments a and b whose samples of the one test are these.
fn campaign(root: &std::path::Path, samples: &[(&str, &str, Option<&str>)]) -> Writer {
    let start = Start { at: "2026-11-21T08:00:00Z".to_owned(), rqps_version: "0".to_owned(), command_line: Vec::new() };
    let store = Campaign::create(root, "x", &plan(&["a", "b"], 0), &HostFacts::default(), "", start).expect("created");
    for (treatment, server_start, failure) in samples {
        store.publish(&parts(treatment, server_start, *failure)).expect("published");
    }
    store
}

fn check(samples: &[(&str, &str, Option<&str>)], measured: bool) {
    let root = tempfile::tempdir().expect("a folder");
    let store = campaign(root.path(), samples);
    assert_eq!(is_measured(&store), measured, "{samples:?}");
    // In the sitting that made them, failed samples are done.
    let all = samples.len() == 2;
    let none = Failed::default();
    assert_eq!(Cells { plan: store.plan(), store: &store, again: &none }.round_done(1), all, "{samples:?}");
}

#[test]
fn a_failed_trial_is_measured_again_and_a_refused_treatment_is_not() {
    check(&[("a", "1.1", None), ("b", "1.1", None)], true);
    check(&[("a", "1.1", None)], false);
    check(&[("a", "1.1", None), ("b", "1.2", Some("the server of b died"))], false);
    check(&[("a", "1.1+1", None), ("b", "1.10+1", Some("the server of b died"))], false);
    check(&[("a", "1.1", None), ("b", "1.0", Some("b is left out"))], true);
    check(&[("a", "1.1+2", None), ("b", "1.0+2", Some("b is left out"))], true);
    // Both reasons in one round: what failed counts.
    check(&[("a", "1.1", Some("lost")), ("b", "1.0", Some("b is left out"))], false);
}

#[test]
fn starts_before_and_after_a_resume_have_different_names() {
    assert_eq!((server_start(2, 1, 0), server_start(2, 1, 3)), ("2.1".to_owned(), "2.1+3".to_owned()));
}
