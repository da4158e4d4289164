//! A results folder with samples that failed for this reason and that.

use super::*;
use crate::testing::plan;
use rqps_model::Interleave;
use rqps_model::facts::HostFacts;
use rqps_store::{SampleParts, Start, Writer};

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
    assert_eq!(
        Cells { plan: store.plan(), store: &store, again: &none }.round_done(&store.plan().round(1)),
        all,
        "{samples:?}"
    );
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

#[test]
fn passes_follow_the_rounds_order_at_each_number_of_clients() {
    let mut plan = crate::testing::insert_plan(&["a", "b"], &["17.11", "17.11"]);
    let more = Stage { clients: vec![4], ..plan.stages[0].clone() };
    plan.stages.push(more);
    let round = Round { number: 1, order: vec![1, 0], seed: 1 };
    let passes: Vec<String> = Bout::all(&plan, &round)
        .iter()
        .map(|bout| format!("{} {} {}", bout.treatments[0].name, bout.clients, bout.samples().count()))
        .collect();
    assert_eq!(passes, ["b 1 6", "a 1 6", "b 4 6", "a 4 6"]);
}

/// What a resumed round has to do: `+` is recorded, `-` only run for its data.
#[test]
fn tests_that_write_run_again_where_something_is_missing_after_them() {
    let root = tempfile::tempdir().expect("a folder");
    let mut plan = plan(&["a", "b"], 0);
    plan.stages[0].clients = vec![1, 4];
    plan.stages[0].tests = [("read", false), ("write", true), ("scan", false), ("append", true), ("last", false)]
        .map(|(name, writes)| TestPlan { writes, ..crate::testing::test(name, Interleave::Slices, 1.0) })
        .to_vec();
    let start = Start { at: "2026-11-21T08:00:00Z".to_owned(), rqps_version: "0".to_owned(), command_line: Vec::new() };
    let store = Campaign::create(root.path(), "x", &plan, &HostFacts::default(), "", start).expect("created");
    let all: Vec<(String, u32)> =
        plan.tests().iter().flat_map(|test| [1, 4].map(|clients| (test.name.clone(), clients))).collect();
    let none = Failed::default();
    let due = || -> Vec<String> {
        let told = |due: Due<'_>| {
            let mark = if due.is_recorded { '+' } else { '-' };
            format!("{mark}{}.c{}", due.bout.tests[0].name, due.bout.clients)
        };
        let cells = Cells { plan: &plan, store: &store, again: &none };
        cells.due(&plan.round(1)).into_iter().map(told).collect()
    };
    let check = |gone: &[(&str, u32)], expected: &[&str]| {
        for (test, clients) in &all {
            let is_gone = gone.contains(&(test.as_str(), *clients));
            for treatment in ["a", "b"] {
                store.withdraw(1, treatment, test, *clients).expect("withdrawn");
                let mut parts = parts(treatment, "1.1", None);
                (parts.sample.test, parts.sample.clients) = (test.clone(), *clients);
                // One of two samples is not enough.
                if !is_gone || treatment == "a" {
                    store.publish(&parts).expect("published");
                }
            }
        }
        assert_eq!(due(), expected, "{gone:?}");
    };
    check(&[], &[]);
    check(&[("read", 1)], &["+read.c1"]);
    check(&[("write", 4)], &["-write.c1", "+write.c4"]);
    check(&[("read", 4), ("scan", 1)], &["+read.c4", "-write.c1", "-write.c4", "+scan.c1"]);
    check(&[("last", 4)], &["-write.c1", "-write.c4", "-append.c1", "-append.c4", "+last.c4"]);
    check(&[("write", 1), ("append", 1)], &["+write.c1", "-write.c4", "+append.c1"]);
    // A fresh round runs everything once.
    let everything: Vec<(&str, u32)> = all.iter().map(|(test, clients)| (test.as_str(), *clients)).collect();
    let expected: Vec<String> = all.iter().map(|(test, clients)| format!("+{test}.c{clients}")).collect();
    check(&everything, &expected.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A pass is measured again as a whole, and no other treatment's for its sake.
#[test]
fn a_pass_with_a_failed_step_is_not_done_and_the_others_are() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = crate::testing::insert_plan(&["a", "b"], &["17.11", "17.11"]);
    let start = Start { at: "2026-11-21T08:00:00Z".to_owned(), rqps_version: "0".to_owned(), command_line: Vec::new() };
    let store = Campaign::create(root.path(), "x", &plan, &HostFacts::default(), "", start).expect("created");
    for (treatment, test) in
        ["a", "b"].iter().flat_map(|name| plan.stages[0].tests.iter().map(move |test| (name, test)))
    {
        let mut parts = parts(treatment, "1.1", None);
        (parts.sample.suite, parts.sample.test) = (plan.suite.name().to_owned(), test.name.clone());
        parts.sample.failure = (*treatment == "b" && test.name == "qp100").then(|| "lost".to_owned());
        store.publish(&parts).expect("published");
    }
    let again = Failed::found(&store);
    let left = Cells { plan: &plan, store: &store, again: &again }.left();
    let left: Vec<&str> = left.iter().map(|bout| bout.treatments[0].name.as_str()).collect();
    assert_eq!(left, ["b"]);
    assert!(!is_measured(&store));
}
