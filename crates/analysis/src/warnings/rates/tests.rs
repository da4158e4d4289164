//! Every warning about a step, each from samples that call for it and from some that do not.

use crate::evidence::timeline::tests::{Kind, ran, record};
use crate::findings::Warning;
use crate::read::measured::Measured;
use crate::warnings::cell::Cell;
use crate::warnings::observed::observed;
use rqps_model::WarningKind;
use rqps_model::facts::SettingsFacts;
use rqps_model::insert::{Sla, Stall, StepRecord};

fn round(number: u32, change: impl FnOnce(&mut StepRecord)) -> Option<Measured> {
    let mut measured = ran(Kind::Queries, 30);
    measured.sample.round = number;
    change(record(&mut measured.sample));
    Some(measured)
}

fn warnings(rounds: &[Option<Measured>], base_rounds: &[Option<Measured>]) -> Vec<Warning> {
    let settings = SettingsFacts::default();
    observed(&Cell {
        rounds,
        base_rounds,
        other_rounds: base_rounds,
        left_out: &[],
        ratios: &[],
        is_closed: true,
        timeout_seconds: None,
        cost: None,
        base_cost: None,
        settings: &settings,
        plans: &[],
        answers: &[],
    })
}

fn check(rounds: &[Option<Measured>], base_rounds: &[Option<Measured>], expected: &[(WarningKind, &str)]) {
    let found = warnings(rounds, base_rounds);
    let told: Vec<(WarningKind, &str)> = found.iter().map(|w| (w.kind, w.cause.as_str())).collect();
    assert_eq!(told, expected);
}

#[test]
fn a_step_that_went_well_has_none() {
    let rounds = [round(1, |_| {}), round(2, |_| {})];
    check(&rounds, &rounds, &[]);
}

#[test]
fn a_rate_that_was_missed_is_told_with_its_worst_round() {
    let sla = |reached| {
        move |record: &mut StepRecord| record.sla = Some(Sla { target_per_s: 1000.0, reached_per_s: reached })
    };
    let words = "the background writers inserted 412 of 1000 rows/s (41 % of the rate) in rounds 1, 3: the queries \
                 ran alongside fewer writes than planned";
    check(&[round(1, sla(500.0)), round(2, sla(990.0)), round(3, sla(412.4))], &[], &[(WarningKind::SlaMissed, words)]);
}

#[test]
fn stalls_are_counted_and_the_longest_is_dated() {
    let stalled = |number: u32, stalls: &[(u32, u32)]| {
        let mut measured = round(number, |_| {})?;
        measured.stalls = stalls.iter().map(|&(from_second, seconds)| Stall { from_second, seconds }).collect();
        Some(measured)
    };
    let one = "almost no rows were inserted for 3 s, from second 12 of round 1";
    check(&[stalled(1, &[(12, 3)]), round(2, |_| {})], &[], &[(WarningKind::WriteStalls, one)]);
    let many =
        "almost no rows were inserted for 8 s in 3 stalls in rounds 1, 2, the longest 3 s from second 12 of round 1";
    check(&[stalled(1, &[(2, 2), (12, 3)]), stalled(2, &[(7, 3)])], &[], &[(WarningKind::WriteStalls, many)]);
}

#[test]
fn a_disk_that_flushes_while_writes_stall_is_named() {
    let stalled = |flush_s: f64| {
        let mut measured = round(1, |_| {})?;
        measured.stalls = vec![Stall { from_second: 12, seconds: 6 }];
        measured.sample.resources.host.disk_flush_wait_s = flush_s;
        Some(measured)
    };
    let stall = "almost no rows were inserted for 6 s, from second 12 of round 1";
    check(&[stalled(2.9)], &[], &[(WarningKind::WriteStalls, stall)]);
    let named = format!("{stall}; flushes of the data device took 7.3 s there");
    check(&[stalled(7.3)], &[], &[(WarningKind::WriteStalls, &named)]);
    // What was flushed in a round without a stall explains none.
    let mut calm = stalled(0.0);
    calm.as_mut().unwrap().stalls.clear();
    calm.as_mut().unwrap().sample.resources.host.disk_flush_wait_s = 30.0;
    check(&[stalled(0.1), calm], &[], &[(WarningKind::WriteStalls, stall)]);
}

