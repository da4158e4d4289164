//! pgbench's scripts through the timed loop: with one client and the same seed a server logs the statements and values
//! that it logged of pgbench 15 (`crates/pgbench/tests/recorded`).

use crate::{RUNNING, schedule};
use rqps_load::data_set::load;
use rqps_load::drive::{ClientCpus, Exercise, run_events};
use rqps_load::program::own::ScriptWorkload;
use rqps_model::own::{Answers, AnswersCheck, Own, OwnData, OwnTest, Protocol, ScriptText, Scripts, Work};
use rqps_model::plan::{Arrival, DataSet};
use rqps_pgbench::Builtin;
use rqps_testkit::{LiveServer, Wanted};
use std::collections::BTreeMap;

/// The seed of the recordings.
const SEED: u64 = 42;

/// So many transactions were recorded.
const EVENTS: u32 = 50;

fn own(name: &str, text: &str, protocol: Protocol) -> Own {
    let script = ScriptText { name: name.to_owned(), weight: 1, text: text.to_owned() };
    let test = OwnTest {
        name: name.to_owned(),
        work: Work::Pgbench(Scripts { scripts: vec![script], scale: 1, define: BTreeMap::new() }),
        writes: true,
        protocol,
        timeout_seconds: 30.0,
        isolation: None,
        calls: None,
    };
    Own {
        name: name.to_owned(),
        data: OwnData { pgbench_scale: Some(1), ..OwnData::default() },
        values: BTreeMap::new(),
        tests: vec![test],
        answers: AnswersCheck { compare: Answers::Off, parameters: 1, tolerance: 0.0, may_differ: false },
    }
}

/// Statements with their values, of lines of a log: without what names them or their session.
fn statements(log: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in log.lines() {
        let statement = line.split_once("statement: ").map(|(_, sql)| sql);
        let executed = line.split_once("execute ").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, sql)| sql);
        let values = line.split_once("arameters: ").map(|(_, values)| values);
        match (statement.or(executed), values) {
            (Some(sql), _) => found.push(sql.trim().to_owned()),
            (None, Some(values)) => {
                if let Some(last) = found.last_mut() {
                    last.push_str(&format!(" [{values}]"));
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// Runs a script and compares what the server logged with a recording.
fn compare(server: &LiveServer, name: &str, text: &str, protocol: Protocol, recorded: &str) {
    let own = own(name, text, protocol);
    let targets = [server.target()];
    let Work::Pgbench(scripts) = &own.tests[0].work else { unreachable!("it was made so") };
    let workload = ScriptWorkload::compile(&own, &own.tests[0], scripts, &targets, SEED).unwrap();
    let arms = [server.endpoint()];
    let exercise = Exercise {
        arms: &arms,
        clients: 1,
        threads: 1,
        cpus: ClientCpus::default(),
        schedule: schedule(0.1),
        arrival: Arrival::Closed,
        seed: 11,
        planted: &[],
    };
    let before = server.log().len();
    let ran = run_events(&exercise, &workload, EVENTS, &RUNNING).unwrap();
    assert_eq!((ran[0].failure.as_deref(), ran[0].accounting.succeeded), (None, u64::from(EVENTS)));
    let log = server.log();
    // What every session is told is not the script's.
    let is_ours = |sql: &String| !sql.starts_with("SET statement_timeout");
    let ours: Vec<String> = statements(&log[before..]).into_iter().filter(is_ours).collect();
    let theirs = statements(recorded);
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert_eq!(first.map(|at| (&ours[at], &theirs[at])), None, "{name} {protocol}");
    assert_eq!(ours.len(), theirs.len(), "{name} {protocol}: {:?}", ours.last());
}

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../pgbench/tests/recorded/", $name))
    };
}

#[test]
fn the_servers_log_is_that_of_pgbench() {
    let server = LiveServer::start(&Wanted::postgres().with("log_statement=all"));
    let own = own("tpcb-like", "SELECT 1;", Protocol::Prepared);
    load(&server.target(), &DataSet::Own(Box::new(own.data)), 1, 1, &|_| ()).unwrap();
    let builtin = |name: &str| Builtin::find(name).unwrap().text;
    for (name, prepared, simple) in [
        ("tpcb-like", recorded!("tpcb-like-prepared.txt"), recorded!("tpcb-like-simple.txt")),
        ("simple-update", recorded!("simple-update-prepared.txt"), recorded!("simple-update-simple.txt")),
        ("select-only", recorded!("select-only-prepared.txt"), recorded!("select-only-simple.txt")),
    ] {
        compare(&server, name, builtin(name), Protocol::Prepared, prepared);
        compare(&server, name, builtin(name), Protocol::Simple, simple);
    }
}
