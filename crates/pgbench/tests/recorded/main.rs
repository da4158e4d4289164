//! What pgbench 15 sent and computed, against what this crate sends and computes from the same seed.
//!
//! `record.sh` made the text files beside this one, from the scripts beside it. They hold what a server logged, after
//! what the script showed by `debug`; statements that make tables; and expressions with what they give.

mod expressions;
mod replay;
mod tables;

use replay::{Mode, Replay};
use rqps_pgbench::Builtin;

const MIXED: &str = include_str!("mixed.sql");
const BLIND: &str = include_str!("blind.sql");

/// Compares a run of one client with its recording.
#[track_caller]
fn check(recorded: &str, mode: Mode, transactions: usize, scripts: &[(&str, u32)]) {
    // Not by `lines`, which would not see a carriage return.
    let lines: Vec<&str> = recorded.split('\n').collect();
    let first = lines.iter().take_while(|line| line.starts_with("debug(")).count();
    let (shown, sent) = lines.split_at(first);
    let shown = shown.iter().filter_map(|line| line.rsplit(' ').next()).map(str::to_owned);
    let replayed = Replay::new(scripts, shown.collect()).run(mode, transactions);
    for (number, (ours, theirs)) in (1..).zip(replayed.split('\n').zip(sent)) {
        assert_eq!(ours, *theirs, "line {number} of what was sent");
    }
    assert_eq!(replayed.split('\n').count(), sent.len());
}

fn builtin(name: &str) -> &'static str {
    Builtin::find(name).expect("there").text
}

#[test]
fn tpcb_like_sends_what_pgbench_sent() {
    let script = [(builtin("tpcb-like"), 1)];
    check(include_str!("tpcb-like-simple.txt"), Mode::Simple, 50, &script);
    check(include_str!("tpcb-like-extended.txt"), Mode::Extended, 50, &script);
    check(include_str!("tpcb-like-prepared.txt"), Mode::Prepared, 50, &script);
}

#[test]
fn simple_update_sends_what_pgbench_sent() {
    let script = [(builtin("simple-update"), 1)];
    check(include_str!("simple-update-simple.txt"), Mode::Simple, 50, &script);
    check(include_str!("simple-update-extended.txt"), Mode::Extended, 50, &script);
    check(include_str!("simple-update-prepared.txt"), Mode::Prepared, 50, &script);
}

#[test]
fn select_only_sends_what_pgbench_sent() {
    let script = [(builtin("select-only"), 1)];
    check(include_str!("select-only-simple.txt"), Mode::Simple, 50, &script);
    check(include_str!("select-only-extended.txt"), Mode::Extended, 50, &script);
    check(include_str!("select-only-prepared.txt"), Mode::Prepared, 50, &script);
}

#[test]
fn what_draws_and_decides_sends_what_pgbench_sent() {
    check(include_str!("mixed-simple.txt"), Mode::Simple, 50, &[(MIXED, 1)]);
    check(include_str!("mixed-extended.txt"), Mode::Extended, 50, &[(MIXED, 1)]);
    check(include_str!("mixed-prepared.txt"), Mode::Prepared, 50, &[(MIXED, 1)]);
}

#[test]
fn pipelines_send_what_pgbench_sent() {
    let script = [(include_str!("pipeline.sql"), 1)];
    check(include_str!("pipeline-extended.txt"), Mode::Extended, 50, &script);
    check(include_str!("pipeline-prepared.txt"), Mode::Prepared, 50, &script);
}

#[test]
fn names_are_replaced_as_blindly_as_pgbench_does() {
    check(include_str!("blind-simple.txt"), Mode::Simple, 20, &[(BLIND, 1)]);
}

#[test]
fn statements_end_where_pgbench_ends_them() {
    check(include_str!("scanned-simple.txt"), Mode::Simple, 2, &[(include_str!("scanned.sql"), 1)]);
}

#[test]
fn scripts_are_chosen_as_pgbench_chose_them() {
    let [tpcb_like, select_only, simple_update] = ["tpcb-like", "select-only", "simple-update"].map(builtin);
    let scripts = [(tpcb_like, 2), (BLIND, 0), (select_only, 5), (simple_update, 1)];
    check(include_str!("choice-simple.txt"), Mode::Simple, 50, &scripts);
    check(include_str!("choice-extended.txt"), Mode::Extended, 50, &scripts);
    check(include_str!("choice-prepared.txt"), Mode::Prepared, 50, &scripts);
}
