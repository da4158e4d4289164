//! Every warning about a cell, each from samples that call for it and from some that do not.

use super::super::client::idle_sessions;
use super::*;
use crate::compare::round::RoundRatio;
use crate::findings::{Cost, PlanDifference, PlanFindings};
use crate::read::measured::Measured;
use crate::read::measured::tests::measured;
use rqps_model::Interleave;
use rqps_model::facts::SettingsFacts;
use rqps_model::sample::{Accounting, ErrorCount, Failures, SessionPlacement, Slices};

fn trial(round: u32) -> Measured {
    let mut measured = measured(1000, 1_000_000_000, Slices::default());
    measured.sample.round = round;
    measured
}

fn blank(settings: &SettingsFacts) -> Cell<'_> {
    Cell {
        rounds: &[],
        base_rounds: &[],
        other_rounds: &[],
        left_out: &[],
        ratios: &[],
        is_closed: true,
        timeout_seconds: None,
        cost: None,
        base_cost: None,
        settings,
        plans: &[],
        answers: &[],
    }
}

fn kinds_of(rounds: &[Option<Measured>], adjust: impl FnOnce(&mut Cell<'_>)) -> Vec<(WarningKind, String)> {
    let settings = SettingsFacts { client_cpus: vec![1], server_cpus: vec![0], ..SettingsFacts::default() };
    let mut cell = Cell { rounds, ..blank(&settings) };
    adjust(&mut cell);
    observed(&cell).into_iter().map(|warning| (warning.kind, warning.cause)).collect()
}

fn one(rounds: &[Option<Measured>]) -> (WarningKind, String) {
    let mut found = kinds_of(rounds, |_| {});
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn said(kind: WarningKind, message: &str) -> (WarningKind, String) {
    (kind, message.to_owned())
}

#[test]
fn a_clean_cell_has_none() {
    assert!(kinds_of(&[Some(trial(1)), Some(trial(2))], |_| {}).is_empty());
    assert!(kinds_of(&[None, None], |_| {}).is_empty(), "a cell that is not there at all is told by the campaign");
}

#[test]
fn absent_failed_and_empty_trials_are_told() {
    assert_eq!(
        one(&[Some(trial(1)), None, Some(trial(3)), None]),
        said(WarningKind::Absent, "no sample in rounds 2, 4")
    );
    let found = kinds_of(&[Some(trial(1)), None, Some(trial(3)), None], |cell| cell.left_out = &[2]);
    assert_eq!(found, [said(WarningKind::Absent, "no sample in round 4")], "round 2 was not to measure it");
    let mut failed = trial(2);
    failed.sample.failure = Some("server died".to_owned());
    assert_eq!(one(&[Some(trial(1)), Some(failed)]), said(WarningKind::Failed, "failed in round 2 of 2: server died"));
    let mut empty = trial(1);
    empty.sample.score.count = 0;
    assert_eq!(one(&[Some(empty)]), said(WarningKind::Failed, "nothing completed in the counted time of round 1"));
}

#[test]
fn errors_and_accounts_are_told() {
    let mut trial = trial(1);
    let error = |statement: &str, code: &str, count| ErrorCount {
        statement: statement.to_owned(),
        code: code.to_owned(),
        count,
        message: String::new(),
    };
    trial.sample.errors = vec![error("update", "40001", 7), error("insert", "23505", 2)];
    assert_eq!(one(&[Some(trial.clone())]), said(WarningKind::Errors, "9 errors, 7 of them 40001 in update"));
    trial.sample.failures = Failures { serialization: 3, other: 2, ..Failures::default() };
    trial.sample.accounting.retried = 4;
    let message = "9 errors, 7 of them 40001 in update; events given up: 3 serialization, 2 other; 4 attempts repeated";
    assert_eq!(one(&[Some(trial.clone())]), said(WarningKind::Errors, message));
    trial.sample.failures = Failures::default();
    // What took longer than it may is told apart, where there is such a limit.
    trial.sample.errors = vec![error("orders", "57014", 6)];
    assert_eq!(one(&[Some(trial.clone())]).0, WarningKind::Errors);
    let limited = |trial: &Measured| kinds_of(&[Some(trial.clone())], |cell| cell.timeout_seconds = Some(30.0));
    let message = "orders was slower than 30 s, and cancelled, 6 times";
    assert_eq!(limited(&trial), [said(WarningKind::TimedOut, message)]);
    trial.sample.errors.extend([error("items", "3024 (HY000)", 1), error("items", "23505", 1)]);
    let both = limited(&trial);
    let message = "statements were slower than 30 s, and cancelled, 7 times, 6 of them in orders";
    assert_eq!(both[0], said(WarningKind::TimedOut, message));
    assert_eq!(both[1], said(WarningKind::Errors, "1 error, 1 of them 23505 in items"));
    trial.sample.errors.clear();
    trial.sample.accounting = Accounting { scheduled: 10, succeeded: 9, ..Accounting::default() };
    assert_eq!(one(&[Some(trial.clone())]).0, WarningKind::Accounting);
    trial.sample.accounting = Accounting { scheduled: 10, succeeded: 9, skipped: 1, ..Accounting::default() };
    assert_eq!(
        kinds_of(&[Some(trial)], |cell| cell.is_closed = false),
        [said(WarningKind::Skipped, "10 % of the planned events were never sent")]
    );
}

#[test]
fn a_few_events_at_the_end_of_a_turn_are_no_news() {
    let check = |skipped: u64, expected: &[&str]| {
        let mut trial = trial(1);
        let succeeded = 10_000 - skipped;
        trial.sample.accounting = Accounting { scheduled: 10_000, succeeded, skipped, ..Accounting::default() };
        let found = kinds_of(&[Some(trial)], |cell| cell.is_closed = false);
        assert_eq!(found.iter().map(|warning| warning.1.as_str()).collect::<Vec<_>>(), expected);
    };
    check(20, &[]);
    check(99, &[]);
    check(100, &["1.0 % of the planned events were never sent"]);
}

#[test]
fn sessions_that_wait_for_one_another_are_told_in_a_closed_loop() {
    let with = |busy_share: f64| {
        let mut trial = trial(1);
        (trial.sample.clients, trial.sample.seconds) = (4, 10.0);
        trial.sample.busy_ns = (busy_share * 40e9) as u64;
        trial
    };
    let words = "sessions were busy 83 % of the time: at the ends of slices they wait for one another, which \
                 throughput leaves out";
    assert_eq!(one(&[Some(with(0.8)), Some(with(0.86))]), said(WarningKind::IdleSessions, words));
    assert!(kinds_of(&[Some(with(0.91))], |_| {}).is_empty());
    let mut alone = with(0.8);
    (alone.sample.clients, alone.sample.busy_ns) = (1, 8_000_000_000);
    assert!(kinds_of(&[Some(alone)], |_| {}).is_empty(), "one session waits for nobody");
    assert!(kinds_of(&[Some(with(0.5))], |cell| cell.is_closed = false).is_empty(), "a rate leaves sessions idle");
    let mut turns = with(0.8);
    turns.sample.interleave = Some(Interleave::Turns);
    let remedy = |trial: Measured| {
        let settings = SettingsFacts::default();
        let rounds = [Some(trial)];
        let mut found = Vec::new();
        idle_sessions(&Cell { rounds: &rounds, ..blank(&settings) }, &mut found);
        found.remove(0).advice.unwrap()
    };
    assert_eq!(remedy(with(0.8)), "take longer slices (`--slice`), fewer clients than CPUs, or a quieter machine");
    assert_eq!(remedy(turns), "take fewer clients than CPUs, or a quieter machine");
}

#[test]
fn a_client_that_is_the_limit_is_told() {
    let check = |client_s: f64, server_s: f64, cpus: u32, expected: Option<&str>| {
        let mut trial = trial(1);
        let used = &mut trial.sample.resources;
        used.host.seconds = 10.0;
        used.host.cpus = cpus;
        used.client.cpu_user_s = client_s;
        used.server.cpu_user_s = server_s;
        let found = kinds_of(&[Some(trial)], |_| {});
        assert_eq!(found.first().map(|warning| warning.1.as_str()), expected);
        assert!(found.iter().all(|warning| warning.0 == WarningKind::ClientBound));
    };
    check(3.0, 7.0, 2, None);
    check(8.0, 4.0, 8, Some("the client used 2.0 times the server's CPU time"));
    check(12.0, 13.0, 2, Some("the client used 60 % of the machine"));
    check(9.5, 40.0, 8, Some("the client's own CPUs were busy 95 % of the time"));
    check(0.0, 0.0, 2, None);
}

#[test]
fn stolen_and_idle_time_are_told() {
    let cost = |steal_share, idle_share| Cost { steal_share, idle_share, ..Cost::default() };
    let check = |own: Cost, base: Cost, expected: &[WarningKind]| {
        let found = kinds_of(&[Some(trial(1))], |cell| {
            // The costs outlive the cell: tests may leak them.
            cell.cost = Some(Box::leak(Box::new(own)));
            cell.base_cost = Some(Box::leak(Box::new(base)));
        });
        assert_eq!(found.iter().map(|warning| warning.0).collect::<Vec<_>>(), expected);
    };
    check(cost(0.01, 0.3), cost(0.01, 0.35), &[]);
    check(cost(0.08, 0.3), cost(0.08, 0.3), &[WarningKind::Steal]);
    check(cost(0.035, 0.3), cost(0.01, 0.3), &[WarningKind::Steal]);
    check(cost(0.0, 0.6), cost(0.0, 0.2), &[WarningKind::Idle]);
}

#[test]
fn samples_at_two_speeds_are_reported_with_their_cause() {
    let with = |round: u32, slow: u64, placed: Option<SessionPlacement>| {
        let mut trial = trial(round);
        let operations: Vec<u64> = (0..100).map(|cycle| if cycle < slow { 25 } else { 100 }).collect();
        trial.slices = Slices { busy_ns: vec![10_000_000; operations.len()], operations, burned_ns: Vec::new() };
        (trial.sample.clients, trial.sample.placement) = (2, placed);
        // Sessions waited for nothing.
        trial.sample.seconds = 0.5;
        Some(trial)
    };
    let told_beside = |rounds: &[Option<Measured>], other_rounds: &[Option<Measured>]| {
        let settings = SettingsFacts { client_cpus: vec![0, 1], server_cpus: vec![0, 1], ..SettingsFacts::default() };
        let found = observed(&Cell { rounds, other_rounds, ..blank(&settings) });
        let found: Vec<_> = found.into_iter().map(|warning| (warning.kind, warning.cause, warning.advice)).collect();
        let [(WarningKind::TwoSpeeds, cause, advice)] = &found[..] else { panic!("{found:?}") };
        (cause.clone(), advice.clone())
    };
    let told = |rounds: &[Option<Measured>]| told_beside(rounds, &[]);
    let one_of = |placed: fn() -> Option<SessionPlacement>| {
        let (cause, advice) = told(&[with(1, 20, placed()), with(2, 2, placed()), with(3, 20, placed())]);
        assert_eq!(
            cause,
            "ran at two speeds in rounds 1, 3; in the worst, 20 % of the time at 25 % of the speed of the rest"
        );
        advice
    };
    let (cause, _) = told(&[with(1, 20, None), with(2, 2, None)]);
    assert_eq!(cause, "ran at two speeds in round 1: 20 % of the time at 25 % of the speed of the rest");
    let moved = one_of(|| None).expect("advice");
    assert!(moved.contains("placement same"), "{moved}");
    assert_ne!(one_of(|| Some(SessionPlacement::default())), Some(moved), "they could not move");
    let refused =
        || Some(SessionPlacement { refused: Some("not permitted".to_owned()), ..SessionPlacement::default() });
    let advice = one_of(refused).expect("advice");
    assert!(advice.ends_with("not permitted") && !advice.contains("same"), "what was tried is no advice: {advice}");
    // What is compared with it may have been slow in the same slices, or in others.
    let slow = [with(1, 20, None), with(2, 2, None), with(3, 20, None)];
    let (cause, advice) = told_beside(&slow, &slow);
    let other = "; what it is compared with was slow at the same time (their slices correlate by 1.00)";
    assert!(cause.ends_with(other), "{cause}");
    assert!(advice.expect("advice").starts_with("it was the machine and not the build"));
    let mut at_the_end = slow.clone();
    at_the_end.iter_mut().flatten().for_each(|trial| trial.slices.operations.reverse());
    assert_eq!(told_beside(&slow, &at_the_end), told(&slow));
}

#[test]
fn lost_cycles_are_told_from_one_in_twenty() {
    let ratio = |cycles, cycles_lost| RoundRatio { round: 1, log_ratio: 0.0, cycle_se: None, cycles, cycles_lost };
    for (ratios, expected) in [([ratio(95, 5), ratio(100, 0)], 0), ([ratio(95, 5), ratio(80, 20)], 1)] {
        let leaked: &[RoundRatio] = Box::leak(Box::new(ratios));
        let found = kinds_of(&[Some(trial(1))], |cell| cell.ratios = leaked);
        assert_eq!(found.len(), expected, "{found:?}");
    }
}

#[test]
fn another_plan_is_told_with_its_node() {
    let (name, other) = ("Index Scan using sbtest#_pkey on sbtest#", "Index Only Scan using sbtest#_pkey on sbtest#");
    let difference = PlanDifference { node: 2, peer: name.to_owned(), own: other.to_owned() };
    let own = PlanFindings { statement: "count".to_owned(), differs: true, ..PlanFindings::default() };
    let own: &[PlanFindings] = Box::leak(Box::new([PlanFindings { difference: Some(difference), ..own }]));
    let found = kinds_of(&[Some(trial(1))], |cell| cell.plans = own);
    let words = "another plan for count: Index Only Scan using sbtest#_pkey on sbtest# instead of Index Scan using \
                 sbtest#_pkey on sbtest#";
    assert_eq!(found, [said(WarningKind::PlanChanged, words)]);
}

#[test]
fn notes_of_trials_are_told_once() {
    let mut rounds = [Some(trial(1)), Some(trial(2))];
    rounds.iter_mut().flatten().for_each(|m| m.sample.warnings.push("the clock was slow".to_owned()));
    assert_eq!(one(&rounds), said(WarningKind::Trial, "the clock was slow (rounds 1, 2)"));
}