#[test]
fn what_was_deferred_and_what_was_too_short_is_told() {
    let rounds = [round(1, |record| record.deferred_seconds = 12.04), round(2, |_| {})];
    let words = "writers fell so far behind their plan that up to 12 s of it were deferred in round 1";
    check(&rounds, &[], &[(WarningKind::Deferred, words)]);
    let rounds = [round(1, |record| record.seconds = 3.24), round(2, |_| {})];
    check(&rounds, &[], &[(WarningKind::Short, "the step took 3.2 s: too short a time to trust its rate")]);
}

#[test]
fn unequal_work_is_told_unless_a_rate_was_missed() {
    let written = |rows| move |record: &mut StepRecord| record.inserts.rows = rows;
    let base = [round(1, written(1000)), round(2, written(1000)), round(3, written(1000))];
    let words = "960 rows were inserted and 1000 deleted, on the base 1000 and 1000, in rounds 2, 3";
    let own = [round(1, written(1000)), round(2, written(960)), round(3, written(960))];
    check(&own, &base, &[(WarningKind::UnequalWork, words)]);
    let behind = round(1, |record| {
        record.inserts.rows = 412;
        record.sla = Some(Sla { target_per_s: 1000.0, reached_per_s: 412.0 });
    });
    assert!(warnings(&[behind], &base).iter().all(|warning| warning.kind == WarningKind::SlaMissed));
}

#[test]
fn a_client_thread_that_is_always_busy_is_told() {
    let busy =
        |cpu_s: u64| move |record: &mut StepRecord| (record.threads, record.client_cpu_ns) = (2, cpu_s * 1_000_000_000);
    check(&[round(1, busy(53))], &[], &[]);
    check(&[round(1, busy(57))], &[], &[(WarningKind::ClientBound, "the client's threads were busy 95 % of the time")]);
}

#[test]
fn a_failed_step_is_told_with_its_reason() {
    let mut failed = round(1, |record| record.failure = Some("the server ended".to_owned()));
    failed.as_mut().unwrap().sample.failure = Some("the server ended: signal 9".to_owned());
    check(
        &[failed, round(2, |_| {})],
        &[],
        &[(WarningKind::Failed, "failed in round 1 of 2: the server ended: signal 9")],
    );
}

#[test]
fn a_timer_that_ran_out_on_one_side_alone_is_told() {
    let vacuumed = |number: u32, count: f64| {
        let mut measured = round(number, |_| {})?;
        measured.sample.counters.insert("pg_stat_user_tables.autovacuum_count".to_owned(), count);
        Some(measured)
    };
    let side = |counts: [f64; 3]| [vacuumed(1, counts[0]), vacuumed(2, counts[1]), vacuumed(3, counts[2])];
    let one = "a table was vacuumed in this step in rounds 1, 3, on the base in no round";
    check(&side([1.0, 0.0, 1.0]), &side([0.0; 3]), &[(WarningKind::Maintenance, one)]);
    let other = "a table was vacuumed in this step in round 2, on the base in rounds 1, 2, 3";
    check(&side([0.0, 1.0, 0.0]), &side([1.0; 3]), &[(WarningKind::Maintenance, other)]);
    // One of three may be chance, and whoever takes longer is vacuumed more often.
    for (own, base) in [([1.0, 0.0, 0.0], [0.0; 3]), ([3.0, 4.0, 3.0], [1.0, 1.0, 1.0]), ([1.0; 3], [1.0; 3])] {
        check(&side(own), &side(base), &[]);
    }
}
