//! pgbench's scripts through the timed loop: with one client and the same seed a server logs the statements and values
//! that it logged of pgbench 15 (`crates/pgbench/tests/recorded`).

mod asides;
mod failures;
mod plans;

use crate::{RUNNING, schedule};
use rqps_load::data_set::load;
use rqps_load::drive::{ArmRun, Exercise, run_events};
use rqps_load::program::own::ScriptWorkload;
use rqps_model::own::{AnswersCheck, Own, OwnData, OwnTest, Protocol, ScriptText, Scripts, Work};
use rqps_model::plan::DataSet;
use rqps_pgbench::Builtin;
use rqps_testkit::{LiveServer, Wanted};
use std::collections::BTreeMap;

/// The seed of the recordings.
const SEED: u64 = 42;

/// So many transactions were recorded of most.
const EVENTS: u32 = 50;

/// A test of scripts with their weights.
fn own(scripts: &[(&str, u32, &str)], protocol: Protocol) -> Own {
    let script = |(name, weight, text): &(&str, u32, &str)| ScriptText {
        name: (*name).to_owned(),
        weight: *weight,
        text: (*text).to_owned(),
    };
    let scripts = Scripts {
        scripts: scripts.iter().map(script).collect(),
        scale: 1,
        define: BTreeMap::new(),
        pauses: false,
        allow_shell: true,
    };
    let test = OwnTest { writes: true, ..OwnTest::new("scripts", Work::Pgbench(scripts), protocol) };
    Own {
        name: "scripts".to_owned(),
        data: OwnData { pgbench_scale: Some(1), ..OwnData::default() },
        values: BTreeMap::new(),
        tests: vec![test],
        answers: AnswersCheck::OFF,
    }
}

fn compile(own: &Own, server: &LiveServer, clients: u32) -> ScriptWorkload {
    let Work::Pgbench(scripts) = &own.tests[0].work else { unreachable!("it was made so") };
    ScriptWorkload::compile(own, &own.tests[0], scripts, &[server.target()], (SEED, clients)).unwrap()
}

/// Runs so many events for each client.
fn play(server: &LiveServer, own: &Own, clients: u32, events: u32) -> ArmRun {
    let arms = [server.endpoint()];
    let exercise = Exercise::new(&arms, clients, schedule(0.1), 11);
    run_events(&exercise, &compile(own, server, clients), events, &RUNNING).unwrap().remove(0)
}

/// Statements with their values, of lines of a log: without what names them or their session.
fn statements(log: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_ours = false;
    for line in log.lines() {
        if let (true, Some(last), true) = (is_ours, found.last_mut(), line.starts_with('\t')) {
            last.push_str(&format!("\n{line}"));
            continue;
        }
        let statement = line.split_once("LOG:  statement: ").map(|(_, sql)| sql);
        let executed =
            line.split_once("LOG:  execute ").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, sql)| sql);
        let values = line.split_once("DETAIL:  ").and_then(|(_, rest)| rest.split_once("arameters: "));
        is_ours = true;
        match (statement.or(executed), values, found.last_mut()) {
            (Some(sql), ..) => found.push(sql.to_owned()),
            (None, Some((_, values)), Some(last)) => last.push_str(&format!(" [{values}]")),
            _ => is_ours = false,
        }
    }
    found
}

/// Runs scripts and compares what the server logged with a recording.
fn compare(server: &LiveServer, scripts: &[(&str, u32, &str)], protocol: Protocol, events: u32, recorded: &str) {
    let own = own(scripts, protocol);
    let before = server.log().len();
    let ran = play(server, &own, 1, events);
    let name = scripts[0].0;
    assert_eq!((ran.failure.as_deref(), &ran.errors[..]), (None, &[][..]), "{name} {protocol}");
    assert_eq!(ran.accounting.succeeded, u64::from(events), "{name} {protocol}");
    let log = server.log();
    // What every session is told is not the script's.
    let is_ours = |sql: &String| !sql.starts_with("SET statement_timeout");
    let ours: Vec<String> = statements(&log[before..]).into_iter().filter(is_ours).collect();
    let theirs = statements(recorded);
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert_eq!(first.map(|at| (&ours[at], &theirs[at])), None, "{name} {protocol}");
    assert_eq!(ours.len(), theirs.len(), "{name} {protocol}: {:?}", ours.last());
    // Every statement was counted, however it was sent.
    assert_eq!(ran.operations, ours.len() as u64, "{name} {protocol}");
}

/// A server that logs all statements, with pgbench's tables.
fn server() -> LiveServer {
    let server = LiveServer::start(&Wanted::postgres().with("log_statement=all"));
    let data = own(&[], Protocol::Simple).data;
    load(&server.target(), &DataSet::Own(Box::new(data)), 1, 1, &|_| unreachable!("there is no archive"), &|_| ())
        .unwrap();
    server
}

macro_rules! recorded {
    ($($name:literal),+) => {
        include_str!(concat!("../../../pgbench/tests/recorded/", $($name),+))
    };
}

/// The recordings of a name: simple, extended, prepared.
macro_rules! in_all_modes {
    ($name:literal) => {
        [
            (Protocol::Simple, recorded!($name, "-simple.txt")),
            (Protocol::Extended, recorded!($name, "-extended.txt")),
            (Protocol::Prepared, recorded!($name, "-prepared.txt")),
        ]
    };
}

#[test]
fn the_servers_log_is_that_of_pgbench() {
    let server = server();
    let builtin = |name: &str| Builtin::find(name).unwrap().text;
    let [tpcb_like, simple_update, select_only] = ["tpcb-like", "simple-update", "select-only"];
    let blind = recorded!("blind.sql");
    let chosen = [
        (tpcb_like, 2, builtin(tpcb_like)),
        ("blind", 0, blind),
        (select_only, 5, builtin(select_only)),
        (simple_update, 1, builtin(simple_update)),
    ];
    let single = |name| vec![(name, 1, builtin(name))];
    let all = [
        (single(tpcb_like), in_all_modes!("tpcb-like")),
        (single(simple_update), in_all_modes!("simple-update")),
        (single(select_only), in_all_modes!("select-only")),
        (vec![("mixed", 1, recorded!("mixed.sql"))], in_all_modes!("mixed")),
        (chosen.to_vec(), in_all_modes!("choice")),
    ];
    for (scripts, modes) in &all {
        for (protocol, recorded) in modes {
            compare(&server, scripts, *protocol, EVENTS, recorded);
        }
    }
    compare(&server, &[("blind", 1, blind)], Protocol::Simple, 20, recorded!("blind-simple.txt"));
    compare(&server, &[("scanned", 1, recorded!("scanned.sql"))], Protocol::Simple, 2, recorded!("scanned-simple.txt"));
    let pipeline = [("pipeline", 1, recorded!("pipeline.sql"))];
    compare(&server, &pipeline, Protocol::Extended, EVENTS, recorded!("pipeline-extended.txt"));
    compare(&server, &pipeline, Protocol::Prepared, EVENTS, recorded!("pipeline-prepared.txt"));
}
