//! Each rule on a cell made for it, and silence where nothing moved.

use super::*;
use crate::findings::{MeasureComparison, PlanFindings};
use rqps_model::{Group, Unit};

/// A measure that moved by `ratio`, give or take a percent.
fn measure(name: &str, ratio: f64) -> MeasureComparison {
    MeasureComparison {
        low: Some(ratio * 0.99),
        high: Some(ratio * 1.01),
        q: Some(if (ratio - 1.0).abs() < 0.01 { 0.6 } else { 0.001 }),
        ..MeasureComparison::undecided(name, ratio, 5)
    }
}

/// A test with one client and 100 µs an operation of the base, on two builds, the second of which has rQPS as given.
/// An operation costs the server 60 µs of CPU, half of it in the kernel, and the client 20 µs.
fn test(rqps: f64, own: Cost, measures: Vec<MeasureComparison>) -> TestFindings {
    let comparison = Comparison {
        low: Some(rqps - 0.01),
        high: Some(rqps + 0.01),
        verdict: if rqps < 1.0 { Verdict::Regressed } else { Verdict::Improved },
        beyond_margin: true,
        ..Comparison::undecided(rqps, 5)
    };
    let base = CellFindings { cost: Some(cost()), ..CellFindings::default() };
    let cell = CellFindings { cost: Some(own), comparison: Some(comparison), measures, ..CellFindings::default() };
    TestFindings {
        name: "point-query".to_owned(),
        label: "point-query".to_owned(),
        group: Group::Point,
        unit: Unit::QueriesPerSecond,
        clients: 1,
        interleave: None,
        statements: Vec::new(),
        cells: vec![base, cell],
    }
}

fn cost() -> Cost {
    Cost {
        ops_per_s: 10_000.0,
        server_cpu_us: 60.0,
        client_cpu_us: 20.0,
        server_user_share: 0.5,
        cs_per_op: 2.0,
        server_write_bytes_per_op: 100.0,
        ..Cost::default()
    }
}

#[test]
fn cpu_of_the_server_tells_its_share_and_where_it_was_spent() {
    // 25 µs more an operation, 24 of them CPU in the kernel.
    let own = Cost { server_cpu_us: 84.0, server_user_share: 30.0 / 84.0, ..cost() };
    let found = causes(&test(0.8, own, vec![measure("server_cpu_us", 1.4)]), 1, 0, true);
    let [Cause::ServerCpu { moved, share: Some(share), kernel: Some(kernel) }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!((moved.to - 84.0).abs() < 1e-9 && (share - 0.96).abs() < 1e-9 && (kernel - 1.0).abs() < 1e-9);
}

#[test]
fn waiting_is_what_no_cpu_accounts_for() {
    let measures = vec![measure("server_cpu_us", 1.05), measure("client_cpu_us", 1.0), measure("cs_per_op", 1.5)];
    let found = causes(&test(0.5, Cost { cs_per_op: 3.0, server_cpu_us: 63.0, ..cost() }, measures), 1, 0, true);
    let [Cause::Waiting { share }, Cause::ServerCpu { .. }, Cause::Work { measure, moved }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!((share - 0.97).abs() < 1e-9);
    assert_eq!((measure.as_str(), moved.to), ("cs_per_op", 3.0));
}

#[test]
fn a_slower_client_is_named() {
    let own = Cost { client_cpu_us: 40.0, ..cost() };
    let found = causes(&test(0.8, own, vec![measure("client_cpu_us", 2.0)]), 1, 0, true);
    let [Cause::ClientCpu { share: Some(share), .. }] = &found[..] else { panic!("{found:?}") };
    assert!((share - 0.8).abs() < 1e-9);
    // Of what hardly matters nothing is said.
    let own = Cost { client_cpu_us: 21.0, server_cpu_us: 84.0, ..cost() };
    let measures = vec![measure("client_cpu_us", 1.05), measure("server_cpu_us", 1.4)];
    let found = causes(&test(0.8, own, measures), 1, 0, true);
    assert!(matches!(found[..], [Cause::ServerCpu { .. }]), "{found:?}");
}

#[test]
fn a_changed_plan_comes_first() {
    let own = Cost { server_cpu_us: 84.0, ..cost() };
    let mut test = test(0.8, own, vec![measure("server_cpu_us", 1.4)]);
    let plan =
        |statement: &str, differs| PlanFindings { statement: statement.to_owned(), plan: String::new(), differs };
    test.cells[1].plans = vec![plan("select", true), plan("update", false)];
    let found = causes(&test, 1, 0, true);
    assert_eq!(found[0], Cause::Plan { statements: vec!["select".to_owned()] });
}

#[test]
fn what_chance_may_explain_explains_nothing() {
    let measures = vec![measure("server_cpu_us", 1.005), measure("client_cpu_us", 1.0), measure("cs_per_op", 0.995)];
    assert_eq!(causes(&test(0.8, cost(), measures.clone()), 1, 0, false), [], "at a rate time is no cost");
    // Of a small change CPU whose interval is as wide may account for all.
    assert_eq!(causes(&test(0.985, cost(), measures.clone()), 1, 0, true), []);
    let found = causes(&test(0.8, cost(), measures), 1, 0, true);
    assert!(matches!(found[..], [Cause::Waiting { .. }]), "of a large one it cannot: {found:?}");
    let mut unchanged = test(0.99, cost(), vec![measure("server_cpu_us", 1.4)]);
    unchanged.cells[1].comparison.as_mut().unwrap().verdict = Verdict::Equal;
    assert_eq!(causes(&unchanged, 1, 0, true), []);
}
